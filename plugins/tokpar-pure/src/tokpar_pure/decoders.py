"""Decoders of a ``tokenizer.json``: tokens -> text, each exact to Hugging Face's `tokenizers` 0.23.

A decoder is a list of steps. Each step gets a list of tokens, spelled as in the vocabulary, and
returns a list of as many or fewer strings, closer to plain text. The decoder joins the strings of
the last step.

>>> read_decoder({"type": "WordPiece", "prefix": "##", "cleanup": True})(["un", "##do", "!"])
'undo!'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from tokpar.decoding.token_changes import bytes_of, clean_up, read_strip
from tokpar.files.json_parts import Json, character, choice, flag, string
from tokpar_pure.parts import interpret_stages, pattern_of
from tokpar_pure.patterns import replace_matches
from tokpar_pure.pretokenize import SCHEMES

Tokens = Sequence[str]
Step = Callable[[Tokens], list[str]]
Decoder = Callable[[Tokens], str]

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


def read_decoder(config: Json | None) -> Decoder:
    """Returns the decoder for the "decoder" of a ``tokenizer.json``. For None it joins tokens with
    spaces. Raises FileFormatError that names a part that is not supported."""
    if config is None:
        return " ".join
    steps = interpret_stages(config, "decoder", "decoders", _READERS)

    def decode(tokens: Tokens) -> str:
        for step in steps:
            tokens = step(tokens)
        return "".join(tokens)

    return decode


def _each(change: Callable[[str], str]) -> Step:
    return lambda tokens: [change(token) for token in tokens]


def _byte_level(stage: Json, where: str) -> Step:
    return lambda tokens: [b"".join(map(bytes_of, tokens)).decode("utf-8", "replace")]


def _word_piece(stage: Json, where: str) -> Step:
    prefix = string(stage, "prefix", where, default="##")
    cleanup = flag(stage, "cleanup", where, default=True)

    def step(tokens: Tokens) -> list[str]:
        parts = [t.removeprefix(prefix) if t.startswith(prefix) else f" {t}" for t in tokens[1:]]
        parts = [*tokens[:1], *parts]
        return [*map(clean_up, parts)] if cleanup else parts

    return step


def _metaspace(stage: Json, where: str) -> Step:
    mark = character(stage, "replacement", where)
    drops = choice(stage, "prepend_scheme", SCHEMES, where, default="always") != "never"

    return lambda tokens: [
        token.replace(mark, "" if drops and i == 0 else " ") for i, token in enumerate(tokens)
    ]


def _byte_fallback(stage: Json, where: str) -> Step:
    """Returns a step that decodes each run of tokens like "<0xE4>" as UTF-8. A run that is not
    valid UTF-8 becomes one "\\ufffd" for each of its bytes."""

    def step(tokens: Tokens) -> list[str]:
        parts: list[str] = []
        for are_bytes, run in groupby(tokens, key=lambda token: bool(_BYTE.fullmatch(token))):
            if not are_bytes:
                parts += run
                continue
            data = bytes(int(token[3:-1], 16) for token in run)
            try:
                parts.append(data.decode("utf-8"))
            except UnicodeDecodeError:
                parts += ["\ufffd"] * len(data)
        return parts

    return step


def read_replace(stage: Json, where: str) -> Callable[[str], str]:
    """Returns a function that does to a token what the decoder Replace does."""
    pattern = pattern_of(stage, where)
    content = string(stage, "content", where)
    if isinstance(pattern, str):
        return lambda token: token.replace(pattern, content)
    return lambda token: replace_matches(pattern, content, token)


def replace_by_regex(regex: str, content: str) -> Callable[[str], str]:
    """Returns a function that replaces each match of `regex` in a token, as the decoder Replace
    does."""
    return read_replace({"pattern": {"Regex": regex}, "content": content}, "decoder Replace")


def _bpe(stage: Json, where: str) -> Step:
    suffix = string(stage, "suffix", where, default="</w>")

    def step(tokens: Tokens) -> list[str]:
        spaced = [token.replace(suffix, " ") for token in tokens[:-1]]
        return spaced + [token.replace(suffix, "") for token in tokens[-1:]]

    return step


_READERS: dict[str, Callable[[Json, str], Step]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": _byte_fallback,
    "ByteLevel": _byte_level,
    "Fuse": lambda *_: lambda tokens: ["".join(tokens)],
    "Metaspace": _metaspace,
    "Replace": lambda *stage: _each(read_replace(*stage)),
    "Strip": lambda *stage: _each(read_strip(*stage)),
    "WordPiece": _word_piece,
}
