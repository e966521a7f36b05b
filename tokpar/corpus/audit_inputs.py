"""The texts that shards were made of, read as `tokpar corpus build` reads them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tokpar.arrays import IntArray
from tokpar.corpus.build_options import BUDGET, SHARD_BYTES, Memory
from tokpar.corpus.build_progress import Progress
from tokpar.corpus.input_parts import plan_parts
from tokpar.corpus.inputs import Input
from tokpar.corpus.json_rows import TextOf
from tokpar.corpus.manifest import Position
from tokpar.corpus.part_reading import PartReader
from tokpar.corpus.read_ahead import ReadAhead


@dataclass
class InputFiles:
    """The texts of input files, in order; they can be read again.

    `text_field`: the name of the text in a row. `unusable`: rows that hold no text, as a build
    with errors="skip" leaves them out."""

    inputs: Sequence[Input]
    text_field: str = "text"
    text_of: TextOf | None = None
    unusable: int = 0
    _firsts: list[int] = field(default_factory=list)
    _begins: list[tuple[int, IntArray]] = field(default_factory=list)

    def batches(self) -> Iterator[list[str]]:
        """The texts, some at a time. Raises OSError, FileFormatError."""
        self._firsts, self._begins, self.unusable = [], [], 0
        row, memory = 0, Memory(BUDGET)
        for part in plan_parts(self.inputs, SHARD_BYTES):
            reader = PartReader(
                self.inputs,
                part,
                Position(part.spans[0].input, part.spans[0].start),
                self.text_field,
                None,
                self.text_of,
                memory,
                Progress(),
            )
            with closing(ReadAhead(reader.blocks(), memory.in_flight)) as blocks:
                for block in blocks:
                    self._firsts.append(row)
                    self._begins.append((block.input, block.begins))
                    self.unusable += len(block.faults)
                    row += len(block.texts)
                    yield block.texts

    def place(self, row: int) -> str:
        """Where text `row` is: "a.jsonl:17"."""
        k = bisect_right(self._firsts, row) - 1
        number, begins = self._begins[k]
        return self.inputs[number].place(int(begins[row - self._firsts[k]]))
