"""Builds parts on this machine: reads ahead, encodes on all cores, and writes one shard after the
other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress

from tokpar_corpus.build_progress import Progress
from tokpar_corpus.document_blocks import Block
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.input_parts import InputPart
from tokpar_corpus.job import BuildJob
from tokpar_corpus.journal import Entry, FinishedShards
from tokpar_corpus.manifest import Position, Shard
from tokpar_corpus.read_ahead import ReadAhead
from tokpar_corpus.shard_builder import ShardBuilder
from tokpar_corpus.writers import writer_opener

OnEntry = Callable[[Entry], object]


class PartBuilder:
    """Builds one part after the other. A context manager: `__exit__` closes its thread pools."""

    def __init__(
        self,
        job: BuildJob,
        layer: FileLayer,
        progress: Progress,
        on_block: Callable[[], object] = lambda: None,
    ) -> None:
        self._job = job
        self._layer = layer
        self._progress = progress
        self._on_block = on_block
        self._encoder = job.encoder()

    def __enter__(self) -> PartBuilder:
        self._encoder.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._encoder.__exit__(*error)

    def build(self, part: InputPart, finished_shards: FinishedShards, on_entry: OnEntry) -> None:
        """Writes the unfinished shards of a part. Calls `on_entry` with each finished shard.

        Raises FileFormatError for the first document that cannot be used, unless the options say to
        skip such documents; OSError. After an error it removes its unfinished files."""
        begin, number = first_position(part), 0
        if finished_shards.entries:
            last = finished_shards.entries[-1].shard
            begin, number = last.end, last.number + 1
        job = self._job
        reader = job.reader(part, begin, self._progress)

        def on_shard(shard: Shard, last: bool) -> None:
            self._layer.sync_folder(job.folder)
            on_entry(Entry(shard, last, reader.digests()))

        opener = writer_opener(self._layer, job.folder, job.options)
        builder = ShardBuilder(
            part.number, number, begin, job.options.shard_bytes, opener, on_shard
        )
        try:
            with closing(ReadAhead(reader.blocks(), job.memory.in_flight)) as blocks:
                for block in blocks:
                    self._add(block, builder)
            with self._progress.stage("write"):
                builder.finish(last_position(part, job))
        except BaseException:
            with suppress(OSError):
                builder.abandon()
            raise

    def _add(self, block: Block, builder: ShardBuilder) -> None:
        progress = self._progress
        self._job.stop_at(block.faults)
        with progress.stage("encode"):
            encoded = self._encoder.encode(block)
        own = encoded.block
        self._job.stop_at(own.faults)
        with progress.stage("write"):
            builder.add(encoded)
        progress.add(own, len(encoded.rows.ids))
        self._on_block()


def first_position(part: InputPart) -> Position:
    """Returns the position at which the documents of a part begin."""
    return Position(part.spans[0].input, part.spans[0].start)


def last_position(part: InputPart, job: BuildJob) -> Position:
    """Returns the position at which the documents of a part end: the beginning of the next input,
    or of the next range of the same input."""
    last = part.spans[-1]
    whole = last.stop == job.inputs[last.input].bytes
    return Position(last.input + 1, 0) if whole else Position(last.input, last.stop)
