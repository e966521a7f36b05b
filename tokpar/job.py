"""Texts that are encoded together: from a cache, or by one call of the executor for them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tokpar.encoding import Encoding
from tokpar.interfaces import Recalls, TokenizerAdapter, facts_of
from tokpar.joining import Clock, Method, Watch, Work, run, seams_of_wholes
from tokpar.results import Divided, divided_report, serial_report
from tokpar.types import Chunk, Rows, Seam, Split


@dataclass
class Job:
    """Texts that are encoded together. `splits`: of those that are long enough, by their numbers;
    `works`: of those that are cut; `divided`: others that were divided; `rows`: those encoded by
    themselves, before finishing; `asked`: a cache that is asked once for a call has been."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    method: Method
    watch: Watch | None
    clock: Clock = field(default_factory=Clock)
    splits: dict[int, Split] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    divided: Divided | None = None
    rows: dict[int, Encoding] = field(default_factory=dict)
    asked: bool = False


def recalled(job: Job, long: Sequence[int]) -> Rows | list[int]:
    """The rows of all texts, where the cache has them all; else those of the long texts that are
    left to be cut. The other long ones are as good as encoded by themselves."""
    executor, tokenizer = job.method.executor, job.tokenizer
    whole = job.method.whole and job.method.divides_rows and job.watch is None
    if not (whole and long and isinstance(executor, Recalls)):
        return list(long)
    from tokpar.cache.text_arrays import lengths_of  # importing tokpar does without these
    from tokpar.overlap.chunks import licence_of_rows

    licence = licence_of_rows(tokenizer)
    if licence is None:
        return list(long)
    job.asked = facts_of(tokenizer).has_own_cache
    rows, flags = executor.recall(job.texts, tokenizer)
    job.clock.lap("tokenize")
    seams_of = seams_of_wholes(tokenizer, licence)
    if np.all(flags):
        job.divided = Divided(lengths_of(job.texts) > 0, seams_of)
        return rows
    for row in long:
        if flags[row] and job.texts[row]:
            seams = seams_of(job.texts[row], len(rows[row]))
            report = divided_report(serial_report(job.method.name, "", tokenizer))
            job.rows[row] = Encoding(rows[row], seams, replace(report, executor=executor.name))
    return [row for row in long if row not in job.rows]


def encoded(job: Job) -> list[Rows]:
    """One call of the executor for all chunks and all texts that are not cut, in the order of the
    texts; the rows of the latter before, between and behind those that are cut. Where pieces need
    spans, works encode their own chunks."""
    opened: dict[int, list[Chunk]] = {row: [] for row in sorted([*job.works, *job.rows])}
    if job.works and not job.method.spans(job.tokenizer):
        opened |= {row: w.open_chunks(w.split.chunks) for row, w in job.works.items()}
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
        if row in job.works:
            job.works[row].take(own, rows.part(stop, first), divided[stop:first])
    parts.append(rows.part(first, len(rows)))
    flags[done:] = divided[first:]
    if licence is not None:
        job.divided = Divided(flags, seams_of_wholes(job.tokenizer, licence))
    job.clock.lap("tokenize")
    return parts


def _divisible(job: Job) -> tuple[NDArray[np.bool_], Seam | None]:
    """Which texts may be divided as they are, of those that the splitter was not asked about, and
    what licenses that."""
    none = np.zeros(len(job.texts), dtype=np.bool_)
    if job.asked or not job.method.divides_rows:
        return none, None
    from tokpar.cache.text_arrays import lengths_of  # importing tokpar does without these
    from tokpar.overlap.chunks import licence_of_rows

    licence = licence_of_rows(job.tokenizer)
    if licence is None:
        return none, None
    short = lengths_of(job.texts) > 0
    short[[*job.splits, *job.rows]] = False
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
