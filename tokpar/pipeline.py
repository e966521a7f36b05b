"""Turns texts into ids: split -> encode -> join -> post-process. One text is a batch of one.

The functions here take objects only. They know no plugins, no names and no defaults."""

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
    """Returns the ids of `texts`. The ids of each text equal the tokenizer's own serial call.

    `long`: the numbers of the texts that may be cut; None for all texts. `postprocess=False` leaves
    out special tokens, truncation and padding. `watch` is called once for each text whose chunks
    were joined. Raises the tokenizer's own error for the first text that the tokenizer refuses, and
    EngineError when the tokenizer fails on a chunk. With several texts, the error names the number
    of the text."""
    job = Job(texts, tokenizer, method, watch)
    long = range(len(texts)) if long is None else long
    _check(job, long)
    may_cut = recalled(job, long)
    if isinstance(may_cut, Rows):
        return _build_batch(job, may_cut, postprocess)
    _split(job, may_cut)
    if len(texts) == 1:
        encoding = _join(job, 0)
        if encoding is None:
            whole = _encode_whole(job, 0, postprocess)
            rows = Rows.of([whole.ids])
            return Batch(rows, whole.report, [whole].__getitem__, partial(_spans_of_one, whole))
        job.rows[0] = encoding
        return _build_batch(job, Rows.of([encoding.ids]), postprocess)
    try:
        parts = encoded(job)
        for row in job.works:
            job.rows[row] = _encode_alone(job, row)
    except (MismatchError, WorkerError):
        raise
    except EngineError:  # encode the texts one by one, to learn which text fails, and where
        parts, job.divided = [Rows.of([])] * (len(texts) + 1), None
        _split(job, may_cut)  # new `Work` objects, without any pieces
        for row in range(len(texts)):
            job.rows[row] = job.rows[row] if row in job.rows else _encode_alone(job, row)
    return _build_batch(job, _in_order(job, parts), postprocess)


def _check(job: Job, long: Sequence[int]) -> None:
    """Raise the error that the tokenizer's own call raises for the first text that it refuses."""
    checked = range(len(job.texts)) if facts_of(job.tokenizer).forbidden else long
    if checked and isinstance(job.tokenizer, ChecksText):
        row = 0
        try:
            for row in checked:
                job.tokenizer.check_text(job.texts[row])
        except Exception as error:
            _name_text(error, row, job.texts)
            raise


def _split(job: Job, long: Sequence[int]) -> None:
    """Ask the splitter for the chunks of each long text, and make a `Work` for each cut text."""
    for row in long:
        text = job.texts[row]
        split = job.splits[row] = job.method.split(text, job.tokenizer)
        assert tiles(split.chunks, len(text)), "a splitter's cores must tile the text"
        if len(split.chunks) > 1:
            job.works[row] = Work(text, job.tokenizer, job.method, split, job.clock)
    if long:
        job.clock.lap("split")


def _encode_alone(job: Job, row: int) -> Encoding:
    """Returns the encoding of one text before post-processing: joined, or from one serial call."""
    try:
        encoding = _join(job, row)
        return _encode_whole(job, row, postprocess=False) if encoding is None else encoding
    except Exception as error:
        _name_text(error, row, job.texts)
        raise


def _join(job: Job, row: int) -> Encoding | None:
    """Returns the encoding of a cut text before post-processing.

    None if the text is not cut, or if its chunks cannot be joined."""
    joined = job.works[row].join() if row in job.works else None
    if joined is not None and job.watch is not None:
        job.watch(joined)
    return None if joined is None else joined.encoding


def _encode_whole(job: Job, row: int, postprocess: bool) -> Encoding:
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


def _name_text(error: Exception, row: int, texts: Sequence[str]) -> None:
    """Add the number of the text to the message of `error`, if there are several texts."""
    if len(texts) == 1:
        return
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason}, in text {row} of the batch"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"text {row} of the batch: {error.args[0]}", *error.args[1:])
    if isinstance(error, EngineError):
        error.row = row


def _in_order(job: Job, parts: Sequence[Rows]) -> Rows:
    """Returns the ids of all texts, in order, before post-processing.

    `job.rows` has the texts that were encoded by themselves. `parts` has the other texts: those
    before, between and after them."""
    rows = [parts[0]]
    for row, part in zip(sorted(job.rows), parts[1:], strict=True):
        rows += [Rows.of([job.rows[row].ids]), part]
    return Rows.joined(rows)


def _build_batch(job: Job, own: Rows, postprocess: bool) -> Batch:
    """Post-process the ids of all texts, and build the `Batch` with the report of all texts."""
    tokenizer = job.tokenizer
    processor = tokenizer if postprocess and isinstance(tokenizer, PostProcesses) else None
    final = own if processor is None else processor.postprocess(own, job.texts)
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
    shown = results.report_of(0) if len(job.texts) == 1 else report
    return Batch(final, shown, results.encoding, results.spans)


def _spans_of_one(encoding: Encoding, code_points: bool) -> SpanArray:
    return encoding.char_spans if code_points else encoding.spans
