"""Reads the documents of a part in order, and digests the inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokpar.errors import FileFormatError
from tokpar_corpus.build_options import Memory
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.columns import column_blocks
from tokpar_corpus.document_blocks import Block
from tokpar_corpus.input_parts import InputPart, Span
from tokpar_corpus.inputs import Input
from tokpar_corpus.json_rows import LineNumbers, RowReader, TextOf
from tokpar_corpus.lines import DigestedFile, Lines, line_blocks, open_digested
from tokpar_corpus.manifest import Digest, Position
from tokpar_corpus.text_rows import block_of_file, block_of_lines

_OpenSpan = tuple[int, Callable[[], Digest]]
"""The number of an input, and a function that returns the digest of what was read of it."""


@dataclass
class PartReader:
    """Reads one part from `begin` on, and digests the bytes that it reads.

    `text_field`: the field of a row with the text. `name`: the field of a row with the document id,
    or None. `text_of`: turns the value of `text_field` into a text, or None."""

    inputs: Sequence[Input]
    part: InputPart
    begin: Position
    text_field: str
    name: str | None
    text_of: TextOf | None
    memory: Memory
    progress: Progress
    _digested: tuple[tuple[tuple[int, Digest], ...], _OpenSpan | None] = ((), None)
    """The digests of the spans that were read, and the span that is read: one value, which the
    reading thread sets."""

    def digests(self) -> tuple[tuple[int, Digest], ...]:
        """Returns (number, digest) of each input, up to the place that was read.

        The digests cover all documents of the blocks that were returned so far. Safe to call from
        another thread than the one that reads."""
        digests, open_span = self._digested
        if open_span is None:
            return digests
        number, digest_so_far = open_span
        return (*digests, (number, digest_so_far()))

    def _begin_span(self, number: int, digest_so_far: Callable[[], Digest]) -> None:
        self._digested = self._digested[0], (number, digest_so_far)

    def _end_span(self, number: int, digest: Digest) -> None:
        self._digested = (*self._digested[0], (number, digest)), None

    def blocks(self) -> Iterator[Block]:
        """Yields blocks of documents in the order of the part.

        Raises FileFormatError for a damaged file and for a file whose size has changed since the
        build began; OptionError for a document that needs a larger memory budget; OSError."""
        for span in self.part.spans:
            input_ = self.inputs[span.input]
            first = self.begin.offset if span.input == self.begin.input else 0
            is_done = (span.input, 0) < (self.begin.input, 0)
            if input_.kind in ("parquet", "arrow"):
                yield from self._columns(input_, span, first, is_done)
            else:
                yield from self._text(input_, span, first, is_done)

    def _text(self, input_: Input, span: Span, first: int, is_done: bool) -> Iterator[Block]:
        with input_.open() as opened:
            opened.seek(0, 2)
            _check_size(input_, opened.tell())
        file = open_digested(input_, span)
        self._begin_span(span.input, file.digest_so_far)
        try:
            seen = span.start
            for block in () if is_done else self._blocks_of_text(input_, span, file, first):
                place = min(file.place, span.stop)  # the last line may reach into the next range
                yield replace(block, stored_bytes=max(0, place - seen))
                seen = max(seen, place)
            self._end_span(span.input, file.digest())
        finally:
            file.close()

    def _blocks_of_text(
        self, input_: Input, span: Span, file: DigestedFile, first: int
    ) -> Iterator[Block]:
        number = span.input
        if input_.kind == "text":
            if not first:
                with self.progress.stage("read"):
                    block = block_of_file(input_, number, file, self.memory)
                yield block
            return
        numbers = LineNumbers(input_)
        rows = RowReader(self.text_field, self.name, self.text_of)
        for lines in self.progress.time_items(line_blocks(input_, span, file, self.memory), "read"):
            if lines.end > first:
                begin = max(first, lines.begin)
                kept = Lines(lines.data[begin - lines.begin :], begin)
                with self.progress.stage("parse"):
                    if input_.kind == "rows":
                        block = rows.block(kept, numbers, number)
                    else:
                        block = block_of_lines(kept, numbers, number)
                yield block
            numbers.go_past(lines)

    def _columns(self, input_: Input, span: Span, first: int, is_done: bool) -> Iterator[Block]:
        with input_.open() as file:
            with self.progress.stage("read"):
                readable: Any = file  # has `readinto`, as files of pyarrow have, too
                sha256 = hashlib.file_digest(readable, "sha256").hexdigest()
                digest = Digest(span.start, span.stop, sha256)
            _check_size(input_, file.tell())
        self._begin_span(span.input, lambda: digest)
        if not is_done:
            blocks = column_blocks(
                input_, span.input, self.text_field, self.name, self.text_of, self.memory, first
            )
            yield from self.progress.time_items(blocks, "parse")
        self._end_span(span.input, digest)


def _check_size(input_: Input, size: int) -> None:
    if size != input_.bytes:
        raise FileFormatError(
            f"{input_.name} changed while it was read: it had {input_.bytes:,} bytes, now {size:,}"
        )
