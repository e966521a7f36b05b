"""Spellings of patterns that only the tables know, and the regions that the atoms are made of."""

from __future__ import annotations

from collections.abc import Mapping

from tokpar.patterns.class_tables import WHITESPACE, Ranges

CJK: Ranges = ((0x4E00, 0x9FA5),)
KANA: Ranges = ((0x3040, 0x30FF),)
CONTRACTION = "stmdlver"

_OTHER_SPACE = tuple(r for r in WHITESPACE if r[0] not in (0x09, 0x20, 0x85))

SINGLES: Mapping[str, tuple[str, Ranges]] = {
    "space": ("C", ((0x20, 0x20),)),
    "newline": ("C", ((0x0A, 0x0A), (0x0D, 0x0D))),
    "tab": ("C", ((0x09, 0x09),)),
    "space_control": ("C", ((0x0B, 0x0C), (0x85, 0x85))),
    "space_Z": ("C", _OTHER_SPACE),
    "quote": ("P", ((0x27, 0x27),)),
    "slash": ("P", ((0x2F, 0x2F),)),
    "low_block": ("S", ((0x2581, 0x2581),)),
    **{f"ascii_{c}": ("Ll", ((ord(c), ord(c)),)) for c in CONTRACTION},
    **{f"ascii_{c}": ("Lu", ((ord(c), ord(c)),)) for c in CONTRACTION.upper()},
}
"""Atoms that are listed outright: name -> (category, ranges). White space counts as category C
("neither letter, mark, number, punctuation nor symbol"); the class `\\s` is known by its list."""

SHARED: Mapping[str, tuple[str, Ranges]] = {
    "ascii_lower": ("Ll", ((0x61, 0x7A),)),
    "ascii_upper": ("Lu", ((0x41, 0x5A),)),
    "ascii_digit": ("N", ((0x30, 0x39),)),
    "ascii_punct": ("P", ((0x21, 0x7E),)),
    "ascii_symbol": ("S", ((0x21, 0x7E),)),
    "ascii_control": ("C", ((0x00, 0x7F),)),
    "cjk": ("Lo", CJK),
    "kana_Lo": ("Lo", KANA),
    "kana_Lm": ("Lm", KANA),
    "kana_M": ("M", KANA),
    "kana_P": ("P", KANA),
    "kana_S": ("S", KANA),
    **{name: (name, ((0x80, 0x10FFFF),)) for name in ("Lu", "Ll", "Lt", "Lm", "Lo")},
    **{name: (name, ((0x80, 0x10FFFF),)) for name in ("M", "N", "P", "S", "C")},
}
"""Atoms that take what is left of a region: name -> (category, region), in this order."""

GPT2_BRACKETS = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K_MIDDLE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
CL100K_TIKTOKEN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
CL100K_SAVED = CL100K_TIKTOKEN.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++(?![\s\S])")
"""As `tokpar_train.save` writes it: nothing in it has a meaning of its own in Oniguruma."""
DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
DEEPSEEK_STAGES = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK)
DEEPSEEK_RAW_NEWLINES = (*DEEPSEEK_STAGES[:2], DEEPSEEK.replace(r"\r\n", "\r\n"))
