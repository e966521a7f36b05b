"""Divides the documents of a part into shards, and writes each shard to the disk.

The end of a shard depends only on the documents, not on blocks, workers or time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tokpar.arrays import IntArray
from tokpar.types import Rows
from tokpar_corpus.document_encoder import EncodedBlock
from tokpar_corpus.manifest import DividedDocument, Position, Shard, ShardFile
from tokpar_corpus.shard_output import ShardWriter

OpenWriter = Callable[[int, int], ShardWriter]
"""Opens the files of a shard: takes the number of its part, and its number in the part."""
OnShard = Callable[[Shard, bool], object]
"""Called with each shard when its files are synced and renamed; the bool is True for the last shard
of the part."""


@dataclass
class OpenShard:
    """The shard that is being written, with its counts so far."""

    number: int
    begin: Position
    writer: ShardWriter | None = None
    documents: int = 0
    tokens: int = 0
    text_bytes: int = 0
    shortest: int = 0
    longest: int = 0
    control_documents: int = 0
    skip_counts: dict[str, int] = field(default_factory=dict)
    divided_documents: list[DividedDocument] = field(default_factory=list)

    def count(self, lengths: IntArray, text_bytes: int) -> None:
        if len(lengths):
            least, most = int(lengths.min()), int(lengths.max())
            self.shortest = min(self.shortest, least) if self.documents else least
            self.longest = max(self.longest, most)
        self.documents += len(lengths)
        self.tokens += int(lengths.sum())
        self.text_bytes += text_bytes

    def to_shard(self, part: int, end: Position, files: tuple[ShardFile, ...]) -> Shard:
        return Shard(
            part=part,
            number=self.number,
            begin=self.begin,
            end=end,
            files=files,
            documents=self.documents,
            tokens=self.tokens,
            text_bytes=self.text_bytes,
            shortest=self.shortest,
            longest=self.longest,
            control_documents=self.control_documents,
            skipped=dict(sorted(self.skip_counts.items())),
            divided=tuple(self.divided_documents),
        )


class ShardBuilder:
    """Writes the encoded blocks of one part as shards, from the shard `number` on."""

    def __init__(
        self,
        part: int,
        number: int,
        begin: Position,
        shard_bytes: int,
        open_writer: OpenWriter,
        on_shard: OnShard,
    ) -> None:
        self._part = part
        self._shard_bytes = shard_bytes
        self._open_writer = open_writer
        self._on_shard = on_shard
        self._shard = OpenShard(number, begin)

    def add(self, encoded_block: EncodedBlock) -> None:
        """Writes the documents of a block. A full shard ends when the next document arrives."""
        for first, stop in self._shards_of(encoded_block):
            self._append(encoded_block, first, stop)

    def _shards_of(self, encoded_block: EncodedBlock) -> Iterator[tuple[int, int]]:
        """Yields ranges (first, stop) of documents of the block, one for each shard. Before it
        yields a range, its shard is the open one."""
        block = encoded_block.block
        ends = np.cumsum(block.sizes)
        first, count = 0, len(block.texts)
        while first < count:
            if self._shard.text_bytes >= self._shard_bytes:
                end = Position(block.input, int(block.begins[first]))
                self._close(end, last=False)
                self._shard = OpenShard(self._shard.number + 1, end)
            before = int(ends[first - 1]) if first else 0
            wanted = before + self._shard_bytes - self._shard.text_bytes
            stop = min(count, int(np.searchsorted(ends, wanted)) + 1)
            yield first, stop
            first = stop
        if not count:
            yield 0, 0

    def _append(self, encoded_block: EncodedBlock, first: int, stop: int) -> None:
        shard, block = self._shard, encoded_block.block
        for fault in block.faults:  # a fault belongs to the shard of the document before it
            if first < fault.documents_before <= stop or fault.documents_before == first == 0:
                shard.skip_counts[fault.kind] = shard.skip_counts.get(fault.kind, 0) + 1
        if first == stop:
            return
        if shard.writer is None:
            shard.writer = self._open_writer(self._part, shard.number)
        rows: Rows = encoded_block.rows.part(first, stop)
        names = None if block.names is None else block.names[first:stop]
        shard.divided_documents += [
            replace(each, document=each.document - first + shard.documents)
            for each in encoded_block.divided_documents
            if first <= each.document < stop
        ]
        shard.control_documents += sum(first <= k < stop for k in encoded_block.control_documents)
        shard.writer.add(rows, names)
        shard.count(np.diff(rows.offsets), int(block.sizes[first:stop].sum()))

    def finish(self, end: Position) -> None:
        """Ends the last shard of the part."""
        self._close(end, last=True)

    def _close(self, end: Position, last: bool) -> None:
        shard = self._shard
        files = () if shard.writer is None else tuple(shard.writer.finish())
        shard.writer = None
        self._on_shard(shard.to_shard(self._part, end, files), last)

    def abandon(self) -> None:
        """Removes the files of the unfinished shard."""
        if self._shard.writer is not None:
            self._shard.writer.abandon()
