"""What the cut tables are made of: the families' spellings and classes, and the pairs that theory
states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.recipes import known
from tests.recipes.known import SHARED, SINGLES
from tests.recipes.pattern import Atom
from tokpar.facts import families

ALL = ("fancy-regex", "oniguruma", "regex")
POSSESSIVE = ("fancy-regex", "regex")
"""Engines in which `{1,3}+` is possessive; in Oniguruma it repeats the group."""

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
        ((ALL, (families.GPT2,)), (ALL, (known.GPT2_BRACKETS,)), (ALL, (known.R50K,))),
        GPT2_CLASSES,
        universal="any",
    ),
    Recipe("cl100k", ((ALL, (families.CL100K,)), (ALL, (known.CL100K_MIDDLE,))), CL100K_CLASSES),
    Recipe(
        "cl100k_tiktoken",
        ((POSSESSIVE, (known.CL100K_TIKTOKEN,)), (ALL, (known.CL100K_SAVED,))),
        CL100K_CLASSES,
    ),
    Recipe("qwen2", ((ALL, (families.QWEN2,)),), CL100K_CLASSES),
    Recipe("o200k", ((ALL, (families.O200K,)),), O200K_CLASSES),
    Recipe("tekken", ((ALL, (families.TEKKEN,)),), TEKKEN_CLASSES),
    Recipe(
        "deepseek",
        tuple(
            (("oniguruma", "regex"), s)
            for s in (known.DEEPSEEK_STAGES, known.DEEPSEEK_RAW_NEWLINES)
        ),
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
