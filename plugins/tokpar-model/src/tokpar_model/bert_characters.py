"""What BERT's normalizer and pre-tokenizer make of each frozen character (theorem 33)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from tokpar.arrays import SPACES
from tokpar.certificate.canonical_form import flag_in
from tokpar.certificate.check_context import require
from tokpar.certificate.frozen_tables import load_tables
from tokpar.types import NormalizerStage

SPACE, WORD, SINGLE, UNKNOWN = range(4)
"""Between words; a part of a word; a word by itself; not known."""
Kind = tuple[int, str]
"""The kind of a character, and its normalized form."""
_CHINESE = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


@dataclass(frozen=True)
class BertNormalizer:
    """The settings of Hugging Face's BertNormalizer."""

    clean_text: bool
    chinese: bool
    strip_accents: bool
    lowercase: bool


def bert_normalizer(stage: NormalizerStage) -> BertNormalizer:
    """Returns the settings of a stage. Refused if one has another type."""
    lowercase = flag_in(stage, "lowercase", True)
    return BertNormalizer(
        flag_in(stage, "clean_text", True),
        flag_in(stage, "handle_chinese_chars", True),
        flag_in(stage, "strip_accents", lowercase),
        lowercase,
    )


def white_space_kind(char: str) -> Kind:
    """Returns the kind of a character for WhitespaceSplit."""
    return (SPACE if char in SPACES else WORD), char


def bert_kind(char: str) -> Kind:
    """Returns the kind of a character for BertPreTokenizer."""
    if char in SPACES:
        return SPACE, char
    atom = load_tables().atom_of(char)
    if atom is None:
        return UNKNOWN, char
    mark = "!" <= char <= "~" and not char.isalnum()
    single = mark if char.isascii() else atom.rpartition("_")[2] == "P"
    return (SINGLE if single else WORD), char


def normalized_kind(settings: BertNormalizer, kind_of: Callable[[str], Kind], char: str) -> Kind:
    """Returns the kind of a character behind BertNormalizer. UNKNOWN if it is not frozen, or if its
    form depends on its neighbours.

    A character that is dropped is part of a word, without a form."""
    if load_tables().atom_of(char) is None:
        return UNKNOWN, char
    if settings.clean_text:
        control = char not in "\t\n\r" and unicodedata.category(char)[0] == "C"
        if control or char == "\ufffd":
            return WORD, ""
        char = " " if char in SPACES else char
    chinese = settings.chinese and any(low <= ord(char) <= high for low, high in _CHINESE)
    form = unicodedata.normalize("NFD", char) if settings.strip_accents else char
    if settings.strip_accents:
        form = "".join(each for each in form if unicodedata.category(each) != "Mn")
        if any(map(unicodedata.combining, form)):
            return UNKNOWN, char
    if settings.lowercase:
        form = "".join(map(str.lower, form))
    kinds = {kind_of(each)[0] for each in form}
    if chinese and kinds == {WORD} and len(form) == 1:
        return SINGLE, form
    if chinese or len(kinds) > 1 or (kinds and kinds != {WORD} and len(form) > 1):
        return UNKNOWN, char
    return (kinds.pop() if kinds else WORD), form


def require_known(kind: Kind, char: str) -> Kind:
    """Refuse a character whose kind is not known."""
    unknown = f"what BERT makes of U+{ord(char):04X} is not certain"
    require(kind[0] != UNKNOWN, "class", unknown)
    return kind
