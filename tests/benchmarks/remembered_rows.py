"""One row of `tests.benchmarks.remembered`: all sides take turns, and all ids are compared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import median, quantiles
from typing import Any

import tokpar
from tests.benchmarks.parity import DifferError, same_ids, special_ids
from tests.benchmarks.remembered_sides import (
    Side,
    State,
    Text,
    ours,
    own_sides,
    peer_sides,
    prepared,
    straight,
    takes_memory,
)
from tests.benchmarks.speed_engines import PEERS, Many, Own, Subject
from tests.benchmarks.turns import timed
from tokpar.arrays import IdArray
from tokpar.foreign_errors import INTERRUPTS

OURS = "tokpar"
NEVER_REPEAT = ("base64", "minified JSON")
"""Kinds of text that are also encoded without a memory."""
Quartiles = tuple[float, float, float]
"""Median, lower, upper."""
Prepared = Callable[[], tuple[Callable[[], Any], Many]]


@dataclass(frozen=True)
class Row:
    """One tokenizer on one text in one state. `seconds`: of each side, the mean of two calls, by
    turn; `own`: the names of the engine's own calls; `left_out`: why other engines are; `memory`:
    what the memory said at the end."""

    subject: str
    kind: str
    state: State
    bytes: int
    ids: int
    own: list[str]
    seconds: dict[str, list[float]]
    left_out: dict[str, str]
    seams: int
    plan: str
    memory: dict[str, int]

    def rate(self, name: str) -> float:
        """MB/s, the median."""
        return self.bytes / median(self.seconds[name]) / 1e6

    def ratio(self, name: str) -> Quartiles:
        """That side's time over tokpar's, of turns: above 1 tokpar is faster."""
        pairs = zip(self.seconds[name], self.seconds[OURS], strict=True)
        return quartiles([other / own for other, own in pairs])


@dataclass(frozen=True)
class Threads:
    """Seconds by turn of one worker and of two, on a text that both have seen."""

    subject: str
    kind: str
    bytes: int
    seconds: dict[str, list[float]]

    @property
    def ratio(self) -> Quartiles:
        pairs = zip(self.seconds["1"], self.seconds["2"], strict=True)
        return quartiles([one / two for one, two in pairs])


@dataclass
class _Turns:
    """What the turns of one row have given; `expected`: the ids of the own call."""

    name: str
    own: list[str]
    specials: IdArray
    expected: Sequence[IdArray] | None = None
    seconds: dict[str, list[float]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    last: tuple[Any, Many] | None = None

    def turn(self, sides: Mapping[str, Prepared]) -> None:
        """Each side once, tokpar twice, then each once more, the last one first."""
        order = [name for name in sides if name != OURS]
        taken: dict[str, list[float]] = {name: [] for name in sides}
        for name in [*order, OURS, OURS, *reversed(order)]:
            if name not in self.left_out:
                taken[name] += self._call(name, sides[name])
        for name, values in taken.items():
            if len(values) == 2:
                self.seconds.setdefault(name, []).append(sum(values) / 2)

    def _call(self, name: str, prepare: Prepared) -> list[float]:
        """The seconds; none if an engine is left out because of it."""
        try:
            call, many = prepare()
            seconds, result = timed(call)
            rows = many.rows(result)
        except BaseException as error:  # a panic is no Exception
            if isinstance(error, INTERRUPTS) or name not in PEERS:
                raise
            return self._without(name, f"{type(error).__name__}: {error}")
        if self.expected is None:
            self.expected = [ids.copy() for ids in rows]
        special = self.specials if name in PEERS else None
        if not same_ids(self.expected, rows, special):
            if name in PEERS:
                return self._without(name, "other ids")
            raise DifferError(f"{self.name}: the ids of {name} differ from those of {self.own[0]}")
        if name == OURS:
            self.last = result, many
        return [seconds]

    def _without(self, name: str, why: str) -> list[float]:
        print(f"{self.name}: {name} is left out, {why}", file=sys.stderr)
        self.left_out[name] = why
        self.seconds.pop(name, None)
        return []


@dataclass(frozen=True)
class Sides:
    """All that take turns at a text: the engine's own calls, other engines, tokpar."""

    own: list[Side]
    others: list[Side]
    ours: Side

    @classmethod
    def of(cls, subject: Subject, peers: Mapping[str, Callable[[], Own]], text: Text) -> Sides:
        others = peer_sides(peers, text.together)
        if text.kind in NEVER_REPEAT and takes_memory(subject):
            others.append(straight(subject, text.together))
        own = own_sides(subject, text.together)
        return cls(own, others, Side(OURS, partial(ours, subject, text.together)))


def measured(subject: Subject, sides: Sides, text: Text, state: State, turns: int) -> Row:
    """Raises DifferError, also if the certificate does not hold."""
    every = [*sides.own, *sides.others, sides.ours]
    calls = {side.name: _preparing(side, text, state) for side in every}
    label = f"{subject.name}, {text.kind}, {state}"
    taken = _Turns(label, [side.name for side in sides.own], special_ids(subject))
    for _ in range(turns):
        taken.turn(calls)
    assert taken.last is not None
    assert taken.expected is not None
    result, _ = taken.last
    part = text.halves()[1] if state == "warm" else text
    seams = _checked(label, subject, part, result)
    return Row(
        subject.name,
        text.kind,
        state,
        part.bytes,
        sum(map(len, taken.expected)),
        taken.own,
        taken.seconds,
        taken.left_out,
        seams,
        result.report.plan,
        dict(result.report.cache),
    )


def threads(subject: Subject, text: Text, turns: int) -> Threads:
    """Calls of one worker and two: one, two, two, one."""
    calls = {
        count: _preparing(
            Side(count, partial(ours, subject, text.together, int(count))), text, "seen"
        )()[0]
        for count in ("1", "2")
    }
    seconds: dict[str, list[float]] = {"1": [], "2": []}
    for _ in range(turns):
        taken = [(count, timed(calls[count])[0]) for count in ("1", "2", "2", "1")]
        for count, values in seconds.items():
            values.append(sum(each for name, each in taken if name == count) / 2)
    return Threads(subject.name, text.kind, text.bytes, seconds)


def quartiles(values: Sequence[float]) -> Quartiles:
    """[1, 2, 3] -> (2, 1, 3)."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return middle, low, high


def _preparing(side: Side, text: Text, state: State) -> Prepared:
    """A new object each time, or one that is kept where it has seen the text."""
    prepare = partial(prepared, side, text, state)
    return cache(prepare) if state == "seen" else prepare


def _checked(label: str, subject: Subject, text: Text, result: Any) -> int:
    """How many seams there are, all of which were checked."""
    adapter = tokpar.Encoder(subject.load()).tokenizer
    encodings = result if text.together else [result]
    seams = 0
    for encoding, each in zip(encodings, text.texts, strict=True):
        report = tokpar.check(encoding, each, adapter)
        if not report.ok:
            raise DifferError(f"{label}: {report}")
        seams += report.seams
    return seams
