"""From texts to ids: split -> encode -> join -> finish. One text is a batch of one.

Works on plain objects; nothing here knows about plugins, names or defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.encoding import Batch, Encoding
from tokpar.errors import EngineError, WorkerError
from tokpar.interfaces import ChecksText, Finishes, Remembers, TokenizerAdapter, facts_of
from tokpar.mending import Clock, Method, Watch, Work, run, seams_of_whole
from tokpar.results import TOO_SHORT, Divided, Results, in_one_call, serial_report
from tokpar.types import Chunk, Report, Rows, Seam, Split, tiles


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
        parts = _encoded(job)
        for row in job.works:
            job.rows[row] = _by_itself(job, row)
    except WorkerError:
        raise
    except EngineError:  # encoding them one by one tells which one it is, and where
        parts, job.divided = [Rows.of([])] * (len(texts) + 1), None
        _split(job, may_cut)  # works that are as if nothing had been tried
        for row in range(len(texts)):
            job.rows[row] = _by_itself(job, row)
    return _finished(job, _in_order(job, parts), finish)


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


def _encoded(job: Job) -> list[Rows]:
    """One call of the executor for all chunks and all texts that are not cut, in the order of the
    texts; the rows of the latter before, between and behind those that are cut. Where pieces need
    spans, works encode their own chunks."""
    opened: dict[int, list[Chunk]] = {row: [] for row in sorted(job.works)}
    if job.works and not job.method.spans(job.tokenizer):
        opened = {row: job.works[row].open_chunks(job.works[row].split.chunks) for row in opened}
    may, licence = _divisible(job)
    slices, divisible = job.texts, may  # not copied: many small texts are a long list
    if opened:
        slices, divisible = _with_chunks(job, opened, may)
    rows, divided = run(job.method.executor, slices, divisible, job.tokenizer)
    parts, flags = [], np.zeros(len(job.texts), dtype=np.bool_)
    first = done = 0
    for row, own in opened.items():
        stop = first + row - done
        parts.append(rows.part(first, stop))
        flags[done:row] = divided[first:stop]
        first, done = stop + len(own), row + 1
        job.works[row].take(own, rows.part(stop, first), divided[stop:first])
    parts.append(rows.part(first, len(rows)))
    flags[done:] = divided[first:]
    if licence is not None:
        job.divided = Divided(licence, flags, seams_of_whole)
    job.clock.lap("tokenize")
    return parts


def _divisible(job: Job) -> tuple[NDArray[np.bool_], Seam | None]:
    """Which texts may be divided as they are, of those that the splitter was not asked about, and
    what licenses that."""
    short = np.ones(len(job.texts), dtype=np.bool_)
    short[list(job.splits)] = False
    if not job.method.divides_rows or not short.any():
        return np.zeros_like(short), None
    from tokpar.overlap.chunks import divisible_rows  # importing tokpar does without it

    plain = [text for row, text in enumerate(job.texts) if row not in job.works]
    uncut = np.ones_like(short)
    uncut[list(job.works)] = False
    allowed, licence = divisible_rows(plain if job.works else job.texts, job.tokenizer)
    short[uncut] &= allowed
    return short, licence


def _with_chunks(
    job: Job, opened: Mapping[int, Sequence[Chunk]], may: NDArray[np.bool_]
) -> tuple[list[str], NDArray[np.bool_]]:
    """The texts, chunks in the place of those that are cut, and which of these and those may be
    divided."""
    slices: list[str] = []
    flags: list[NDArray[np.bool_]] = []
    done = 0
    for row, own in opened.items():
        text = job.texts[row]
        slices += job.texts[done:row]
        slices += [text[chunk.start : chunk.stop] for chunk in own]
        flags += [may[done:row], np.array([chunk.divisible for chunk in own], dtype=np.bool_)]
        done = row + 1
    slices += job.texts[done:]
    return slices, np.concatenate([*flags, may[done:]])


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


def _in_order(job: Job, parts: Sequence[Rows]) -> Rows:
    """The ids of all texts before finishing: those in `job.rows`, and `parts` between them."""
    rows = [parts[0]]
    for row, part in zip(sorted(job.rows), parts[1:], strict=True):
        rows += [Rows.of([job.rows[row].ids]), part]
    return Rows.joined(rows)


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
