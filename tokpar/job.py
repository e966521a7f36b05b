"""Encodes several texts together: from a cache, or by one call of the executor for all texts."""

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
    """The texts of one call, and what is known of each text so far.

    `splits`: the splitter's answer for each long text, by the number of the text. `works`: the
    chunks and pieces of each cut text. `divided`: which texts an executor divided without the
    splitter. `rows`: the encodings of texts that were encoded by themselves, before
    post-processing. `cache_consulted`: the cache was already consulted for this call."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    method: Method
    watch: Watch | None
    clock: Clock = field(default_factory=Clock)
    splits: dict[int, Split] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    divided: Divided | None = None
    rows: dict[int, Encoding] = field(default_factory=dict)
    cache_consulted: bool = False


def recalled(job: Job, long: Sequence[int]) -> Rows | list[int]:
    """Returns the rows of all texts, or the numbers of the long texts that may be cut.

    The rows, if the cache answers every text. Else the long texts that the cache answered are put
    into `job.rows`, and the numbers of the other long texts are returned."""
    executor, tokenizer = job.method.executor, job.tokenizer
    whole = job.method.whole and job.method.divides_rows and job.watch is None
    if not (whole and long and isinstance(executor, Recalls)):
        return list(long)
    from tokpar.cache.text_arrays import lengths_of  # importing tokpar does without these
    from tokpar.overlap.chunks import licence_of_rows

    licence = licence_of_rows(tokenizer)
    if licence is None:
        return list(long)
    job.cache_consulted = facts_of(tokenizer).has_own_cache
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
    """Encode all chunks, and all texts that are not cut, by one call of the executor.

    Returns the rows of the texts that are not cut: one part before, between and after the texts
    that are cut or already encoded. Each `Work` takes the rows of its own chunks. If the merger
    needs spans, each `Work` encodes its chunks by itself later."""
    opened: dict[int, list[Chunk]] = {row: [] for row in sorted([*job.works, *job.rows])}
    if job.works and not job.method.spans(job.tokenizer):
        opened |= {row: w.open_chunks(w.split.chunks) for row, w in job.works.items()}
    may, licence = _divisible(job)
    slices, divisible = job.texts, may  # not copied: a list of many small texts is long
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
    """Returns which texts the executor may divide, and the seam that licenses their cuts.

    Only texts that the splitter was not asked about may be divided here. None if no cut is
    licensed."""
    none = np.zeros(len(job.texts), dtype=np.bool_)
    if job.cache_consulted or not job.method.divides_rows:
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
    """Returns the texts, each cut text replaced by its chunks, and which of them may be divided.

    `opened`: the chunks of each cut text; an empty list removes the text."""
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
