"""The places of a text that two characters certify, asked one by one."""

from __future__ import annotations

from tokpar.patterns.known_pattern import PairTable


def pair_places(table: PairTable, text: str) -> list[int]:
    """Where the two characters at the place certify a cut, in any text without stages."""
    return [p for p in range(1, len(text)) if table.is_sure(text[p - 1], text[p])]
