"""Estimates the output and the time of a build from a sample of each kind and size of input."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tokpar.contract.adapter import later_call_of
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.columns import column_blocks
from tokpar_corpus.document_blocks import Block
from tokpar_corpus.document_encoder import DocumentEncoder
from tokpar_corpus.input_parts import EXPANSION, InputPart, Span, ranges
from tokpar_corpus.inputs import Input
from tokpar_corpus.job import BuildJob
from tokpar_corpus.manifest import Position

PLACES = 8
"""How many places of the inputs of one kind and size are read."""
BLOCK_BYTES = 1 << 20
PLACE_BYTES = 3 << 20
"""How many bytes of text are read at each place, in three or more blocks of `BLOCK_BYTES`."""
RANGE_BYTES = 64 << 20
"""A file with a document in each line is read at the beginnings of ranges of this size."""
SIZE_CLASS_BITS = 3
"""Files of one size class differ less than by a factor of 8."""
INDEX_BYTES = {"megatron": 20, "numpy": 8, "parquet": 4, "arrow": 4}
"""Bytes that each format stores for a document besides its ids."""

Counts = NDArray[np.float64]
"""Stored bytes of inputs, documents, tokens and bytes of text, shape (4,)."""


@dataclass
class Sample:
    """The counts of all places that were read. `seconds`: of reading with parsing, and of encoding.
    `skip_counts`: kind of fault -> number of documents that a build with errors="skip" leaves out.
    `is_beginning`: of a compressed file, only the beginning was read. `control_documents`: how many
    documents spell a control token."""

    counts: Counts = field(default_factory=lambda: np.zeros(4))
    seconds: tuple[float, float] = (0.0, 0.0)
    skip_counts: Counter[str] = field(default_factory=Counter)
    is_beginning: bool = False
    control_documents: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The counts of a sample, and the expected counts of all inputs (`all_*`).

    `document_error`, `token_error`: two standard errors, as a part of the expected count; 0.0 if
    all was read. `all_seconds`: the time of a build on this machine. `skip_counts`, `is_beginning`,
    `control_documents`: see `Sample`."""

    documents: int
    tokens: int
    text_bytes: int
    stored_bytes: int
    all_documents: int
    all_tokens: int
    all_bytes: int
    all_seconds: float
    document_error: float
    token_error: float
    skip_counts: Mapping[str, int]
    is_beginning: bool
    control_documents: int


def estimate(job: BuildJob) -> Estimate:
    """Encodes a sample of each kind and size of input, and returns the estimate. Raises the errors
    that a build raises for the documents of the sample."""
    later = later_call_of(job.tokenizer.adapter)
    if later is not None:
        later.wait()  # a build makes the tables once, and a sample must not count their time
    sample, total, variances = Sample(), np.zeros(4), np.zeros(4)
    with job.encoder() as encoder:
        for group in groups_of(job.inputs):
            own, own_variances = _estimate_group(job, group, encoder, sample)
            total += own
            variances += own_variances
    stored, documents, tokens, text_bytes = sample.counts.round().astype(int).tolist()
    _, all_documents, all_tokens, all_text = total.tolist()
    each, index = np.dtype(job.options.dtype).itemsize, INDEX_BYTES[job.options.format]
    return Estimate(
        documents,
        tokens,
        text_bytes,
        stored,
        round(all_documents),
        round(all_tokens),
        round(all_tokens * each + all_documents * index),
        max(sample.seconds) * all_text / text_bytes if text_bytes else 0.0,
        _relative_error(variances[1], all_documents),
        _relative_error(variances[2], all_tokens),
        dict(sample.skip_counts),
        sample.is_beginning,
        sample.control_documents,
    )


def _relative_error(variance: float, total: float) -> float:
    return 2 * math.sqrt(variance) / total if total else 0.0


def groups_of(inputs: Sequence[Input]) -> list[list[int]]:
    """Returns the numbers of the inputs, grouped by kind, compression and size class."""
    found: dict[object, list[int]] = defaultdict(list)
    for number, each in enumerate(inputs):
        compression = each.name.rpartition(".")[2] if each.is_compressed else ""
        size_class = each.bytes.bit_length() // SIZE_CLASS_BITS
        found[each.kind, compression, size_class].append(number)
    return list(found.values())


def _estimate_group(
    job: BuildJob, group: Sequence[int], encoder: DocumentEncoder, sample: Sample
) -> tuple[Counts, Counts]:
    """Returns the expected counts of the inputs of a group, and their variances. Adds what it reads
    to `sample`."""
    every = [span for number in group for span in _places_in(job.inputs[number], number)]
    size = sum(job.inputs[number].bytes for number in group)
    is_small = size <= PLACES * PLACE_BYTES // EXPANSION
    count = len(every) if is_small else min(len(every), PLACES)
    spans = [every[int((k + 0.5) * len(every) / count)] for k in range(count)]
    places, is_whole = [], len(spans) == len(every)
    for span in spans:
        blocks = [*_count_blocks(job, span, encoder, sample)]
        complete = _is_complete(blocks, span)
        is_whole &= complete
        if job.inputs[span.input].is_compressed and not complete:
            sample.is_beginning = True
            if sum(block[0] for block in blocks[1:]):
                del blocks[0]  # its stored bytes are those that were read ahead, too
        places.append(blocks)
    observed = np.array([np.sum(blocks, axis=0) for blocks in places if blocks]).reshape(-1, 4)
    total = observed.sum(axis=0)
    if is_whole or not total[0]:
        return total, np.zeros(4)
    expected = total * (size / total[0])
    if len(observed) == 1:  # blocks that follow each other count as one
        variances = _variances(np.array(places[0]), size) * len(places[0])
    else:
        variances = _variances(observed, size)
    if job.inputs[group[0]].kind == "text":  # each file is a document
        expected[1], variances[1] = len(group) * total[1] / len(spans), 0.0
    return expected, variances


def _is_complete(blocks: Sequence[Counts], span: Span) -> bool:
    read = float(np.sum([block[0] for block in blocks]))
    return read >= span.stop - span.start


def _variances(observed: Counts, size: int) -> Counts:
    """Returns the variances of the counts expected in `size` stored bytes, by their ratios in some
    places. `observed`: the counts of each place, shape (places, 4). Source: Cochran, Sampling
    Techniques, chapter 6."""
    count, total = len(observed), observed.sum(axis=0)
    residuals = observed - observed[:, :1] * (total / total[0])
    spread = (residuals**2).sum(axis=0) * count / max(1, count - 1)
    variances: Counts = spread * (size / total[0]) ** 2 * max(0.0, 1 - total[0] / size)
    return variances


def _places_in(input_: Input, number: int) -> list[Span]:
    """Returns the ranges of an input at whose beginnings a sample may read."""
    whole = Span(number, 0, input_.bytes)
    is_divided = input_.kind in ("rows", "lines") and not input_.is_compressed
    return ranges(whole, RANGE_BYTES) if is_divided and input_.bytes > RANGE_BYTES else [whole]


def _count_blocks(
    job: BuildJob, span: Span, encoder: DocumentEncoder, sample: Sample
) -> Iterator[Counts]:
    """Yields the counts of the first blocks of a range, and adds them to `sample`."""
    reading, encoding = sample.seconds
    text_bytes = 0
    start = time.perf_counter()
    with closing(_blocks(job, span)) as blocks:
        for number, block in enumerate(blocks):
            read = time.perf_counter()
            job.stop_at(block.faults)
            encoded = encoder.encode(block)
            own = encoded.block
            job.stop_at(own.faults)
            sample.control_documents += len(encoded.control_documents)
            sample.skip_counts.update(fault.kind for fault in own.faults)
            sizes = block.stored_bytes, len(own.texts), len(encoded.rows.ids), own.text_bytes
            sample.counts += np.array(sizes)
            reading, encoding = reading + read - start, encoding + time.perf_counter() - read
            sample.seconds = reading, encoding
            yield np.array(sizes, np.float64)
            text_bytes += own.text_bytes
            if number > 1 and text_bytes >= PLACE_BYTES:
                break
            start = time.perf_counter()


def _blocks(job: BuildJob, span: Span) -> Generator[Block, None, None]:
    input_, options = job.inputs[span.input], job.options
    if input_.kind in ("parquet", "arrow"):  # without the digest, for which all is read
        memory = replace(job.memory, block_bytes=BLOCK_BYTES)
        names = (options.field, options.document_id)
        yield from column_blocks(input_, span.input, *names, job.text_of, memory, 0)
        return
    part, begin = InputPart(0, (span,)), Position(span.input, span.start)
    yield from job.reader(part, begin, Progress(), BLOCK_BYTES).blocks()
