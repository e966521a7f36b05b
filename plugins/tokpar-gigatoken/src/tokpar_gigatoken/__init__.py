"""gigatoken for tokpar: BPE of a ``tokenizer.json`` or a ``.tiktoken`` file."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tokpar.plugin import (
    KNOWN_ENCODINGS,
    Calls,
    Engine,
    IdArray,
    JsonFile,
    OptionError,
    RankFile,
    Rows,
    TokenizerSource,
    engine_source,
    hookimpl,
    unhonoured,
)

LONG = 5 << 19
"""From so many UTF-8 bytes on the batch call is not the slower one. Below, where it divides
nothing, it takes up to a fifth longer (release 0.10.0: 0.25 to 2 MB of English, Python, JSON)."""
WINDOW = 1 << 14
"""Code points in the middle of a text that tell what it is like."""
SCANNERS = {
    KNOWN_ENCODINGS[encoding].pattern: scanner
    for encoding, scanner in (
        ("r50k_base", "gpt2"),
        ("cl100k_base", "gpt4"),
        ("o200k_base", "o200k"),
    )
}
"""What gigatoken calls its scanners, by the pattern that each stands for."""


def encode(tokenizer: Any, text: str) -> IdArray:
    """The array that the engine gives; of a long text the buffer below its batch's only row."""
    if is_divided(text):
        return encode_many(tokenizer, [text])[0]
    ids: IdArray = tokenizer.encode(text)
    return ids


def is_divided(text: str) -> bool:
    """Whether the batch call, as far as the middle of the text tells, divides it: release 0.10.0
    does that before spaces only. The ids do not depend on it, the time does."""
    if len(text) * 4 < LONG:
        return False
    middle = len(text) // 2
    window = text[middle : middle + WINDOW]
    bytes_each = len(window.encode("utf-8", "surrogatepass")) / len(window)
    return len(text) * bytes_each >= LONG and " " in window


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The buffers below the engine's awkward array."""
    if not texts:
        return Rows.of([])
    layout = tokenizer.encode_batch(texts).layout
    return Rows(np.asarray(layout.content.data), np.asarray(layout.offsets).astype(np.int64))


def of_json(gigatoken: Any, file: JsonFile) -> Calls:
    for token in file.added:
        if token.single_word:
            does = "finds it inside words, too"
            raise unhonoured(GIGATOKEN, file, token.content, "single_word", does)
        if token.normalized and file.facts.normalizers:
            does = "does not look for it in the normalized text as tokenizers does"
            raise unhonoured(GIGATOKEN, file, token.content, "normalized", does)
    return calls(gigatoken.Tokenizer.from_json(file.plain))


def of_ranks(gigatoken: Any, file: RankFile) -> Calls:
    scanner = SCANNERS.get(file.pattern)
    if scanner is None:
        raise OptionError(
            f"{file.path}: gigatoken has scanners for the patterns of r50k_base, cl100k_base and "
            f"o200k_base, none for {file.pattern!r}; leave out engine='gigatoken'"
        )
    return calls(
        gigatoken.Tokenizer.from_tiktoken(
            str(file.path), pretokenizer=scanner, special_tokens=dict(file.special)
        )
    )


def calls(tokenizer: Any) -> Calls:
    return Calls(partial(encode, tokenizer), partial(encode_many, tokenizer))


GIGATOKEN = Engine("gigatoken", "0.10.0", of_json, of_ranks)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [engine_source(GIGATOKEN)]
