"""The frozen atoms, which tell the patterns of all families apart, with their categories."""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.patterns.class_tables import Ranges, load_atoms


@dataclass(frozen=True)
class Atom:
    """Code points that no shipped pattern tells apart, with their Unicode category."""

    name: str
    category: str
    ranges: Ranges


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
