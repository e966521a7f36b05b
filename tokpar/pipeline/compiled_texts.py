"""The results of texts that the compiled call encoded: seams and reports are made on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.compiled.front import Front
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.pipeline.call_result import BY_CALL, ONE_CALL, divided_report
from tokpar.pipeline.chunks_at_cuts import licence_for
from tokpar.pipeline.joining import seams_of_cuts, seams_of_wholes
from tokpar.results.adding_up import parts_between, place_seams
from tokpar.results.encoding import Batch, Encoding
from tokpar.results.final_rows import FinalRows, final_of_each
from tokpar.results.seams import NO_SEAMS, Seams
from tokpar.results.spans import SpanOrigin
from tokpar.results.text_counts import COMPILED
from tokpar.types import Report, Rows, Seam

SEAM_CHARS = 1 << 12
"""Code points between two seams of a text that is not divided at every space."""


@dataclass(frozen=True, slots=True, eq=False)
class CallFacts:
    """What the rows of one call share. Keeps no text alive.

    `report`: that of a text without seams. `seconds`: that the call took. `smallest`: code points
    from which on a text has seams."""

    tokenizer: TokenizerAdapter
    front: Front
    report: Report
    seconds: float
    smallest: int

    def report_of(self, **changes: Any) -> Report:
        """Returns the report with the seconds of the call and other `changes`."""
        return replace(self.report, seconds={"tokenize": self.seconds}, **changes)


@dataclass(slots=True, eq=False)
class CompiledRow:
    """One text that the compiled call encoded. Makes the seams, the report and the origin of its
    `Encoding`.

    `own`: the ids before post-processing. `layout`: see `SpanOrigin`; it may keep a whole
    batch alive. A long text has seams at every sure space, where a licence for whole texts holds;
    else at the first certified cut at `SEAM_CHARS` or more after the one before."""

    text: str
    own: IdArray
    call_facts: CallFacts
    layout: Callable[[int], IdArray] | None = None
    _seams_and_report: tuple[Seams, Report] | None = None

    @property
    def lossless(self) -> bool:
        """True: each seam of the text is a certified cut, wherever the seams will be placed."""
        return True

    @property
    def seams(self) -> Seams:
        return self._made()[0]

    @property
    def report(self) -> Report:
        return self._made()[1]

    @property
    def origin(self) -> SpanOrigin:
        return SpanOrigin(self.text, self.call_facts.tokenizer, self.own, self.layout)

    def without_batch(self) -> CompiledRow:
        """Returns this row without the rest of the batch, post-processed as a single text."""
        return replace(self, own=self.own.copy(), layout=None)

    def _made(self) -> tuple[Seams, Report]:
        if self._seams_and_report is None:
            report = self.call_facts.report_of()
            is_long = len(self.text) >= self.call_facts.smallest
            self._seams_and_report = self._long(report) if is_long else (NO_SEAMS, report)
        return self._seams_and_report

    def _long(self, report: Report) -> tuple[Seams, Report]:
        """Returns the seams and the report of a long text. `report`: that of a short one."""
        tokenizer = self.call_facts.tokenizer
        licence = licence_for(tokenizer, self.text)
        if licence is not None:
            everywhere = seams_of_wholes(tokenizer, licence)(self.text, len(self.own))
            return everywhere, divided_report(report)
        report, placed = replace(report, why=BY_CALL), self._placed_seams()
        if not placed:
            return NO_SEAMS, report
        return seams_of_cuts(tokenizer, placed), replace(report, chunks=len(placed) + 1)

    def _placed_seams(self) -> Sequence[Seam]:
        """Returns seams with the number of ids before each; none if the call, asked for the parts
        of the text, gives other ids."""
        finder = finder_for(facts_of(self.call_facts.tokenizer))
        cuts = [] if finder.refusal_for(self.text) else finder.find_each(self.text, SEAM_CHARS)
        if not cuts:
            return ()
        parts = [part.slice_of(self.text) for part in parts_between(cuts, len(self.text))]
        found = self.call_facts.front.many(parts)
        if found is None or not all(found[1]) or not np.array_equal(found[0].ids, self.own):
            return ()
        return [*place_seams(cuts, found[0].offsets)]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledBatch:
    """Texts that were all encoded by the compiled call: makes the `Batch` of their rows."""

    rows: FinalRows
    call_facts: CallFacts

    def batch(self) -> Batch:
        """Returns the results of the texts, with the report of all texts together."""
        count = len(self.rows.texts)
        plan = ONE_CALL if count == 1 else f"{count:,} texts, each by {ONE_CALL}"
        report = self.call_facts.report_of(plan=plan, why=BY_CALL, chunks=count)
        final, ways = self.rows.final, {COMPILED: count}
        return Batch(final, report, self.encoding, self.spans, ways, self.rows.padding)

    def encoding(self, k: int) -> Encoding:
        """Returns the encoding of text `k`."""
        return Encoding(self.rows.ids(k), partial(self._row, k))

    def spans(self, code_points: bool) -> SpanArray:
        """Returns the spans of the final ids of all texts; see `FinalRows.spans`."""
        return self.rows.spans(None, code_points)

    def _row(self, k: int) -> CompiledRow:
        rows = self.rows
        return CompiledRow(rows.texts[k], rows.own[k], self.call_facts, partial(rows.layout, k))


def compiled_batch(
    texts: Sequence[str], own: Rows, call_facts: CallFacts, post: PostProcesses | None
) -> Batch:
    """Returns the batch of texts that have the ids `own` before post-processing. `post`: see
    `FinalRows.of`."""
    rows = FinalRows.of(texts, call_facts.tokenizer, own, post)
    return CompiledBatch(rows, call_facts).batch()


def each_compiled(
    texts: Sequence[str], own: Rows, call_facts: CallFacts, post: PostProcesses | None
) -> Callable[[int], Encoding]:
    """Returns a function that returns the encoding of text k, as if it was encoded alone: it keeps
    no other text alive. The arguments are those of `compiled_batch`."""
    final = final_of_each(texts, own, post)

    def encoding(k: int) -> Encoding:
        return Encoding(final(k), partial(CompiledRow, texts[k], own[k].copy(), call_facts))

    return encoding
