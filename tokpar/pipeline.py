"""From texts to ids: split -> encode -> join -> finish. One text is a batch of one.

Works on plain objects; nothing here knows about plugins, names or defaults."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tokpar.arrays import SpanArray
from tokpar.encoding import Batch, Encoding
from tokpar.errors import EngineError, MismatchError, WorkerError
from tokpar.interfaces import ChecksText, HasSegmentCache, PostProcesses, TokenizerAdapter, facts_of
from tokpar.job import Job, encoded, recalled
from tokpar.joining import Method, Watch, Work
from tokpar.results import DIVIDED, Results, in_one_call, serial_report
from tokpar.types import Report, Rows, tiles


def encode_batch(
    texts: Sequence[str],
    tokenizer: TokenizerAdapter,
    method: Method,
    *,
    long: Sequence[int] | None = None,
    postprocess: bool = True,
    watch: Watch | None = None,
) -> Batch:
    """The ids of texts, each equal to the tokenizer's own serial call.

    `long`: the numbers of the texts that may be cut, None for all. `postprocess=False` leaves out
    special tokens, truncation and padding. `watch` is told how a text that was cut was joined.
    Raises what the tokenizer's own call raises for the first text that it refuses, EngineError when
    it fails on a chunk; of several texts with the number of the text."""
    job = Job(texts, tokenizer, method, watch)
    long = range(len(texts)) if long is None else long
    _check(job, long)
    may_cut = recalled(job, long)
    if isinstance(may_cut, Rows):
        return _finished(job, may_cut, postprocess)
    _split(job, may_cut)
    if len(texts) == 1:
        joined = _joined(job, 0)
        if joined is None:
            whole = _whole(job, 0, postprocess)
            rows = Rows.of([whole.ids])
            return Batch(rows, whole.report, [whole].__getitem__, partial(_spans_of_one, whole))
        job.rows[0] = joined
        return _finished(job, Rows.of([joined.ids]), postprocess)
    try:
        parts = encoded(job)
        for row in job.works:
            job.rows[row] = _by_itself(job, row)
    except (MismatchError, WorkerError):
        raise
    except EngineError:  # encoding them one by one tells which one it is, and where
        parts, job.divided = [Rows.of([])] * (len(texts) + 1), None
        _split(job, may_cut)  # works that are as if nothing had been tried
        for row in range(len(texts)):
            job.rows[row] = job.rows[row] if row in job.rows else _by_itself(job, row)
    return _finished(job, _in_order(job, parts), postprocess)


def _check(job: Job, long: Sequence[int]) -> None:
    """Raises what the tokenizer's own call would."""
    checked = range(len(job.texts)) if facts_of(job.tokenizer).forbidden else long
    if checked and isinstance(job.tokenizer, ChecksText):
        row = 0
        try:
            for row in checked:
                job.tokenizer.check_text(job.texts[row])
        except Exception as error:
            _number(error, row, job.texts)
            raise


def _split(job: Job, long: Sequence[int]) -> None:
    """Ask the splitter about the texts that are long enough."""
    for row in long:
        text = job.texts[row]
        split = job.splits[row] = job.method.split(text, job.tokenizer)
        assert tiles(split.chunks, len(text)), "a splitter's cores must tile the text"
        if len(split.chunks) > 1:
            job.works[row] = Work(text, job.tokenizer, job.method, split, job.clock)
    if long:
        job.clock.lap("split")


def _by_itself(job: Job, row: int) -> Encoding:
    try:
        joined = _joined(job, row)
        return _whole(job, row, postprocess=False) if joined is None else joined
    except Exception as error:
        _number(error, row, job.texts)
        raise


def _joined(job: Job, row: int) -> Encoding | None:
    """A text before finishing; None if it is not cut, or its chunks cannot be joined."""
    joined = job.works[row].join() if row in job.works else None
    if joined is not None and job.watch is not None:
        job.watch(joined)
    return None if joined is None else joined.encoding


def _whole(job: Job, row: int, postprocess: bool) -> Encoding:
    why = job.splits[row].why if row in job.splits else job.method.uncut
    report = serial_report(job.method.name, why, job.tokenizer)
    encoding = in_one_call(job.texts[row], job.tokenizer, report, postprocess)
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


def _in_order(job: Job, parts: Sequence[Rows]) -> Rows:
    """The ids of all texts before finishing: those in `job.rows`, and `parts` between them."""
    rows = [parts[0]]
    for row, part in zip(sorted(job.rows), parts[1:], strict=True):
        rows += [Rows.of([job.rows[row].ids]), part]
    return Rows.joined(rows)


def _finished(job: Job, own: Rows, postprocess: bool) -> Batch:
    tokenizer = job.tokenizer
    finisher = tokenizer if postprocess and isinstance(tokenizer, PostProcesses) else None
    final = own if finisher is None else finisher.postprocess(own, job.texts)
    job.clock.lap("convert")
    reports = [row.report for row in job.rows.values()]
    divided = sum(each.plan == DIVIDED for each in reports)
    divided += 0 if job.divided is None else int(job.divided.flags.sum())
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
        cache=tokenizer.counters if isinstance(tokenizer, HasSegmentCache) else {},
    )
    whys = {row: split.why for row, split in job.splits.items()}
    uncut = job.method.uncut
    results = Results(job.texts, tokenizer, own, final, job.rows, whys, report, job.divided, uncut)
    told = results.told(0) if len(job.texts) == 1 else report
    return Batch(final, told, results.encoding, results.spans)


def _spans_of_one(encoding: Encoding, code_points: bool) -> SpanArray:
    return encoding.char_spans if code_points else encoding.spans
