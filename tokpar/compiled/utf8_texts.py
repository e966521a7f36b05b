"""Texts that stay UTF-8 bytes: a text becomes a `str` only when a caller asks for it."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.process.limits import require_text

PAD = 16
"""Bytes after the last row, because the kernel reads several bytes at once."""
_BLOCK = 1 << 18
_OFFSETS = {
    "string": np.int32,
    "large_string": np.int64,
    "binary": np.int32,
    "large_binary": np.int64,
}
_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """Texts in one buffer of valid UTF-8: text k has the bytes data[edges[k] : edges[k + 1]].

    `edges`: int64, (texts + 1,). `lengths`: code points of each text, int64, (texts,)."""

    data: NDArray[np.uint8]
    edges: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.lengths)

    def part(self, first: int, stop: int) -> TextColumn:
        """Returns the texts [first, stop). Copies nothing."""
        return TextColumn(self.data, self.edges[first : stop + 1], self.lengths[first:stop])

    def text(self, k: int) -> str:
        return str(self.data[self.edges[k] : self.edges[k + 1]].data, "utf-8")

    @property
    def own(self) -> NDArray[np.uint8]:
        """The bytes of these texts only."""
        return self.data[self.edges[0] : self.edges[-1]]


@dataclass(frozen=True, eq=False)
class Utf8Texts(Sequence[str]):
    """Texts in one or more buffers of UTF-8. Indexing decodes a text, slicing copies nothing."""

    columns: tuple[TextColumn, ...]

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of the first text of each column, then the number of texts."""
        return [*accumulate(map(len, self.columns), initial=0)]

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, k: int) -> str: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[str]: ...
    def __getitem__(self, k: int | slice) -> str | Sequence[str]:
        if isinstance(k, slice):
            numbers = range(*k.indices(len(self)))
            if numbers.step != 1:
                return [self[i] for i in numbers]
            return Utf8Texts(tuple(self._parts(numbers.start, numbers.stop)))
        k = range(len(self))[k]
        column = bisect_right(self._firsts, k) - 1
        return self.columns[column].text(k - self._firsts[column])

    def __iter__(self) -> Iterator[str]:
        return (column.text(k) for column in self.columns for k in range(len(column)))

    def _parts(self, first: int, stop: int) -> Iterator[TextColumn]:
        for column, before in zip(self.columns, self._firsts, strict=False):
            start, end = max(0, first - before), min(len(column), stop - before)
            if start < end:
                yield column if end - start == len(column) else column.part(start, end)

    @cached_property
    def lengths(self) -> IntArray:
        """The number of code points of each text, int64, (texts,)."""
        return np.concatenate([np.empty(0, np.int64), *(each.lengths for each in self.columns)])

    def rows(self) -> tuple[NDArray[np.uint8], IntArray]:
        """Returns a buffer with all texts, and where each text begins, and the end.

        Copies the bytes only if several columns have texts, or if fewer than `PAD` bytes follow the
        last text."""
        if len(self.columns) == 1:
            [column] = self.columns
            if column.edges[-1] + PAD <= len(column.data):
                return column.data, column.edges
        sizes = [np.diff(column.edges) for column in self.columns]
        edges = offsets_of(np.concatenate(sizes) if sizes else ())
        data = np.zeros(int(edges[-1]) + PAD, dtype=np.uint8)
        for column, first in zip(self.columns, self._firsts, strict=False):
            data[edges[first] : edges[first + len(column)]] = column.own
        return data, edges

    def select(self, numbers: IntArray) -> Sequence[str]:
        """Returns the texts with these numbers, ascending. Decodes them, unless all others are
        empty."""
        kept = np.zeros(len(self), dtype=np.bool_)
        kept[numbers] = True
        if self.lengths[~kept].any():
            return [self[k] for k in numbers.tolist()]
        columns = []
        for column, first in zip(self.columns, self._firsts, strict=False):
            own = kept[first : first + len(column)]
            edges = np.append(column.edges[:-1][own], column.edges[-1])
            columns.append(TextColumn(column.data, edges, column.lengths[own]))
        return Utf8Texts(tuple(columns))

    def find_texts_with(self, strings: Collection[str]) -> list[int]:
        """Returns the numbers of the texts that may hold one of `strings`, ascending.

        Looks for the first two bytes of each string."""
        found: set[int] = set()
        for start in {string.encode()[:2] for string in strings}:
            for column, first in zip(self.columns, self._firsts, strict=False):
                places = [place + int(column.edges[0]) for place in _places(column.own, start)]
                rows = np.searchsorted(column.edges, places, side="right") - 1 + first
                found.update(rows.tolist())
        return sorted(found)


def _places(data: NDArray[np.uint8], needle: bytes) -> Iterator[int]:
    """Yields where one or two bytes stand in `data`."""
    for first in range(0, len(data), _BLOCK):
        block = data[first : first + _BLOCK + len(needle) - 1]
        here = block[: len(block) - len(needle) + 1] == needle[0]
        if len(needle) == 2:
            here &= block[1:] == needle[1]
        yield from (first + np.flatnonzero(here)).tolist()


def texts_of(texts: Iterable[Any], first: int = 0) -> list[str] | Utf8Texts:
    """Returns the texts of a call: `str`, UTF-8 `bytes`, or an Arrow array of strings.

    An Arrow array is not copied, unless it is a `string_view`. `first`: the number of the first
    text, for errors. Raises OptionError for nulls, invalid UTF-8 and Arrow arrays of other types.
    The caller checks that the elements of a list are str."""
    if isinstance(texts, (str, bytes)):
        raise OptionError(
            f"encode_batch takes several texts, got one {type(texts).__name__}; "
            "use encode for one text"
        )
    chunks = arrow_chunks(texts)
    if chunks is not None:
        columns = []
        for chunk in chunks:
            columns.append(arrow_column(chunk, first))
            first += len(chunk)
        return Utf8Texts(tuple(columns))
    given = list(texts)  # the caller may change the list before asking for a row
    if given and type(given[0]) is bytes:
        return Utf8Texts((_bytes_column(given, first),))
    return given


def arrow_chunks(texts: object) -> list[Any] | None:
    """Returns the arrays of a pyarrow.Array or ChunkedArray; None for anything else."""
    pyarrow = sys.modules.get("pyarrow")  # without pyarrow nobody has an array of it
    if pyarrow is None or not isinstance(texts, (pyarrow.Array, pyarrow.ChunkedArray)):
        return None
    return texts.chunks if isinstance(texts, pyarrow.ChunkedArray) else [texts]


def arrow_column(chunk: Any, first: int = 0) -> TextColumn:
    """Returns the texts of a pyarrow.Array. See `texts_of`."""
    if chunk.null_count:
        row = first + int(np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False))[0])
        raise OptionError(
            f'text {row} is null: leave such rows out (drop_null()), or fill them, fill_null("")'
        )
    data, edges = arrow_edges(chunk)
    return check_column(data, edges, first)


def arrow_edges(chunk: Any) -> tuple[NDArray[np.uint8], IntArray]:
    """Returns the buffer of a pyarrow.Array without nulls, and where each text begins, and the end.

    OptionError if the array has no strings or bytes."""
    kind = str(chunk.type)
    if kind in _VIEWS:
        kind, chunk = _VIEWS[kind], chunk.cast(_VIEWS[kind])
    if kind not in _OFFSETS:
        raise OptionError(
            "texts must be an Arrow array of string, large_string, string_view or binary, got "
            f'{kind}; make it one by cast("string")'
        )
    _, offsets, data = chunk.buffers()
    if not len(chunk) or offsets is None:
        return np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    edges = np.frombuffer(offsets, dtype=_OFFSETS[kind])
    edges = edges[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
    found = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return found, edges


def _bytes_column(texts: Sequence[object], first: int) -> TextColumn:
    for k, text in enumerate(texts, start=first):
        if not isinstance(text, bytes):
            raise OptionError(
                f"text {k} must be bytes as text {first} is, got {type(text).__name__}"
            )
    data = b"".join([*texts, bytes(PAD)])  # type: ignore[list-item]  # all are bytes
    edges = offsets_of(map(len, texts))  # type: ignore[arg-type]
    return check_column(np.frombuffer(data, dtype=np.uint8), edges, first)


def check_column(data: NDArray[np.uint8], edges: IntArray, first: int) -> TextColumn:
    """Returns the texts between `edges` of a buffer. OptionError if one is not valid UTF-8."""
    sizes = np.diff(edges)
    if edges[0] < 0 or edges[-1] > len(data) or sizes.min(initial=0) < 0:
        raise OptionError("the offsets of this Arrow array are wrong: its validate(full=True) says")
    if data[edges[0] : edges[-1]].max(initial=0) < 0x80:
        return TextColumn(data, edges, sizes)
    view, lengths = data.data, []
    ends = edges.tolist()
    try:
        for start, stop in pairwise(ends):
            lengths.append(len(str(view[start:stop], "utf-8")))
    except UnicodeDecodeError as error:
        raise OptionError(
            f"text {first + len(lengths)} is not UTF-8: {error.reason} at byte {error.start:,} "
            f"(0x{error.object[error.start]:02x}); decode it by its own encoding, or with "
            'errors="replace"'
        ) from None
    return TextColumn(data, edges, np.array(lengths, dtype=np.int64))


def plain_texts(texts: Sequence[str]) -> Sequence[str]:
    """Returns the texts, those of a subclass of str as plain str. OptionError for a text that is no
    str."""
    if isinstance(texts, Utf8Texts):
        return texts
    return [require_text(text, f"text {k}") for k, text in enumerate(texts)]


def select_texts(texts: Sequence[str], numbers: IntArray) -> Sequence[str]:
    """Returns the texts with these numbers, ascending."""
    if isinstance(texts, Utf8Texts):
        return texts.select(numbers)
    return [texts[k] for k in numbers.tolist()]


def to_check(
    texts: Sequence[str], forbidden: Collection[str], long: Sequence[int]
) -> Sequence[int]:
    """Returns the numbers of the texts that a tokenizer may refuse, ascending.

    `Utf8Texts` are valid, so a short one is refused only for a `forbidden` string."""
    if isinstance(texts, Utf8Texts):
        return sorted({*long, *texts.find_texts_with(forbidden)})
    return range(len(texts))
