"""What became of each text, and how a `Batch` and its encodings are made of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray, frozen_ids
from tokpar.encoding import Encoding
from tokpar.executors.serial import PASSING, engine_error
from tokpar.interfaces import EncodesWhole, PostProcesses, TokenizerAdapter, facts_of
from tokpar.seams import NO_SEAMS, Seams
from tokpar.sizes import TOO_SHORT
from tokpar.spans import Origin, alone, finished_spans, numbered, spans_of
from tokpar.types import Report, Rows

DIVIDED = "divided at every space"
NO_REGION_LEFT = "no region is left"


@dataclass(frozen=True, slots=True, eq=False)
class Divided:
    """Texts that were divided at every space as they are: `flags`, one for each text; `seams` gives
    those of a text by its number of ids."""

    flags: NDArray[np.bool_]
    seams: Callable[[str, int], Seams]


@dataclass(frozen=True, eq=False)
class Results:
    """Texts, their ids before (`own`) and after finishing, and how they were made: `rows` has those
    encoded by themselves, unfinished, `whys` why others were not cut, `uncut` why all the rest were
    not. `report`: of all."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    own: Rows
    final: Rows
    rows: Mapping[int, Encoding]
    whys: Mapping[int, str]
    report: Report
    divided: Divided | None = None
    uncut: str = TOO_SHORT

    def encoding(self, k: int) -> Encoding:
        """The encoding of text `k`; nothing of it is made before."""
        text, own = self.texts[k], self.own[k]
        final = own if self.final is self.own else self.final[k]
        if self._is_divided(k):
            assert self.divided is not None
            seams = self.divided.seams(text, len(own))
        else:
            seams = NO_SEAMS if k not in self.rows else self.rows[k].seams
        origin = Origin(text, self.tokenizer, own, partial(self._layout, k))
        return Encoding(frozen_ids(final), seams, self.told(k), origin)

    def _is_divided(self, k: int) -> bool:
        """Text `k` was divided at every space."""
        return self.divided is not None and bool(self.divided.flags[k])

    def told(self, k: int) -> Report:
        """The report of text `k`; of the seconds its share, by length."""
        length, row = len(self.texts[k]), self.rows.get(k)
        if row is not None:
            seconds = self._seconds(length)
            return replace(row.report, seconds=seconds, cache=self.report.cache)
        plan, why = "serial", self.whys.get(k, self.uncut)
        if self._is_divided(k):
            plan, why = DIVIDED, NO_REGION_LEFT
        known = self._reports.get((length, plan, why))
        if known is None:
            known = self._reports[length, plan, why] = self._report(length, plan, why)
        return known

    def _report(self, length: int, plan: str, why: str) -> Report:
        whole = self.report
        return Report(
            whole.strategy,
            plan,
            why,
            executor=whole.executor,
            seconds=self._seconds(length),
            agreement=whole.agreement,
            cache=whole.cache,
        )

    def _seconds(self, length: int) -> dict[str, float]:
        share = length / self._code_points
        return {stage: spent * share for stage, spent in self.report.seconds.items()}

    @cached_property
    def _reports(self) -> dict[tuple[int, str, str], Report]:
        """Texts of one length that were encoded alike share their report."""
        return {}

    @cached_property
    def _code_points(self) -> int:
        """Code points of all texts together, 1 or more."""
        return max(1, sum(map(len, self.texts)))

    def spans(self, code_points: bool) -> SpanArray:
        """Where the final ids of all texts lie, (0, 0) for inserted ones: code points or UTF-8
        bytes of each text. LookupError if the tokenizer cannot tell."""
        seams = [self.rows[k].seams if k in self.rows else NO_SEAMS for k in range(len(self.texts))]
        spans = spans_of(self.tokenizer, self.texts, self.own, seams, code_points=code_points)
        origin = numbered(len(self.own.ids))
        if self.final is not self.own and isinstance(self.tokenizer, PostProcesses):
            origin = self.tokenizer.postprocess(Rows(origin, self.own.offsets), self.texts).ids
        return finished_spans(spans, origin)

    def _layout(self, k: int, count: int) -> IdArray:
        """`numbered(count)`, finished in the place of text `k`."""
        if self.final is self.own or not isinstance(self.tokenizer, PostProcesses):
            return numbered(count)
        if self.tokenizer.around is not None or len(self.texts) == 1:
            return alone(self.tokenizer, numbered(count), self.texts[k])
        stand_ins = numbered(len(self.own.ids)) - np.repeat(
            self.own.offsets[:-1].astype(np.uint32), np.diff(self.own.offsets)
        )
        return self.tokenizer.postprocess(Rows(stand_ins, self.own.offsets), self.texts)[k]


def in_one_call(
    text: str, tokenizer: TokenizerAdapter, report: Report, postprocess: bool = True
) -> Encoding:
    """The adapter's serial call, where it has one, and its errors; EngineError for a panic."""
    if postprocess and isinstance(tokenizer, EncodesWhole):
        return by_own_call(text, tokenizer, tokenizer.encode_whole, report)
    start = time.perf_counter()
    try:  # a list of ids, which an author may find simpler to return, is taken too
        ids = np.asarray(tokenizer.encode(text), dtype=np.uint32)
    except (Exception, *PASSING):
        raise
    except BaseException as panic:
        raise engine_error(panic, len(text)) from panic
    report = replace(report, seconds={"tokenize": time.perf_counter() - start})
    final = alone(tokenizer, ids, text) if postprocess else ids
    origin = Origin(text, tokenizer, ids, None if postprocess else numbered)
    return Encoding(frozen_ids(final), NO_SEAMS, report, origin)


def by_own_call(
    text: str, tokenizer: TokenizerAdapter, call: Callable[[str], IdArray], report: Report
) -> Encoding:
    """Encode by `call`, the engine's own, finishing included: the hot path of short texts."""
    start = time.perf_counter()
    ids = call(text)
    seconds = {"tokenize": time.perf_counter() - start}
    # `replace` takes three times as long
    timed = Report(
        report.strategy, report.plan, report.why, seconds=seconds, agreement=report.agreement
    )
    return Encoding(frozen_ids(ids), NO_SEAMS, timed, Origin(text, tokenizer, None))


def serial_report(method: str, why: str, tokenizer: TokenizerAdapter) -> Report:
    """Of a text that is encoded in one call."""
    return Report(method, "serial", why, agreement=facts_of(tokenizer).agreement)


def divided_report(report: Report) -> Report:
    """The same of a text that was divided as it is."""
    return replace(report, plan=DIVIDED, why=NO_REGION_LEFT)
