"""All seams of one encoding, stored in columns. A `Seam` object is made when a caller asks for it.

If a region is cut at every place that one licence allows, only the region is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Protocol, overload

import numpy as np

from tokpar.arrays import NO_INTS, IntArray, sides_of_spaces, spaces_behind_text
from tokpar.process.cached_property import cached_property
from tokpar.types import Rule, Seam, Witness

_BLOCK_CHARS = 1 << 20
"""`Everywhere.count` searches this many code points at a time."""
Licence = tuple[Rule | None, str, Witness]
"""Rule, theorem and witness of a seam, without its position."""


@dataclass(frozen=True, slots=True, eq=False)
class Everywhere:
    """The cuts before every ASCII space that follows a character other than white space, strictly
    inside some regions.

    `licence`: a seam without a position, which names the rule. A licence by theorem 50 names ASCII
    characters that must not stand next to the space (`sides_of`). `regions`: [start, stop), code
    points, int64, (n, 2), ascending, without overlap."""

    licence: Seam
    regions: IntArray

    def positions(self, text: str) -> IntArray:
        """Returns the positions of the cuts in `text`, code points, ascending."""
        sides, regions = sides_of(self.licence), self.regions.tolist()
        found = [spaces_behind_text(text, start, stop, sides) for start, stop in regions]
        return np.concatenate(found) if found else NO_INTS

    def count(self, text: str) -> int:
        """Returns the number of positions. Uses some megabytes of memory for any number."""
        sides, found = sides_of(self.licence), 0
        for first, last in self.regions.tolist():
            for start in range(first, last, _BLOCK_CHARS):
                stop = min(last, start + _BLOCK_CHARS)
                # the search reads up to three characters around a place, inside the region
                places = spaces_behind_text(text, max(first, start - 2), min(last, stop + 1), sides)
                found += int(np.count_nonzero((places >= start) & (places < stop)))
        return found


def sides_of(licence: Seam) -> bytes:
    """Returns which characters may stand next to the spaces of this licence.

    The result is the argument `neighbour_bits` of `spaces_behind_text`."""
    values = dict(licence.witness)
    if "spared" not in values:
        return b""
    return sides_of_spaces(str(values["left"]), str(values["spared"]))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Seams stored one by one, in columns of int64, (n,).

    `positions`: code points, ascending. `tokens`: how many ids lie before each seam. `codes`: the
    index of each seam's licence in `licences`."""

    positions: IntArray = field(default_factory=lambda: NO_INTS)
    tokens: IntArray = field(default_factory=lambda: NO_INTS)
    codes: IntArray = field(default_factory=lambda: NO_INTS)
    licences: tuple[Licence, ...] = ()

    @classmethod
    def of(cls, seams: Iterable[Seam]) -> Columns:
        """Returns the columns of `seams`. Equal licences are stored once."""
        numbers: dict[Licence, int] = {}
        rows = []
        for seam in seams:
            licence = seam.rule, seam.theorem, seam.witness
            rows.append((seam.position, seam.token, numbers.setdefault(licence, len(numbers))))
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2], tuple(numbers))

    def __len__(self) -> int:
        return len(self.positions)

    def seam(self, k: int) -> Seam:
        rule, theorem, witness = self.licences[self.codes[k]]
        return Seam(int(self.positions[k]), rule, theorem, witness, int(self.tokens[k]))


class Derivation(Protocol):
    """Finds the cuts of an `Everywhere` in its text."""

    def count(self) -> int:
        """Returns the number of cuts, without an array of all cuts."""

    def positions(self) -> IntArray:
        """Returns the positions of the cuts, code points, ascending."""

    def tokens(self) -> IntArray:
        """Returns how many ids lie before each cut. Slower than `positions`."""


@dataclass(frozen=True, eq=False)
class Seams(Sequence[Seam]):
    """All seams of an encoding, in the order of their positions.

    `planned`: seams stored one by one. `everywhere`: regions with further seams, which `derive`
    finds when a caller asks for them. Without `derive`, asking for them raises LookupError.
    `proofs`: the proofs that the seams name by their sha256 (PAIR)."""

    planned: Columns
    everywhere: Everywhere | None = None
    derive: Derivation | None = field(default=None, repr=False)
    proofs: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, seams: Iterable[Seam]) -> Seams:
        """Returns `seams` as planned seams."""
        return cls(Columns.of(seams))

    @property
    def lossless(self) -> bool:
        """True if a rule licenses every seam."""
        return all(rule is not None for rule, _, _ in self.planned.licences)

    @cached_property
    def positions(self) -> IntArray:
        """The positions of the cuts of `everywhere`, code points. LookupError without `derive`."""
        return NO_INTS if self.everywhere is None else self._derivation().positions()

    @cached_property
    def tokens(self) -> IntArray:
        """How many ids lie before each cut of `everywhere`. LookupError without `derive`."""
        return NO_INTS if self.everywhere is None else self._derivation().tokens()

    def _derivation(self) -> Derivation:
        if self.derive is None:
            raise LookupError(
                "these seams are known by their regions only: tokpar.check takes text and tokenizer"
            )
        return self.derive

    @cached_property
    def _places(self) -> IntArray:
        """The index of each planned seam among all seams."""
        before = np.searchsorted(self.positions, self.planned.positions)
        places: IntArray = before + np.arange(len(before))
        return places

    @cached_property
    def _count(self) -> int:
        derived = 0 if self.everywhere is None else self._derivation().count()
        return len(self.planned) + derived

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, k: int) -> Seam: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Seam, ...]: ...
    def __getitem__(self, k: int | slice) -> Seam | tuple[Seam, ...]:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        at = range(len(self))[k]
        before = int(np.searchsorted(self._places, at))
        if before < len(self._places) and self._places[before] == at:
            return self.planned.seam(before)
        return self._derived_seam(at - before)

    def _derived_seam(self, k: int) -> Seam:
        assert self.everywhere is not None
        like, position, token = self.everywhere.licence, self.positions[k], self.tokens[k]
        return Seam(int(position), like.rule, like.theorem, like.witness, int(token))

    def __iter__(self) -> Iterator[Seam]:
        planned = iter(range(len(self.planned)))
        if self.everywhere is None:
            return map(self.planned.seam, planned)
        whose = np.zeros(len(self), dtype=np.bool_)
        whose[self._places] = True
        derived = iter(range(len(self)))
        return (
            self.planned.seam(next(planned)) if own else self._derived_seam(next(derived))
            for own in whose.tolist()
        )

    def __bool__(self) -> bool:
        return len(self.planned) > 0 or len(self) > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # equal to tuples of seams, whose hash differs

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the seams without text and tokenizer."""
        return Seams, (self.planned, self.everywhere, None, self.proofs)

    def __repr__(self) -> str:
        return f"<{self.description}>"

    @property
    def description(self) -> str:
        """The number of seams in words. Without the text: planned seams and regions."""
        if self.everywhere is None or self.derive is not None:
            return f"{len(self):,} seam{'s' * (len(self) != 1)}"
        regions = len(self.everywhere.regions)
        many = f"{regions:,} region{'s' * (regions != 1)}"
        return f"{len(self.planned):,} seams and one at each certified space of {many}"


NO_SEAMS = Seams(Columns())
