"""All seams of one encoding, in columns: a `Seam` is made when somebody asks for it.

Where a region is cut at every place that one licence allows, only the region is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import eq
from typing import Protocol, overload

import numpy as np

from tokpar.arrays import NO_INTS, IntArray, sides_of_spaces, spaces_behind_text
from tokpar.types import Rule, Seam, Witness

_COUNTED = 1 << 20
"""Code points of which the positions are found together where they are only counted."""
Licence = tuple[Rule | None, str, Witness]
"""Rule, theorem and witness: all of a seam but where it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Everywhere:
    """Cuts before every ASCII space, behind anything but white space, strictly inside some regions;
    `licence`, a seam at no place, tells by which rule. One by theorem 50 names ASCII characters
    that must not stand beside the space (`sides_of`).

    `regions`: [start, stop), code points, int64, (n, 2), ascending, without overlap."""

    licence: Seam
    regions: IntArray

    def positions(self, text: str) -> IntArray:
        """Where these cuts are in `text`, code points, ascending."""
        sides, regions = sides_of(self.licence), self.regions.tolist()
        found = [spaces_behind_text(text, start, stop, sides) for start, stop in regions]
        return np.concatenate(found) if found else NO_INTS

    def count(self, text: str) -> int:
        """How many positions there are, found in some megabytes of memory whatever their number."""
        sides, found = sides_of(self.licence), 0
        for first, last in self.regions.tolist():
            for start in range(first, last, _COUNTED):
                stop = min(last, start + _COUNTED)
                # beside a place three characters are looked at, as far as they are in the region
                places = spaces_behind_text(text, max(first, start - 2), min(last, stop + 1), sides)
                found += int(np.count_nonzero((places >= start) & (places < stop)))
        return found


def sides_of(licence: Seam) -> bytes:
    """What may stand beside the spaces that are cut at by this licence, as `spaces_behind_text`
    takes it."""
    values = dict(licence.witness)
    if "spared" not in values:
        return b""
    return sides_of_spaces(str(values["left"]), str(values["spared"]))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Seams one by one. `positions`: code points, ascending; `tokens`: ids before each; `codes`:
    which of `licences` each has; all int64, (n,)."""

    positions: IntArray = field(default_factory=lambda: NO_INTS)
    tokens: IntArray = field(default_factory=lambda: NO_INTS)
    codes: IntArray = field(default_factory=lambda: NO_INTS)
    licences: tuple[Licence, ...] = ()

    @classmethod
    def of(cls, seams: Iterable[Seam]) -> Columns:
        """The columns of seams; licences that are equal are kept once."""
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
    """Finds the cuts of `Everywhere` in a text."""

    def count(self) -> int:
        """How many there are, without an array of them."""

    def positions(self) -> IntArray:
        """Where they are, code points, ascending."""

    def tokens(self) -> IntArray:
        """How many ids lie before each, which takes longer."""


@dataclass(frozen=True, eq=False)
class Seams(Sequence[Seam]):
    """Seams in the order of their positions: the `planned` ones, and those of `everywhere` between
    them, which `derive` finds when they are asked for; without it they are a LookupError. `proofs`:
    those that the seams name by their sha256 (K10)."""

    planned: Columns
    everywhere: Everywhere | None = None
    derive: Derivation | None = field(default=None, repr=False)
    proofs: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, seams: Iterable[Seam]) -> Seams:
        """Seams that are known one by one."""
        return cls(Columns.of(seams))

    @property
    def lossless(self) -> bool:
        """Every one is licensed."""
        return all(rule is not None for rule, _, _ in self.planned.licences)

    @cached_property
    def positions(self) -> IntArray:
        """Where the cuts of `everywhere` are, code points. LookupError without the text."""
        return NO_INTS if self.everywhere is None else self._derivation().positions()

    @cached_property
    def tokens(self) -> IntArray:
        """How many ids lie before each of these. LookupError as above."""
        return NO_INTS if self.everywhere is None else self._derivation().tokens()

    def _derivation(self) -> Derivation:
        if self.derive is None:
            raise LookupError(
                "these seams are known by their regions only: tokpar.check takes text and tokenizer"
            )
        return self.derive

    @cached_property
    def _places(self) -> IntArray:
        """Where among all seams each planned one stands."""
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

    __hash__ = None  # type: ignore[assignment]  # equal to tuples of seams, but made otherwise

    def __reduce__(self) -> tuple[object, ...]:
        """Without text and tokenizer."""
        return Seams, (self.planned, self.everywhere, None, self.proofs)

    def __repr__(self) -> str:
        return f"<{self.description}>"

    @property
    def description(self) -> str:
        """How many seams there are; without the text, which regions have more than are counted."""
        if self.everywhere is None or self.derive is not None:
            return f"{len(self):,} seam{'s' * (len(self) != 1)}"
        regions = len(self.everywhere.regions)
        many = f"{regions:,} region{'s' * (regions != 1)}"
        return f"{len(self.planned):,} seams and one at each certified space of {many}"


NO_SEAMS = Seams(Columns())
