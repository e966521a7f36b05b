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

from tokpar import EngineError
from tokpar.formats.json_parts import Json
from tokpar.plugin.tokenizer import byte_alphabet
from tokpar_pure.parts import character, choice, flag, interpret_stages, number, pattern_of, string
from tokpar_pure.patterns import replace_matches
from tokpar_pure.pretokenize import SCHEMES

Tokens = Sequence[str]
Step = Callable[[Tokens], list[str]]
Decoder = Callable[[Tokens], str]

_BYTE_OF = byte_alphabet()
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
CLEANUP_PAIRS = tuple((f" {mark}", mark) for mark in ".?!,")
CLEANUP_PAIRS += ((" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"))
CLEANUP_PAIRS += tuple((f" '{end}", f"'{end}") for end in ("s", "ve", "re"))
"""(old, new) of the replacements that the cleanup of WordPiece and CTC makes, in this order."""


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


def bytes_of(token: str) -> bytes:
    """Returns the bytes of a token of a byte-level vocabulary.

    A token with a character that stands for no byte is plain text, as most added tokens are:
    returns its UTF-8 bytes."""
    try:
        return bytes([_BYTE_OF[char] for char in token])
    except KeyError:
        return token.encode("utf-8")


def _byte_level(stage: Json, where: str) -> Step:
    return lambda tokens: [b"".join(map(bytes_of, tokens)).decode("utf-8", "replace")]


def clean_up(text: str) -> str:
    """Returns a token after the cleanup of WordPiece and CTC."""
    for old, new in CLEANUP_PAIRS:
        text = text.replace(old, new)
    return text


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


def read_strip(stage: Json, where: str) -> Callable[[str], str]:
    """Returns a function that does to a token what the decoder Strip does. The function raises
    EngineError for a token on which the library panics."""
    char = character(stage, "content", where)
    front, back = number(stage, "start", where), number(stage, "stop", where)

    def change(token: str) -> str:
        start = min(front, len(token) - len(token.lstrip(char)))
        run = len(token) - len(token.rstrip(char))
        if run == len(token) < front + back and back:
            raise EngineError(f"the decoder Strip of tokenizers fails for {token!r}")
        return token[start : len(token) - min(back, run)]

    return change


def read_replace(stage: Json, where: str) -> Callable[[str], str]:
    """Returns a function that does to a token what the decoder Replace does."""
    pattern = pattern_of(stage, where)
    content = string(stage, "content", where)
    if isinstance(pattern, str):
        return lambda token: token.replace(pattern, content)
    return lambda token: replace_matches(pattern, content, token)


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
