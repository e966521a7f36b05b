"""The patterns of the families that are known by name, and the atoms that tell them apart."""

from __future__ import annotations

from tokpar.facts.pattern import Atom
from tokpar.facts.tables import load_atoms

_CATEGORIES = {
    **dict.fromkeys(("space", "newline", "tab", "space_control", "space_Z", "ascii_control"), "C"),
    "quote": "P",
    "slash": "P",
    "low_block": "S",
    "ascii_punct": "P",
    "ascii_symbol": "S",
    "ascii_lower": "Ll",
    "ascii_upper": "Lu",
    "ascii_digit": "N",
    "cjk": "Lo",
}


def stored_atoms() -> tuple[Atom, ...]:
    """The frozen atoms of the tables, with their categories, which no version of Unicode changes.
    White space counts as C ("neither letter, mark, number, punctuation nor symbol")."""
    return tuple(Atom(name, _category(name), ranges) for name, ranges in load_atoms().items())


def _category(name: str) -> str:
    """ "kana_Lo" and "Lo" say it, "ascii_s" and "ascii_S" are letters, others are listed."""
    kind = name.rpartition("_")[2]
    if name.startswith("ascii_") and len(kind) == 1:
        return "Ll" if kind.islower() else "Lu"
    return _CATEGORIES.get(name, kind)


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = CL100K.replace("{1,3}", "")
_UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_CASED = rf"{_UPPER}*{_LOWER}+%s|{_UPPER}+{_LOWER}*%s"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = _CASED % (_SUFFIX, _SUFFIX) + r"|\p{N}{1,3}" + _REST
TEKKEN = _CASED % ("", "") + r"|\p{N}" + _REST
