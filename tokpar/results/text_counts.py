"""Counts texts by the way in which they were encoded, and why an engine encoded the others.

A way is COMPILED: the compiled call; CUT: at certified cuts, by an engine or from a cache of
segments; UNTRUSTED: with parts that may not spell control tokens; ENGINE: one call of the engine,
for a reason."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

COMPILED, CUT, UNTRUSTED, ENGINE = WAYS = ("compiled", "cut", "untrusted", "engine")
_OWN = "own"
NO_CALL, TABLES, MISMATCH = "no_compiled_call", "tables_being_made", "mismatch"
LEFT_OVER, ARGUMENTS, STRATEGY = "left_to_engine", "arguments", "strategy"
"""Why an engine encoded a text in one call, see `tokpar.results.encoder_report.REASONS`."""


class TextCounts:
    """How many texts were encoded in each way. Thread-safe; survives a fork.

    `total`: counts the same texts again. `one_compiled()` counts a text by the compiled call,
    `one_handed_over()` a text that a drop-in left to its library because of the arguments."""

    def __init__(self, total: TextCounts | None = None) -> None:
        self._compiled, self._handed_over = count(), count()
        self.one_compiled = self._compiled.__next__
        self.one_handed_over = self._handed_over.__next__
        self._of_threads: dict[int, Counter[tuple[str, str]]] = {}
        self._total = total
        if total is not None:
            self.one_compiled = partial(_both, self.one_compiled, total.one_compiled)
            self.one_handed_over = partial(_both, self.one_handed_over, total.one_handed_over)

    def add(self, ways: Mapping[str, int], reason: str) -> None:
        """Count texts by their way; `reason`: why the engine encoded those of the way ENGINE."""
        for way, texts in ways.items():
            if texts:
                self._count(way, reason if way == ENGINE else "", texts)

    def one_by_engine(self, reason: str) -> None:
        """Count one text that the engine encoded, and why it did."""
        self._count(ENGINE, reason, 1)

    def add_own(self, texts: int, reason: str) -> None:
        """Count texts that did not go through tokpar: a drop-in left them to its library."""
        self._count(_OWN, reason, texts)

    def _count(self, way: str, reason: str, texts: int) -> None:
        own = self._of_threads.setdefault(threading.get_ident(), Counter())  # no lock is needed
        own[way, reason] += texts
        if self._total is not None:
            self._total._count(way, reason, texts)

    def _all(self) -> Counter[tuple[str, str]]:
        counted = {(COMPILED, ""): self._compiled, (_OWN, ARGUMENTS): self._handed_over}
        # "count(5)": nothing else tells the number
        found = +Counter({key: int(repr(each)[6:-1]) for key, each in counted.items()})
        for own in [*self._of_threads.values()]:
            found.update(dict([*own.items()]))
        return found

    @property
    def by_way(self) -> dict[str, int]:
        """The number of texts of each way."""
        found = dict.fromkeys(WAYS, 0)
        for (way, _), texts in self._all().items():
            found[ENGINE if way == _OWN else way] += texts
        return found

    @property
    def fallbacks(self) -> dict[str, int]:
        """The number of texts that the engine encoded, by reason."""
        found: Counter[str] = Counter()
        for (_, reason), texts in sorted(self._all().items()):
            found[reason] += texts
        del found[""]
        return dict(found)

    @property
    def through_tokpar(self) -> int:
        """The number of texts that went through tokpar; not those that it gave to the engine
        because of a MismatchError."""
        texts = self._all().items()
        return sum(n for (way, reason), n in texts if way != _OWN and reason != MISMATCH)


def _both(one: Callable[[], int], other: Callable[[], int]) -> int:
    one()
    return other()


OF_DROP_INS = TextCounts()
"""The texts of all results of `as_hf` and `as_tiktoken` of this process."""


def fallback_reason(later: Any) -> str:
    """Returns why the engine encodes a text in one call, by the `LaterCall` of the tokenizer, or
    None."""
    if later is None:
        return NO_CALL
    if later.call is None:
        return TABLES if later.is_being_made else NO_CALL
    return MISMATCH if later.why_none else LEFT_OVER
