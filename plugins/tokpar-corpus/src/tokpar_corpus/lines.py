"""Reads an input in blocks of whole lines, and digests the bytes that it reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from tokpar.cli.text_files import blocks_of, uncompressed_blocks
from tokpar.errors import OptionError
from tokpar_corpus.build_options import TIMES_LONGEST, Memory
from tokpar_corpus.input_parts import Span
from tokpar_corpus.inputs import Input
from tokpar_corpus.manifest import Digest

READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Lines:
    """A block of whole lines with their newlines. `begin`, `end`: its byte range in the
    uncompressed file."""

    data: bytes
    begin: int

    @property
    def end(self) -> int:
        return self.begin + len(self.data)


class DigestedFile:
    """An open file that digests the bytes [start, stop) while they are read in order.

    Only one thread may read. Other threads may call `digest_so_far`."""

    def __init__(self, file: BinaryIO, start: int, stop: int) -> None:
        self._file = file
        self._start, self._stop = start, stop
        self._read = file.tell(), hashlib.sha256()
        """The position, and the digest of the range up to it, which is not changed any more: one
        value, which the reading thread sets."""

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        place, digest = self._read
        first, last = self._start - place, self._stop - place
        digest = digest.copy()
        digest.update(memoryview(data)[max(0, first) : max(0, last)])
        self._read = place + len(data), digest
        return data

    def digest_so_far(self) -> Digest:
        """Returns the digest of the bytes of the range that were read so far."""
        place, digest = self._read
        stop = min(max(self._start, place), self._stop)
        return Digest(self._start, stop, digest.hexdigest())

    @property
    def place(self) -> int:
        """The position up to which the file was read, in bytes."""
        return self._read[0]

    def digest(self) -> Digest:
        """Reads the rest of the range, and returns the digest of the whole range."""
        while self.place < self._stop and self.read(min(READ_BYTES, self._stop - self.place)):
            pass
        return self.digest_so_far()

    def close(self) -> None:
        self._file.close()


def open_digested(input_: Input, span: Span) -> DigestedFile:
    """Opens the stored bytes of a span, positioned at the byte before it if there is one."""
    file = input_.open()
    file.seek(max(0, span.start - 1))
    return DigestedFile(file, span.start, span.stop)


def line_blocks(input_: Input, span: Span, file: DigestedFile, memory: Memory) -> Iterator[Lines]:
    """Yields the lines that begin in a span, in blocks of about `memory.block` bytes.

    Raises OptionError for a line longer than `memory.longest`, and the errors of
    `uncompressed_blocks`."""
    size = min(READ_BYTES, memory.block)
    if input_.is_compressed:
        chunks, begin = uncompressed_blocks(file, input_.name, size), 0
    else:
        chunks, begin = _lines_of_span(blocks_of(file, size), span)
    yield from _whole_lines(chunks, begin, input_.name, memory)


def _lines_of_span(chunks: Iterator[bytes], span: Span) -> tuple[Iterator[bytes], int]:
    """Returns the chunks of bytes of the lines that begin in a span, and the offset of the first of
    these lines."""
    place = max(0, span.start - 1)
    first = b""
    if span.start:
        for chunk in chunks:
            newline = chunk.find(b"\n")
            if newline >= 0:
                first, place = chunk[newline + 1 :], place + newline + 1
                break
            place += len(chunk)
        else:
            return iter(()), place
    return _until_last_line(_chain(first, chunks), place, span.stop), place


def _chain(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from chunks


def _until_last_line(chunks: Iterator[bytes], place: int, stop: int) -> Iterator[bytes]:
    """Yields the chunks up to the end of the last line that begins before `stop`. `place`: the
    offset of the first chunk."""
    if place >= stop:
        return
    for chunk in chunks:
        last = chunk.find(b"\n", max(0, stop - 1 - place))
        if last >= 0:
            yield chunk[: last + 1]
            return
        yield chunk
        place += len(chunk)


def _whole_lines(chunks: Iterable[bytes], begin: int, name: str, memory: Memory) -> Iterator[Lines]:
    parts: list[bytes] = []
    size = open_line = 0
    rest = iter(chunks)
    for chunk in rest:
        end = chunk.rfind(b"\n") + 1
        line = open_line + (chunk.find(b"\n") + 1 if end else len(chunk))
        if line > memory.longest:
            raise too_long(name, line + (0 if end else _until_newline(rest)))
        open_line = len(chunk) - end if end else line
        size += len(chunk)
        if end and size >= memory.block:
            block = Lines(b"".join([*parts, chunk[:end]]), begin)
            yield block
            begin, size = block.end, len(chunk) - end
            parts = [chunk[end:]]
        else:
            parts.append(chunk)
    if size:
        yield Lines(b"".join(parts), begin)


def _until_newline(chunks: Iterator[bytes]) -> int:
    """Returns the number of bytes up to the end of the present line, its newline included."""
    more = 0
    for chunk in chunks:
        newline = chunk.find(b"\n")
        if newline >= 0:
            return more + newline + 1
        more += len(chunk)
    return more


def too_long(name: str, size: int) -> OptionError:
    """Returns the error for a document longer than `Memory.longest`. `size`: its bytes."""
    return OptionError(
        f"{name}: a document of {size:,} bytes needs --memory-budget {size * TIMES_LONGEST} "
        f"({TIMES_LONGEST} times the longest document) or more"
    )
