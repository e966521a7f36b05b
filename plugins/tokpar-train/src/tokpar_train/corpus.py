"""Divide a corpus into jobs of about a megabyte, without changing any pre-token.

Each file and each text is pre-tokenized by itself. A long text is divided at about each megabyte:
at the next special token; without one, at the next place where two characters certify a cut. If
there is neither, it is divided later or not at all."""

from __future__ import annotations

import os
import re
import stat
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, TypeAlias

from tokpar.errors import FileFormatError, OptionError
from tokpar.process.cached_property import cached_property

JOB_BYTES = 1 << 20
LONGEST_CHARACTER = 4
INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))  # UTF-8 bytes with which no character begins

Read: TypeAlias = Callable[[int, int], bytes]  # the bytes [start, stop) of a file or text


@dataclass(frozen=True, slots=True)
class FileSlice:
    """The bytes [start, stop) of a file."""

    path: str
    start: int
    stop: int

    def text(self) -> str:
        """The bytes decoded. Raises FileFormatError if they are not UTF-8."""
        with open(self.path, "rb") as file:
            data = _reader(file)(self.start, self.stop)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{self.path}: expected UTF-8 text, byte {self.start + error.start:,} is "
                f"0x{data[error.start]:02x} ({error.reason})"
            ) from None


Slice = FileSlice | bytes  # bytes: the UTF-8 of a part of a text


@dataclass(frozen=True, slots=True)
class Job:
    """Slices for one worker: about JOB_BYTES together, or one larger slice that cannot be
    divided."""

    slices: tuple[Slice, ...]
    size: int


@dataclass(frozen=True)
class Boundaries:
    """The places where a text may be divided: before a special token, and at certified cuts.

    `cuts` returns the places in a text, ascending, where the two characters at the place alone
    decide that a pre-token ends. None if nothing is known about the pattern."""

    special_tokens: Sequence[str]
    cuts: Callable[[str], Iterable[int]] | None = None
    job_bytes: int = JOB_BYTES

    @cached_property
    def _tokens(self) -> list[bytes]:
        return [token.encode("utf-8") for token in self.special_tokens]

    def divide(self, read: Read, size: int) -> Iterator[tuple[int, int]]:
        """[start, stop) of the parts of a text of `size` bytes, in order."""
        start = 0
        while size - start > 2 * self.job_bytes:
            stop = self._first_from(read, start + self.job_bytes, size)
            if stop is None:
                break
            yield start, stop
            start = stop
        if start < size:
            yield start, size

    def _first_from(self, read: Read, start: int, size: int) -> int | None:
        """The first place at or after `start` where the text may be divided, or None."""
        reach = max([LONGEST_CHARACTER, *map(len, self._tokens)])
        for lo in range(start, size, self.job_bytes):
            hi = min(lo + self.job_bytes, size)
            base = max(0, lo - reach)
            data = read(base, hi + reach)
            places = range(lo - base, hi - base)
            for place in chain(self._specials(data, places), self._cuts(data, places)):
                if self._splits_no_token(data, place):
                    return base + place
        return None

    def _specials(self, data: bytes, places: range) -> Iterator[int]:
        """The places where special tokens begin."""
        if self._tokens:
            begins = re.compile(b"(?=%s)" % b"|".join(map(re.escape, self._tokens)))
            for match in begins.finditer(data, places.start):
                if match.start() not in places:
                    return
                yield match.start()

    def _cuts(self, data: bytes, places: range) -> Iterator[int]:
        """Certified cuts. Both characters at a cut lie completely in `data`."""
        if self.cuts is None:
            return
        content = data.lstrip(INSIDE_CHARACTERS)
        try:
            text = getincrementaldecoder("utf-8")().decode(content)
        except UnicodeDecodeError:  # `FileSlice.text` raises the error that names the place
            return
        place, seen = len(data) - len(content), 0
        for cut in self.cuts(text):
            place += len(text[seen:cut].encode("utf-8"))
            seen = cut
            if place in places:
                yield place

    def _splits_no_token(self, data: bytes, place: int) -> bool:
        """True if no special token has bytes on both sides of `place`, whether or not it would be
        matched there."""
        return all(
            data.find(token, max(0, place - len(token) + 1), place + len(token) - 1) < 0
            for token in self._tokens
        )


def jobs_of(corpus: Iterable[str | os.PathLike[str]], boundaries: Boundaries) -> Iterator[Job]:
    """The jobs of a corpus, in the order of the corpus. A str is a text, a path is a file.

    Texts are taken from the iterable only as jobs are taken. Raises OSError, and OptionError for a
    text with a lone surrogate, a file that is not a regular file, or an item of another type."""
    gathered: list[Slice] = []
    size = 0
    for length, part in _slices(corpus, boundaries):
        gathered.append(part)
        size += length
        if size >= boundaries.job_bytes:
            yield Job(tuple(gathered), size)
            gathered, size = [], 0
    if gathered:
        yield Job(tuple(gathered), size)


def _slices(
    corpus: Iterable[str | os.PathLike[str]], boundaries: Boundaries
) -> Iterator[tuple[int, Slice]]:
    for number, item in enumerate(corpus):
        if isinstance(item, str):
            yield from _of_text(item, number, boundaries)
        elif isinstance(item, os.PathLike):
            yield from _of_file(os.fspath(item), boundaries)
        else:
            raise OptionError(
                f"a corpus consists of texts (str) and files (pathlib.Path), item {number} is "
                f"of type {type(item).__name__}"
            )


def _of_text(text: str, number: int, boundaries: Boundaries) -> Iterator[tuple[int, Slice]]:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OptionError(
            f"text {number} of the corpus has a lone surrogate at position {error.start}"
        ) from None
    for start, stop in boundaries.divide(lambda lo, hi: data[lo:hi], len(data)):
        yield stop - start, data[start:stop]


def _of_file(path: str, boundaries: Boundaries) -> Iterator[tuple[int, Slice]]:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OptionError(f"{path}: expected a regular file, since it is read in many places")
        for start, stop in boundaries.divide(_reader(file), status.st_size):
            yield stop - start, FileSlice(path, start, stop)


def _reader(file: BinaryIO) -> Read:
    def read(start: int, stop: int) -> bytes:
        file.seek(start)
        return file.read(stop - start)

    return read
