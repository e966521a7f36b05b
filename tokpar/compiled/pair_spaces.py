"""The cuts before spaces of a tokenizer that is not cut before each space, but where pairs of
characters certify it (rule PAIR)."""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.patterns.known_pattern import PairTable


@dataclass(frozen=True, slots=True)
class PairsAtSpaces:
    """The cuts before spaces that pairs of characters certify (rule PAIR), see `SpaceCut`.

    A segment may end with an ASCII character only where such a cut is: `sides` says which."""

    table: PairTable
    joins_others = True

    @property
    def sides(self) -> bytes:
        """See `SpaceCut.sides`."""
        ascii_sides = (6 | self.table.is_sure(chr(code), " ") for code in range(128))
        return bytes([*ascii_sides, 7])

    def ends(self, segment: str) -> bool:
        """True if a segment of a text cut by `sides` may end with `segment`, before a space."""
        last = segment[-1:]
        return last.isascii() or self.table.is_sure(last, " ")
