"""Estimates the output of a build from the first documents of some inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tokpar_corpus.build_progress import Progress
from tokpar_corpus.job import BuildJob
from tokpar_corpus.local import first_position

PARTS = 8
INDEX_BYTES = {"megatron": 20, "numpy": 8, "parquet": 4, "arrow": 4}
"""Bytes that each format stores for a document besides its ids."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The counts of a sample, and the expected counts of all inputs (`all_*`). `stored_bytes`: how
    many bytes of the inputs the sample has. `skip_counts`: kind of fault -> number of documents of
    the sample that a build with errors="skip" leaves out."""

    documents: int
    tokens: int
    text_bytes: int
    stored_bytes: int
    all_documents: int
    all_tokens: int
    all_bytes: int
    skip_counts: Mapping[str, int]


def estimate(job: BuildJob) -> Estimate:
    """Encodes the first block of each of up to 8 parts, and returns the estimate. Raises the errors
    that a build raises for the documents of these blocks."""
    skipped: Counter[str] = Counter()
    documents = tokens = text_bytes = stored_bytes = 0
    step = -(-len(job.parts) // PARTS) or 1
    with job.encoder() as encoder:
        for part in job.parts[::step]:
            reader = job.reader(part, first_position(part), Progress())
            block = next(iter(reader.blocks()), None)
            if block is not None:
                job.stop_at(block.faults)
                encoded = encoder.encode(block)
                job.stop_at(encoded.block.faults)
                skipped.update(fault.kind for fault in encoded.block.faults)
                documents += len(encoded.block.texts)
                tokens += len(encoded.rows.ids)
                text_bytes += encoded.block.text_bytes
                stored_bytes += block.stored_bytes
    size = sum(each.bytes for each in job.inputs)
    times = size / stored_bytes if stored_bytes else 0.0
    each = np.dtype(job.options.dtype).itemsize
    index = INDEX_BYTES[job.options.format]
    return Estimate(
        documents,
        tokens,
        text_bytes,
        stored_bytes,
        round(documents * times),
        round(tokens * times),
        round((tokens * each + documents * index) * times),
        dict(skipped),
    )
