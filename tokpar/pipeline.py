"""From texts to ids: split -> encode -> join -> finish. One text is a batch of one.

Works on plain objects; nothing here knows about plugins, names or defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tokpar.encoding import Batch, Encoding
from tokpar.errors import EngineError, WorkerError
from tokpar.executors.serial import PASSING
from tokpar.interfaces import ChecksText, Finishes, TokenizerAdapter, facts_of
from tokpar.kernels import IdArray, IntArray, concatenate_ids, offsets_of
from tokpar.mending import Clock, Method, Watch, Work, run
from tokpar.results import TOO_SHORT, Results, Row, in_one_call, serial_report
from tokpar.types import Report, Rows, Split, tiles


@dataclass
class Job:
    """Texts that are encoded together. `splits`: of those that are long enough, by their numbers;
    `works`: of those that are cut; `rows`: what became of these."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    method: Method
    smallest: int
    clock: Clock = field(default_factory=Clock)
    splits: dict[int, Split] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)


def encode(
    text: str,
    tokenizer: TokenizerAdapter,
    method: Method,
    *,
    finish: bool = True,
    watch: Watch | None = None,
) -> Encoding:
    """`encode_batch` of one text."""
    return encode_batch([text], tokenizer, method, finish=finish, watch=watch)[0]


def encode_batch(
    texts: Sequence[str],
    tokenizer: TokenizerAdapter,
    method: Method,
    *,
    smallest: int = 0,
    finish: bool = True,
    watch: Watch | None = None,
) -> Batch:
    """The ids of texts, each equal to the tokenizer's own serial call.

    Texts below `smallest` code points are not cut. `finish=False` leaves out special tokens,
    truncation and padding. `watch` is told how a text that was cut was joined. Raises what the
    tokenizer's own call raises for the first text that it refuses, EngineError when it fails on a
    chunk; of several texts with the number of the text.
    """
    job = Job(texts, tokenizer, method, smallest)
    _split(job)
    if len(texts) == 1:
        return _alone(job, finish, watch)
    try:
        plain = _encoded(job)
        for row, work in job.works.items():
            job.rows[row] = _joined(work, watch) or _unfinished(job, row)
    except WorkerError:
        raise
    except EngineError:  # encoding them one by one tells which one it is, and where
        plain = Rows.of([])
        for row in range(len(texts)):
            job.rows[row] = _unfinished(job, row)
    return _finished(job, _in_order(job, plain), finish)


def _split(job: Job) -> None:
    """Ask the splitter about the texts that are long enough."""
    if facts_of(job.tokenizer).forbidden:
        _check(job, range(len(job.texts)))
    if max(map(len, job.texts), default=0) < job.smallest:
        return
    long = [row for row, text in enumerate(job.texts) if len(text) >= job.smallest]
    _check(job, long)
    for row in long:
        text = job.texts[row]
        split = job.splits[row] = job.method.split(text, job.tokenizer)
        assert tiles(split.chunks, len(text)), "a splitter's cores must tile the text"
        if len(split.chunks) > 1:
            job.works[row] = Work(text, job.tokenizer, job.method, split, job.clock)
    job.clock.lap("split")


def _check(job: Job, rows: Iterable[int]) -> None:
    if not isinstance(job.tokenizer, ChecksText):
        return
    row = 0
    try:
        for row in rows:
            job.tokenizer.check_text(job.texts[row])
    except Exception as error:
        raise _numbered(error, row, job.texts) from error.__cause__


def _alone(job: Job, finish: bool, watch: Watch | None) -> Batch:
    """One text: cut, or encoded by the tokenizer's own call."""
    work = job.works.get(0)
    row = None if work is None else _joined(work, watch)
    if row is not None:
        job.rows[0] = row
        return _finished(job, Rows.of([row.ids]), finish)
    why = job.splits[0].why if job.splits else TOO_SHORT
    report = serial_report(job.method.name, why if work is None else work.why, job.tokenizer)
    encoding = in_one_call(job.texts[0], job.tokenizer, report, finish)
    report = encoding.report if work is None else work.added_to(encoding.report)
    seconds = {**job.clock.seconds, **report.seconds}
    encoding = replace(encoding, report=replace(report, seconds=seconds))
    return Batch(Rows.of([encoding.ids]), encoding.report, [encoding].__getitem__)


def _encoded(job: Job) -> Rows:
    """One call of the executor for all chunks, the longest text's first, and for all texts that are
    not cut, whose rows this returns. Works that go by spans encode their chunks themselves."""
    if not job.works:
        rows, _ = run(job.method.executor, job.texts, (), job.tokenizer)
        job.clock.lap("tokenize")
        return rows
    works = sorted(job.works.values(), key=lambda work: -len(work.text))
    opened = [(work, work.open_chunks()) for work in works if not work.spans]
    slices = [work.text[chunk.start : chunk.stop] for work, own in opened for chunk in own]
    divisible = [chunk.divisible for _, own in opened for chunk in own]
    plain = [text for row, text in enumerate(job.texts) if row not in job.works]
    divisible += [False] * len(plain)
    rows, divided = run(job.method.executor, slices + plain, divisible, job.tokenizer)
    first = 0
    for work, own in opened:
        stop = first + len(own)
        work.take(own, rows.part(first, stop), divided[first:stop])
        first = stop
    job.clock.lap("tokenize")
    return rows.part(first, len(rows))


def _joined(work: Work, watch: Watch | None) -> Row | None:
    """What became of a text that was cut; None where its chunks cannot be joined."""
    joined = work.join()
    if joined is None:
        return None
    if watch is not None:
        watch(joined)
    return Row(joined.ids, joined.seams, work.report(joined))


def _unfinished(job: Job, row: int) -> Row:
    """A text of several, encoded by itself."""
    text = job.texts[row]
    try:
        if row in job.works:
            again = Work(text, job.tokenizer, job.method, job.splits[row], Clock())
            found = _joined(again, None)
            if found is not None:
                return found
        why = job.splits[row].why if row in job.splits else TOO_SHORT
        report = serial_report(job.method.name, why, job.tokenizer)
        whole = in_one_call(text, job.tokenizer, report, finish=False)
    except PASSING:
        raise
    except BaseException as error:
        raise _numbered(error, row, job.texts) from error.__cause__
    return Row(whole.ids, whole.seams, whole.report)


def _numbered(error: BaseException, row: int, texts: Sequence[str]) -> BaseException:
    """The same error, which says in its message which of several texts it is about."""
    if len(texts) == 1:
        return error
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason}, in text {row} of the batch"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"text {row} of the batch: {error.args[0]}", *error.args[1:])
    if isinstance(error, EngineError):
        error.row = row
    return error


def _in_order(job: Job, plain: Rows) -> Rows:
    """The ids of all texts before finishing: those in `job.rows`, and `plain` for the others."""
    if not job.rows:
        return plain
    parts: list[IdArray] = []
    lengths: list[IntArray] = []
    done = 0
    for before, row in enumerate(sorted(job.rows)):
        gap = plain.part(done, row - before)
        parts += [gap.ids, job.rows[row].ids]
        lengths += [np.diff(gap.offsets), np.array([len(job.rows[row].ids)], dtype=np.int64)]
        done = row - before
    rest = plain.part(done, len(plain))
    offsets = offsets_of(np.concatenate([*lengths, np.diff(rest.offsets)]))
    return Rows(concatenate_ids([*parts, rest.ids]), offsets)


def _finished(job: Job, own: Rows, finish: bool) -> Batch:
    tokenizer = job.tokenizer
    finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
    final = own if finisher is None else finisher.finish(own, job.texts)
    job.clock.lap("convert")
    report = Report(
        strategy=job.method.name,
        plan=f"{len(job.works):,} of {len(job.texts):,} texts cut",
        executor=job.method.executor.name,
        chunks=len(job.texts) - len(job.rows) + sum(r.report.chunks for r in job.rows.values()),
        retries=sum(row.report.retries for row in job.rows.values()),
        repairs=sum(row.report.repairs for row in job.rows.values()),
        redundant=sum(row.report.redundant for row in job.rows.values()),
        seconds=job.clock.seconds,
        agreement=facts_of(tokenizer).agreement,
    )
    whys = {row: split.why for row, split in job.splits.items()}
    results = Results(job.texts, tokenizer, own, final, job.rows, whys, report)
    return Batch(final, results.told(0) if len(job.texts) == 1 else report, results.encoding)
