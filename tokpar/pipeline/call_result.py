"""The result of a call: post-processes the ids, and builds the `Batch` and its `Encoding` rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray, frozen_ids, lengths_of
from tokpar.contract.adapter import own_call_of, why_not_compiled
from tokpar.contract.interfaces import CachedRows, PostProcesses, TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.executors.serial_executor import engine_error
from tokpar.pipeline.chunks_at_cuts import licence_for
from tokpar.pipeline.joining import seams_of_wholes
from tokpar.pipeline.plan import Plan
from tokpar.process.cached_property import cached_property
from tokpar.process.interrupts import is_foreign, raise_foreign
from tokpar.results.encoding import Batch, Clock, Encoding, KnownRow, OwnPadding
from tokpar.results.final_rows import FinalRows
from tokpar.results.seams import NO_SEAMS, Seams
from tokpar.results.spans import (
    SpanOrigin,
    postprocess_own,
    stand_in_ids,
)
from tokpar.results.text_counts import COMPILED, CUT, ENGINE
from tokpar.types import Report, Rows, Seam

DIVIDED = "divided at every space"
ONE_CALL = "one compiled call"
"""The plan of a text that the compiled call encoded, and why it was not cut."""
BY_CALL = "the compiled call encoded it, word by word between sure cuts"
NO_REGION_LEFT = "no region is left"
NO_ROWS, NO_REPORT = Rows.of([]), Report("")


@dataclass(frozen=True, slots=True, eq=False)
class BatchFacts:
    """What the rows of one batch share. Keeps no text alive. `whole`: see `Plan`. `code_points`: of
    all texts, at least 1."""

    tokenizer: TokenizerAdapter
    report: Report
    whole: bool
    code_points: int


@dataclass(slots=True, eq=False)
class BatchRow:
    """One text of a batch. Makes the seams, the report and the origin of its `Encoding`.

    `own`: the ids before post-processing. `why`: why the text was not cut. `by_call`: the compiled
    call encoded the text.
    `seams_and_report`: those of a text that was encoded by itself. `layout`: see `SpanOrigin`; it
    may keep the whole batch alive."""

    text: str
    own: IdArray
    batch_facts: BatchFacts
    why: str
    by_call: bool
    seams_and_report: tuple[Seams, Report] | None
    layout: Callable[[int], IdArray] | None

    @property
    def seams(self) -> Seams:
        licence = self._licence
        if licence is not None:
            return seams_of_wholes(self.batch_facts.tokenizer, licence)(self.text, len(self.own))
        return NO_SEAMS if self.seams_and_report is None else self.seams_and_report[0]

    @property
    def lossless(self) -> bool:
        return self.seams.lossless

    @property
    def _licence(self) -> Seam | None:
        """The seam that divides the text at every certified space, or None."""
        was_cut = self.seams_and_report is not None and self.seams_and_report[1].chunks > 1
        divides = self.by_call or (self.batch_facts.whole and was_cut)
        if not divides or not self.text:  # an empty text has no region to divide
            return None
        return licence_for(self.batch_facts.tokenizer, self.text)

    @property
    def origin(self) -> SpanOrigin:
        return SpanOrigin(self.text, self.batch_facts.tokenizer, self.own, self.layout)

    @property
    def report(self) -> Report:
        whole = self.batch_facts.report
        share = len(self.text) / self.batch_facts.code_points
        seconds = {stage: spent * share for stage, spent in whole.seconds.items()}
        if self.seams_and_report is not None:
            own = self.seams_and_report[1]
            if self._licence is not None:
                own = replace(own, plan=DIVIDED, why=NO_REGION_LEFT)
            return replace(
                own,
                seconds=seconds,
                why_not_compiled=whole.why_not_compiled,
            )
        plan, why = (ONE_CALL, BY_CALL) if self.by_call else ("serial", self.why)
        if self._licence is not None:
            plan, why = DIVIDED, NO_REGION_LEFT
        return Report(
            whole.strategy,
            plan,
            why,
            executor=whole.executor,
            seconds=seconds,
            agreement=whole.agreement,
            why_not_compiled=whole.why_not_compiled,
        )

    def without_batch(self) -> BatchRow:
        """Returns this row without the rest of the batch, post-processed as a single text."""
        return replace(self, own=self.own.copy(), layout=None)


@dataclass(eq=False)
class Result:
    """The texts of one call, and what is known of their ids so far. The pipeline fills it in.

    `compiled`: True for each text that the compiled call answered; bool, (texts,). `final`: the ids
    of all texts. `whys`: why the splitter did not cut a text, by the number of the text.
    `encodings`: the encodings of texts that were cut, or encoded by themselves, before
    post-processing. `report`: the report of all texts together."""

    texts: Sequence[str]
    plan: Plan
    compiled: NDArray[np.bool_]
    final: FinalRows
    clock: Clock = field(default_factory=Clock)
    whys: dict[int, str] = field(default_factory=dict)
    encodings: dict[int, Encoding] = field(default_factory=dict)
    report: Report = NO_REPORT

    @classmethod
    def of(cls, texts: Sequence[str], plan: Plan, compiled: CachedRows | None) -> Result:
        """Returns a result without ids that knows which texts the compiled call answered."""
        by_call = np.zeros(len(texts), dtype=np.bool_)
        if compiled is not None:
            by_call |= compiled[1]
        return cls(texts, plan, by_call, FinalRows(texts, plan.tokenizer, NO_ROWS, NO_ROWS))

    def batch(self, own: Rows, postprocess: bool) -> Batch:
        """Post-process the ids `own` of all texts. Returns them with the report of all texts."""
        plan = self.plan
        post = plan.postprocesses if postprocess else None
        self.final = FinalRows.of(self.texts, plan.tokenizer, own, post)
        self.clock.lap("convert")
        if getattr(plan.executor, "answered_by_call", False):
            rest = ~self.compiled
            rest[list(self.encodings)] = False
            self.compiled |= rest
        self.report = Report(
            strategy=plan.name,
            executor=plan.executor.name,
            chunks=len(self.texts),
            seconds=self.clock.seconds,
            agreement=plan.traits.agreement,
            why_not_compiled=why_not_compiled(plan.tokenizer),
        )
        self.report = self._row(0).report if len(self.texts) == 1 else self._added_up()
        ways, padding = self._ways(), self.final.padding
        return Batch(self.final.final, self.report, self.encoding, self.spans, ways, padding)

    def _ways(self) -> dict[str, int]:
        """Returns how many texts were encoded in each way."""
        compiled = int(self.compiled.sum())
        cut = sum(encoding.report.chunks > 1 for encoding in self.encodings.values())
        return {COMPILED: compiled, CUT: cut, ENGINE: len(self.texts) - compiled - cut}

    def _added_up(self) -> Report:
        reports = [encoding.report for encoding in self.encodings.values()]
        cut = sum(each.chunks > 1 for each in reports)
        return replace(
            self.report,
            plan=f"{cut:,} of {len(self.texts):,} texts cut",
            chunks=len(self.texts) + sum(each.chunks - 1 for each in reports),
            retries=sum(each.retries for each in reports),
            repairs=sum(each.repairs for each in reports),
            redundant=sum(each.redundant for each in reports),
        )

    def encoding(self, k: int) -> Encoding:
        """Returns the encoding of text `k`. Seams and report are made when a caller asks."""
        return Encoding(self.final.ids(k), partial(self._row, k))

    def _row(self, k: int) -> BatchRow:
        joined = self.encodings.get(k)
        return BatchRow(
            self.texts[k],
            self.final.own[k],
            self._batch_facts,
            self.whys.get(k, self.plan.uncut),
            bool(self.compiled[k]),
            None if joined is None else (joined.seams, joined.report),
            partial(self.final.layout, k),
        )

    @cached_property
    def _batch_facts(self) -> BatchFacts:
        code_points = max(1, int(lengths_of(self.texts).sum()))
        return BatchFacts(self.plan.tokenizer, self.report, self.plan.whole, code_points)

    def spans(self, code_points: bool) -> SpanArray:
        """Returns the spans of the final ids of all texts; see `FinalRows.spans`."""
        known = self.encodings
        seams = [known[k].seams if k in known else NO_SEAMS for k in range(len(self.texts))]
        return self.final.spans(seams, code_points)


def encode_in_one_call(
    text: str, tokenizer: TokenizerAdapter, report: Report, postprocess: bool = True
) -> Encoding:
    """Encode `text` by one serial call of the adapter, and raise the errors of that call.

    A panic of the engine is raised as EngineError."""
    own_call = own_call_of(tokenizer) if postprocess else None
    if own_call is not None:
        return encode_by_own_call(text, tokenizer, own_call, report)
    start = time.perf_counter()
    try:  # `encode` of a user's adapter may return a list of ids
        ids = np.asarray(tokenizer.encode(text), dtype=np.uint32)
    except Exception:
        raise
    except BaseException as panic:
        raise_foreign(panic)
        raise engine_error(panic, len(text)) from panic
    report = replace(report, seconds={"tokenize": time.perf_counter() - start})
    final = ids
    if postprocess and isinstance(tokenizer, PostProcesses):
        final = postprocess_own(tokenizer, Rows.of([ids]), [text])[0]
    origin = SpanOrigin(text, tokenizer, ids, None if postprocess else stand_in_ids)
    return Encoding.of(frozen_ids(final), NO_SEAMS, report, origin)


def encode_by_own_call(
    text: str, tokenizer: TokenizerAdapter, call: Callable[[str], IdArray], report: Report
) -> Encoding:
    """Encode `text` by the engine's own `call`, which post-processes too.

    Short texts take this path, so every microsecond counts."""
    start = time.perf_counter()
    ids = call(text)
    seconds = time.perf_counter() - start
    made_of = text, tokenizer, report, seconds, why_not_compiled(tokenizer)
    return Encoding(frozen_ids(ids), partial(_own_row, *made_of))


def _own_row(
    text: str, tokenizer: TokenizerAdapter, report: Report, seconds: float, why: str
) -> KnownRow:
    timed = replace(report, seconds={"tokenize": seconds}, why_not_compiled=why)
    return KnownRow(NO_SEAMS, timed, SpanOrigin(text, tokenizer, None))


def divided_report(report: Report) -> Report:
    """Returns `report` as the report of a text that was divided without the splitter."""
    return replace(report, plan=DIVIDED, why=NO_REGION_LEFT)


def batch_of_one(encoding: Encoding, postprocess: bool) -> Batch:
    """Returns the batch of the only text of a call. `postprocess`: its ids were post-processed."""
    rows, spans = Rows.of([encoding.ids]), partial(_spans_of_one, encoding)
    padding = partial(_padding_of_one, encoding) if postprocess else None
    return Batch(rows, encoding.report, [encoding].__getitem__, spans, {ENGINE: 1}, padding)


def _padding_of_one(encoding: Encoding) -> OwnPadding | None:
    from tokpar.results.own_padding import padding_of_one  # few callers ask for it

    return padding_of_one(encoding)


def _spans_of_one(encoding: Encoding, code_points: bool) -> SpanArray:
    return encoding.char_spans if code_points else encoding.spans


def check_texts(texts: Sequence[str], plan: Plan, long: Sequence[int]) -> None:
    """Raise the error that the tokenizer's own call raises for the first text that it refuses.

    `long`: the numbers of the texts that may be cut."""
    traits = plan.traits
    checked = long
    if traits.forbidden:
        from tokpar.compiled.utf8_texts import to_check  # importing tokpar does without it

        checked = to_check(texts, traits.forbidden, long)
    if checked and traits.check_text is not None:
        row = 0
        try:
            for row in checked:
                traits.check_text(texts[row])
        except Exception as error:
            name_text(error, row, f"text {row} of the batch" * (len(texts) > 1))
            raise


def name_text(error: Exception, row: int, label: str) -> None:
    """Begin the message of an engine's `error` with the label of its text, number `row`; not with
    an empty label."""
    if not label or is_foreign(error):
        return
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason}, in {label}"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{label}: {error.args[0]}", *error.args[1:])
    if isinstance(error, EngineError):
        error.row = row
