"""gigatoken for tokpar: BPE of a ``tokenizer.json`` or a ``.tiktoken`` file."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tokpar import OptionError, Rows
from tokpar.plugin.tokenizer import KNOWN_ENCODINGS, IdArray, TokenizerSource, hookimpl
from tokpar_engines import Calls, Engine, JsonFile, RankFile, engine_source, unhonoured

LONG = 5 << 19
"""From so many UTF-8 bytes on, the batch call is not slower than the single call. It takes up to a
fifth longer for shorter texts, which it does not divide (release 0.10.0: 0.25 to 2 MB of English,
Python, JSON)."""
WINDOW = 1 << 14
"""Code points in the middle of a text that are looked at as a sample."""
SCANNERS = {
    KNOWN_ENCODINGS[encoding].pattern: scanner
    for encoding, scanner in (
        ("r50k_base", "gpt2"),
        ("cl100k_base", "gpt4"),
        ("o200k_base", "o200k"),
    )
}
"""Each known pattern, with the name of gigatoken's scanner for it."""


def encode(tokenizer: Any, text: str) -> IdArray:
    """The ids of a text, as the array of the engine. A long text goes through the engine's batch
    call."""
    if is_divided(text):
        return encode_many(tokenizer, [text])[0]
    ids: IdArray = tokenizer.encode(text)
    return ids


def is_divided(text: str) -> bool:
    """True if the batch call should be used: the text is long, and the batch call can divide it.

    Release 0.10.0 divides before spaces only, so the middle of the text is searched for a space.
    The ids do not depend on the answer, only the time does."""
    if len(text) * 4 < LONG:
        return False
    middle = len(text) // 2
    window = text[middle : middle + WINDOW]
    bytes_each = len(window.encode("utf-8", "surrogatepass")) / len(window)
    return len(text) * bytes_each >= LONG and " " in window


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The rows of the engine's awkward array, without a copy of the ids."""
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
