"""Turns texts into ids: split -> encode -> join -> post-process.

Here come texts of named strategies, of tokenizers without a compiled call, and those that the
compiled call left to the engine. One text is a batch of one. The functions here know no plugins, no
names and no defaults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.contract.interfaces import CachedRows
from tokpar.errors import EngineError, MismatchError, WorkerError
from tokpar.pipeline.call_result import (
    NO_ROWS,
    Result,
    batch_of_one,
    check_texts,
    encode_in_one_call,
    name_text,
)
from tokpar.pipeline.joining import Watch, Work
from tokpar.pipeline.plan import Plan, serial_report
from tokpar.results.encoding import Batch, Encoding
from tokpar.types import Chunk, Rows

Group = tuple[Sequence[int] | NDArray[np.int64], Rows]
"""The numbers of some texts, and a row for each."""


def encode_batch(
    texts: Sequence[str],
    plan: Plan,
    *,
    long: Sequence[int] | None = None,
    postprocess: bool = True,
    watch: Watch | None = None,
    compiled: CachedRows | None = None,
) -> Batch:
    """Returns the ids of `texts`. The ids of each text equal the tokenizer's own serial call.

    `long`: the numbers of the texts that may be cut; None for all texts. `postprocess=False` leaves
    out special tokens, truncation and padding. `watch` is called once for each text whose chunks
    were joined. `compiled`: the ids of the texts that the compiled call answered, and which these
    are. Raises the tokenizer's own error for the first text that the tokenizer refuses, and
    EngineError when the tokenizer fails on a chunk. With several texts, the error names the number
    of the text."""
    result = Result.of(texts, plan, compiled)
    long = range(len(texts)) if long is None else long
    check_texts(texts, plan, long)
    answered = result.compiled
    long = [row for row in long if not answered[row]]
    works = _split(result, long)
    if len(texts) == 1 and not works and not answered[0]:
        return batch_of_one(_whole(result, 0, None, postprocess), postprocess)
    try:
        rest, own = _encode(result, works)
        for row in works:
            result.encodings[row] = _encoding_of(result, works[row], row, watch)
    except (MismatchError, WorkerError):
        raise
    except EngineError:  # encode the texts one by one, to learn which text fails, and where
        works = _split(result, long)  # new `Work` objects, without any pieces
        rest, own = np.array([], dtype=np.int64), NO_ROWS
        for row in np.flatnonzero(~answered).tolist():
            result.encodings[row] = _encoding_of(result, works.get(row), row, watch)
    alone = sorted(result.encodings)
    cut = Rows.of(result.encodings[row].ids for row in alone)
    groups: list[Group] = [(rest, own), (alone, cut)]
    if compiled is not None:
        groups.append((range(len(texts)), compiled[0]))
    return result.batch(Rows.scatter(len(texts), groups), postprocess)


def _split(result: Result, long: Sequence[int]) -> dict[int, Work]:
    """Ask the splitter for the chunks of each long text. Returns a `Work` for each cut text."""
    works: dict[int, Work] = {}
    for row in long:
        text = result.texts[row]
        split = result.plan.split(text)
        result.whys[row] = split.why
        if len(split.chunks) > 1:
            works[row] = Work(text, result.plan, split, result.clock)
    if long:
        result.clock.lap("split")
    return works


def _encode(result: Result, works: dict[int, Work]) -> tuple[NDArray[np.int64], Rows]:
    """Encode, by one call of the executor, the chunks of all cut texts and the texts that are
    neither cut nor answered by the compiled call.

    Returns the numbers of these texts, and their rows. Each `Work` takes the rows of its own
    chunks. If the merger needs spans, each `Work` encodes its chunks by itself later."""
    rest = ~result.compiled
    rest[list(works)] = False
    numbers = np.flatnonzero(rest)
    slices = result.texts  # not copied: a list of many small texts is long
    if len(numbers) < len(slices) or not isinstance(slices, list):
        slices = [result.texts[k] for k in numbers.tolist()]
    opened: dict[int, list[Chunk]] = {}
    if works and not result.plan.spans:
        opened = {row: work.open_chunks(work.split.chunks) for row, work in works.items()}
        chunks = [work.text[c.start : c.stop] for row, work in works.items() for c in opened[row]]
        slices = [*slices, *chunks]
    rows = result.plan.run(slices)
    first = len(numbers)
    for row, own in opened.items():
        stop = first + len(own)
        works[row].take(own, rows.part(first, stop))
        first = stop
    result.clock.lap("tokenize")
    return numbers, rows.part(0, len(numbers)) if opened else rows


def _encoding_of(result: Result, work: Work | None, row: int, watch: Watch | None) -> Encoding:
    """Returns the encoding of one text before post-processing: joined, or from one serial call."""
    try:
        joined = None if work is None else work.join()
        if joined is None:
            return _whole(result, row, work, postprocess=False)
    except Exception as error:
        name_text(error, row, f"text {row} of the batch" * (len(result.texts) > 1))
        raise
    if watch is not None:
        watch(joined)
    return joined.encoding


def _whole(result: Result, row: int, work: Work | None, postprocess: bool) -> Encoding:
    """Returns the encoding of one text by one serial call."""
    plan = result.plan
    report = serial_report(plan.name, result.whys.get(row, plan.uncut), plan.tokenizer)
    encoding = encode_in_one_call(result.texts[row], plan.tokenizer, report, postprocess)
    result.clock.lap("tokenize")
    known: dict[str, Any] = {"seconds": result.clock.seconds}
    if work is not None:
        known |= {"why": work.why, "retries": work.retries, "repairs": work.repairs}
        known["redundant"] = work.encoded_chars
    report = replace(encoding.report, **known)
    return Encoding.of(encoding.ids, encoding.seams, report, encoding.origin)
