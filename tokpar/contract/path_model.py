"""What a SentencePiece file says, for the compiled call of any adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NORMAL, UNKNOWN, USER_DEFINED, UNUSED, BYTE = 1, 2, 4, 5, 6
"""Types of pieces, as sentencepiece_model.proto numbers them."""
UNIGRAM, BPE, CHAR = 1, 2, 4
"""Kinds of models, as sentencepiece_model.proto numbers them."""


@dataclass(frozen=True, slots=True)
class PathModel:
    """A model of SentencePiece: one best path over the whole normalized text (Unigram), symbols
    that are merged by score (BPE), or characters.

    `pieces`: UTF-8 bytes, score and type of each piece, by id; the numbers of types are those of
    sentencepiece_model.proto. `charsmap`: its ``precompiled_charsmap``. The other fields are
    settings of the same names of that file; `space_is_suffix` is ``treat_whitespace_as_suffix``."""

    pieces: Sequence[tuple[bytes, float, int]]
    charsmap: bytes = b""
    byte_fallback: bool = False
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    space_is_suffix: bool = False
    kind: int = UNIGRAM
