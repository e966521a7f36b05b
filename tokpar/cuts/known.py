"""The pre-tokenizer families that are known by name, and the atoms that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokpar.cuts.pattern import WHITESPACE, Atom, Ranges

ALL = ("fancy-regex", "oniguruma", "regex")
POSSESSIVE = ("fancy-regex", "regex")
"""Engines in which `{1,3}+` is possessive; in Oniguruma it repeats the group."""

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

GHOSTS = (Atom("kana_unassigned", "C", ((0x3040, 0x3040), (0x3097, 0x3098))),)
"""Signatures that real text can show although no frozen code point has them."""

PROPERTIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S")


@dataclass(frozen=True)
class Recipe:
    """One family before it is decided: spellings, class of each atom, patterns of the gaps.

    `stages` lists, for each spelling, the engines and one pattern per Split. `gap` is an extra
    last alternative that matches exactly the text between matches, for a pattern that is not
    covering (checked against the engines by the tests). `universal` says which white space may
    stand right of a U1 cut.
    """

    name: str
    stages: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    classes: Mapping[str, tuple[str, ...]]
    universal: str = "not_newline"
    gap: str = ""


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT2_BRACKETS = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CL100K_MIDDLE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
CL100K_TIKTOKEN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
CL100K_SAVED = CL100K_TIKTOKEN.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++(?![\s\S])")
"""As `tokpar.pure.save` writes it: nothing in it has a meaning of its own in Oniguruma."""
QWEN2 = CL100K.replace("{1,3}", "")
_UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_CASED = rf"{_UPPER}*{_LOWER}+%s|{_UPPER}+{_LOWER}*%s"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = _CASED % (_SUFFIX, _SUFFIX) + r"|\p{N}{1,3}" + _REST
TEKKEN = _CASED % ("", "") + r"|\p{N}" + _REST
DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
DEEPSEEK_STAGES = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK)
DEEPSEEK_RAW_NEWLINES = (*DEEPSEEK_STAGES[:2], DEEPSEEK.replace(r"\r\n", "\r\n"))


def _letters(*names: str) -> tuple[str, ...]:
    return tuple(f"ascii_{name}" for name in names)


_LOWER_CLASSES = {
    "a": ("ascii_lower", "Ll"),
    "s": _letters("s", "t", "m", "d"),
    "l": _letters("l"),
    "vr": _letters("v", "r"),
    "e": _letters("e"),
}
_UPPER_CLASSES = {
    "A": ("ascii_upper", "Lu", "Lt"),
    "S": _letters("S", "T", "M", "D"),
    "L": _letters("L"),
    "VR": _letters("V", "R"),
    "E": _letters("E"),
}
_UNCASED = ("Lo", "Lm", "cjk", "kana_Lo", "kana_Lm")
_MARKS = ("M", "kana_M")
_PUNCT = ("ascii_punct", "P", "kana_P")
_SYMBOLS = ("ascii_symbol", "S", "kana_S", "low_block")
_OTHER = (*_PUNCT, *_SYMBOLS, "ascii_control", "C")
_DIGITS = {"1": ("ascii_digit", "N")}
_TABS = ("tab", "space_control", "space_Z")
_SPACES = {"sp": ("space",), "nl": ("newline",), "tab": _TABS}
_ALL_UPPER = tuple(atom for atoms in _UPPER_CLASSES.values() for atom in atoms)
_ALL_LOWER = tuple(atom for atoms in _LOWER_CLASSES.values() for atom in atoms)

_PLAIN = {**_DIGITS, "'": ("quote",), ".": (*_OTHER, *_MARKS, "slash")}
GPT2_CLASSES = {
    **_LOWER_CLASSES,
    "a": ("ascii_lower", "Ll", *_ALL_UPPER, *_UNCASED),
    **_PLAIN,
    "sp": ("space",),
    "ws": ("newline", *_TABS),
}
CL100K_CLASSES = {
    **{name: (*atoms, *_UPPER_CLASSES[name.upper()]) for name, atoms in _LOWER_CLASSES.items()},
    **_PLAIN,
    **_SPACES,
}
CL100K_CLASSES["a"] = (*CL100K_CLASSES["a"], *_UNCASED)
O200K_CLASSES = {
    **_LOWER_CLASSES,
    **_UPPER_CLASSES,
    "o": _UNCASED,
    "M": _MARKS,
    **_DIGITS,
    **_SPACES,
    "'": ("quote",),
    "/": ("slash",),
    ".": _OTHER,
}
TEKKEN_CLASSES = {
    "a": _ALL_LOWER,
    "A": _ALL_UPPER,
    "o": _UNCASED,
    "M": _MARKS,
    **_DIGITS,
    **_SPACES,
    "/": ("slash",),
    ".": (*_OTHER, "quote"),
}
_ASCII_LETTERS = tuple(atom for atom in (*_ALL_LOWER, *_ALL_UPPER) if atom.startswith("ascii_"))
DEEPSEEK_CLASSES = {
    "a": _ASCII_LETTERS,
    "o": ("Ll", "Lu", "Lt", "Lo", "Lm"),
    "M": ("M",),
    "C": ("cjk", "kana_Lo", "kana_Lm"),
    "kM": ("kana_M",),
    "kP": ("kana_P", "kana_S"),
    **_DIGITS,
    **_SPACES,
    ".": ("ascii_punct", "ascii_symbol", "quote", "slash"),
    "”": ("P", "S", "low_block"),
    "ctl": ("ascii_control", "C"),
}

RECIPES = (
    Recipe(
        "gpt2",
        ((ALL, (GPT2,)), (ALL, (GPT2_BRACKETS,)), (ALL, (R50K,))),
        GPT2_CLASSES,
        universal="any",
    ),
    Recipe("cl100k", ((ALL, (CL100K,)), (ALL, (CL100K_MIDDLE,))), CL100K_CLASSES),
    Recipe(
        "cl100k_tiktoken",
        ((POSSESSIVE, (CL100K_TIKTOKEN,)), (ALL, (CL100K_SAVED,))),
        CL100K_CLASSES,
    ),
    Recipe("qwen2", ((ALL, (QWEN2,)),), CL100K_CLASSES),
    Recipe("o200k", ((ALL, (O200K,)),), O200K_CLASSES),
    Recipe("tekken", ((ALL, (TEKKEN,)),), TEKKEN_CLASSES),
    Recipe(
        "deepseek",
        tuple((("oniguruma", "regex"), s) for s in (DEEPSEEK_STAGES, DEEPSEEK_RAW_NEWLINES)),
        DEEPSEEK_CLASSES,
        gap=r"|[^\s\p{L}\p{M}\p{P}\p{S}]+(?![\p{L}\p{M}])",
    ),
)


@dataclass(frozen=True)
class Stated:
    """A pair-local pre-tokenizer (section 4.8): safe pairs by theory, not by the machine."""

    name: str
    classes: Mapping[str, tuple[str, ...]]
    pairs: Mapping[str, tuple[str, ...]]


_BERT_SEPARATORS = ("space", "newline", "tab", "space_Z", "quote", "slash", "ascii_symbol", "cjk")
_ATOMS = (*SINGLES, *SHARED)


def _two_classes(name: str, separators: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {"other": tuple(a for a in _ATOMS if a not in separators), name: separators}


STATED = (
    Stated(
        "bert",
        _two_classes("separator", (*_BERT_SEPARATORS, *_PUNCT)),
        {"other": ("separator",), "separator": ("other", "separator")},
    ),
    Stated(
        "metaspace",
        _two_classes("mark", ("space", "low_block")),
        {"other": ("mark",), "mark": ("mark",)},
    ),
)
