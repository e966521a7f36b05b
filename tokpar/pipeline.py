"""From texts to ids: split -> encode -> join -> finish. One text is a batch of one.

Works on plain objects; nothing here knows about plugins, names or defaults."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tokpar.encoding import Batch, Encoding
from tokpar.errors import EngineError, WorkerError
from tokpar.interfaces import ChecksText, Finishes, Remembers, TokenizerAdapter, facts_of
from tokpar.mending import Clock, Method, Watch, Work, run, seams_of_whole
from tokpar.results import TOO_SHORT, Divided, Results, in_one_call, serial_report
from tokpar.types import Report, Rows, Split, tiles


@dataclass
class Job:
    """Texts that are encoded together. `splits`: of those that are long enough, by their numbers;
    `works`: of those that are cut; `divided`: others that were divided; `rows`: those encoded by
    themselves, before finishing."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    method: Method
    watch: Watch | None
    clock: Clock = field(default_factory=Clock)
    splits: dict[int, Split] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    divided: Divided | None = None
    rows: dict[int, Encoding] = field(default_factory=dict)


def encode_batch(
    texts: Sequence[str],
    tokenizer: TokenizerAdapter,
    method: Method,
    *,
    long: Sequence[int] | None = None,
    finish: bool = True,
    watch: Watch | None = None,
) -> Batch:
    """The ids of texts, each equal to the tokenizer's own serial call.

    `long`: the numbers of the texts that may be cut, None for all. `finish=False` leaves out
    special tokens, truncation and padding. `watch` is told how a text that was cut was joined.
    Raises what the tokenizer's own call raises for the first text that it refuses, EngineError when
    it fails on a chunk; of several texts with the number of the text."""
    job = Job(texts, tokenizer, method, watch)
    may_cut = range(len(texts)) if long is None else long
    _split(job, may_cut)
    if len(texts) == 1:
        joined = _joined(job, 0)
        if joined is None:
            whole = _whole(job, 0, finish)
            return Batch(Rows.of([whole.ids]), whole.report, [whole].__getitem__)
        job.rows[0] = joined
        return _finished(job, Rows.of([joined.ids]), finish)
    try:
        plain = _encoded(job)
        for row in job.works:
            job.rows[row] = _by_itself(job, row)
    except WorkerError:
        raise
    except EngineError:  # encoding them one by one tells which one it is, and where
        plain, job.divided = Rows.of([]), None
        _split(job, may_cut)  # works that are as if nothing had been tried
        for row in range(len(texts)):
            job.rows[row] = _by_itself(job, row)
    return _finished(job, _in_order(job, plain), finish)


def _split(job: Job, long: Sequence[int]) -> None:
    """Check the texts, and ask the splitter about those that are long enough."""
    checked = range(len(job.texts)) if facts_of(job.tokenizer).forbidden else long
    if checked and isinstance(job.tokenizer, ChecksText):
        row = 0
        try:
            for row in checked:
                job.tokenizer.check_text(job.texts[row])
        except Exception as error:
            _number(error, row, job.texts)
            raise
    for row in long:
        text = job.texts[row]
        split = job.splits[row] = job.method.split(text, job.tokenizer)
        assert tiles(split.chunks, len(text)), "a splitter's cores must tile the text"
        if len(split.chunks) > 1:
            job.works[row] = Work(text, job.tokenizer, job.method, split, job.clock)
    if long:
        job.clock.lap("split")


def _encoded(job: Job) -> Rows:
    """One call of the executor for all chunks, the longest text's first, and for all texts that are
    not cut, whose rows this returns. Where pieces need spans, works encode their own chunks."""
    works = sorted(job.works.values(), key=lambda work: -len(work.text))
    opened = []
    if works and not job.method.spans(job.tokenizer):
        opened = [(work, work.open_chunks(work.split.chunks)) for work in works]
    slices: Sequence[str]
    slices = [work.text[chunk.start : chunk.stop] for work, own in opened for chunk in own]
    cut = [chunk.divisible for _, own in opened for chunk in own]
    plain, short = job.texts, np.ones(len(job.texts), dtype=np.bool_)
    short[list(job.splits)] = False
    if works:
        plain = [text for row, text in enumerate(job.texts) if row not in job.works]
        short = np.delete(short, list(job.works))
    may, licence = np.zeros(len(plain), dtype=np.bool_), None
    if job.method.divides_rows and short.any():
        from tokpar.overlap.chunks import divisible_rows  # importing tokpar does without it

        allowed, licence = divisible_rows(plain, job.tokenizer)
        may = short & allowed
    slices = [*slices, *plain] if slices else plain  # not copied: many small texts are a long list
    divisible = np.concatenate([np.array(cut, dtype=np.bool_), may])
    rows, divided = run(job.method.executor, slices, divisible, job.tokenizer)
    if licence is not None:
        flags = np.zeros(len(job.texts), dtype=np.bool_)
        flags[np.delete(np.arange(len(job.texts)), list(job.works))] = divided[len(cut) :]
        job.divided = Divided(licence, flags, seams_of_whole)
    first = 0
    for work, own in opened:
        stop = first + len(own)
        work.take(own, rows.part(first, stop), divided[first:stop])
        first = stop
    job.clock.lap("tokenize")
    return rows.part(first, len(rows))


def _by_itself(job: Job, row: int) -> Encoding:
    try:
        joined = _joined(job, row)
        return _whole(job, row, finish=False) if joined is None else joined
    except Exception as error:
        _number(error, row, job.texts)
        raise


def _joined(job: Job, row: int) -> Encoding | None:
    """A text before finishing; None if it is not cut, or its chunks cannot be joined."""
    joined = job.works[row].join() if row in job.works else None
    if joined is not None and job.watch is not None:
        job.watch(joined)
    return None if joined is None else joined.encoding


def _whole(job: Job, row: int, finish: bool) -> Encoding:
    why = job.splits[row].why if row in job.splits else TOO_SHORT
    report = serial_report(job.method.name, why, job.tokenizer)
    encoding = in_one_call(job.texts[row], job.tokenizer, report, finish)
    job.clock.lap("tokenize")
    known: dict[str, Any] = {"seconds": job.clock.seconds}
    if row in job.works:
        work = job.works[row]
        known |= {"why": work.why, "retries": work.retries, "repairs": work.repairs}
        known["redundant"] = work.tokenized
    return replace(encoding, report=replace(report, **known))


def _number(error: Exception, row: int, texts: Sequence[str]) -> None:
    """Let an error say in its message which of several texts it is about."""
    if len(texts) == 1:
        return
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason}, in text {row} of the batch"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"text {row} of the batch: {error.args[0]}", *error.args[1:])
    if isinstance(error, EngineError):
        error.row = row


def _in_order(job: Job, plain: Rows) -> Rows:
    """The ids of all texts before finishing: those in `job.rows`, and `plain` for the others."""
    if not job.rows:
        return plain
    parts = []
    done = 0
    for before, row in enumerate(sorted(job.rows)):
        parts += [plain.part(done, row - before), Rows.of([job.rows[row].ids])]
        done = row - before
    return Rows.joined([*parts, plain.part(done, len(plain))])


def _finished(job: Job, own: Rows, finish: bool) -> Batch:
    tokenizer = job.tokenizer
    finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
    final = own if finisher is None else finisher.finish(own, job.texts)
    job.clock.lap("convert")
    reports = [row.report for row in job.rows.values()]
    divided = 0 if job.divided is None else int(job.divided.flags.sum())
    plan = f"{len(job.works):,} of {len(job.texts):,} texts cut"
    report = Report(
        strategy=job.method.name,
        plan=f"{plan}, {divided:,} divided at every space" if divided else plan,
        executor=job.method.executor.name,
        chunks=len(job.texts) - len(reports) + sum(each.chunks for each in reports),
        retries=sum(each.retries for each in reports),
        repairs=sum(each.repairs for each in reports),
        redundant=sum(each.redundant for each in reports),
        seconds=job.clock.seconds,
        agreement=facts_of(tokenizer).agreement,
        memory=tokenizer.counters if isinstance(tokenizer, Remembers) else {},
    )
    whys = {row: split.why for row, split in job.splits.items()}
    results = Results(job.texts, tokenizer, own, final, job.rows, whys, report, job.divided)
    return Batch(final, results.told(0) if len(job.texts) == 1 else report, results.encoding)
