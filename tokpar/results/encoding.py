"""The results of a call: a `Batch` of the ids of many texts, and the `Encoding` of one text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tokpar.arrays import IdArray, IntArray, SpanArray, frozen_ids
from tokpar.contract.interfaces import Decodes, TokenizerAdapter
from tokpar.process.cached_property import cached_property
from tokpar.results.seams import Seams
from tokpar.types import Report, Rows

Mask = NDArray[np.bool_]
"""True for each id of a rectangle that belongs to a text and is not padding; (rows, longest)."""
OwnPadding = tuple[IntArray, IntArray]
"""How many ids of padding each row begins with, and ends with; (texts,) each."""


@dataclass
class Clock:
    """Wall-clock seconds of each stage. `lap` adds the time since the last lap to its stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now


class TextOrigin(Protocol):
    """Where the ids of one text came from."""

    @property
    def tokenizer(self) -> TokenizerAdapter: ...

    def before_postprocess(self, final: IdArray) -> IdArray:
        """Returns the ids before special tokens, truncation and padding."""

    def is_truncated(self, final: IdArray) -> bool:
        """Returns True if post-processing dropped ids of the text."""

    def spans(self, final: IdArray, seams: Seams, *, code_points: bool = False) -> SpanArray:
        """Returns the spans of the final ids in UTF-8 bytes, or in code points."""


class RowOrigin(Protocol):
    """Makes the fields of one `Encoding` when a caller asks for them."""

    @property
    def lossless(self) -> bool: ...

    @property
    def seams(self) -> Seams: ...

    @property
    def report(self) -> Report: ...

    @property
    def origin(self) -> TextOrigin | None: ...

    def without_batch(self) -> RowOrigin:
        """Returns the origin of this text by itself, which keeps no other text of a batch alive."""


class KnownRow(NamedTuple):
    """The seams, the report and the origin of a text that was encoded by itself."""

    seams: Seams
    report: Report
    origin: TextOrigin | None

    @property
    def lossless(self) -> bool:
        return self.seams.lossless

    def without_batch(self) -> RowOrigin:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """The ids of one text, the seams where pieces were joined, and a report.

    `ids`: uint32, shape (n,), read-only, special tokens, truncation and padding applied.
    ``numpy.asarray``, ``len``, indexing and slicing go to the ids. Two encodings are equal when
    their ids are equal; an encoding also compares with a list of ints. A pickled or copied encoding
    has no text and no tokenizer."""

    ids: IdArray
    make_row: Callable[[], RowOrigin]
    """Most callers read only the ids of the rows of a batch, so the rest is made on request."""

    @classmethod
    def of(
        cls, ids: IdArray, seams: Seams, report: Report, origin: TextOrigin | None = None
    ) -> Encoding:
        """Returns an encoding with these values. `ids` is read-only."""
        row = KnownRow(seams, report, origin)
        return cls(ids, lambda: row)

    def with_ids(self, ids: IdArray) -> Encoding:
        """Returns an encoding of the text with other final `ids`, as if encoded without a batch.

        The result keeps no other text of the batch alive."""
        row = self._row.without_batch()
        return Encoding(ids, lambda: row)

    @cached_property
    def _row(self) -> RowOrigin:
        return self.make_row()

    @cached_property
    def seams(self) -> Seams:
        """The places where pieces were joined."""
        return self._row.seams

    @cached_property
    def report(self) -> Report:
        """How the text was encoded."""
        return self._row.report

    @cached_property
    def origin(self) -> TextOrigin | None:
        """Where the ids came from; None if text and tokenizer are not known."""
        return self._row.origin

    @cached_property
    def spans(self) -> SpanArray:
        """[start, stop) of each id in UTF-8 bytes of the text; int64, shape (n, 2).

        Inserted special tokens and padding have the span (0, 0). Computed on first use. Raises
        LookupError when the tokenizer cannot locate its tokens."""
        found = self._origin("spans").spans(self.ids, self.seams)
        found.flags.writeable = False
        return found

    @cached_property
    def char_spans(self) -> SpanArray:
        """`spans` in code points. Each span covers every code point that the token touches, so two
        tokens that share a character both cover the whole character."""
        found = self._origin("char_spans").spans(self.ids, self.seams, code_points=True)
        found.flags.writeable = False
        return found

    @cached_property
    def tokens(self) -> list[str]:
        """The string that the tokenizer decodes each single id to.

        A part of a character decodes to U+FFFD. Raises LookupError when the tokenizer has no
        decoder."""
        tokenizer = self._origin("tokens").tokenizer
        if not isinstance(tokenizer, Decodes):
            raise LookupError(f"{tokenizer.name} cannot decode")
        distinct, places = np.unique(self.ids, return_inverse=True)
        shown = [tokenizer.decode([id_]) for id_ in distinct.tolist()]
        return [shown[place] for place in places.tolist()]

    @cached_property
    def truncated(self) -> bool:
        """True if the tokenizer's own truncation left out ids of the text."""
        return self._origin("truncated").is_truncated(self.ids)

    @cached_property
    def untruncated(self) -> int:
        """The number of ids of the text before special tokens, truncation and padding."""
        return len(self._origin("untruncated").before_postprocess(self.ids))

    @property
    def lossless(self) -> bool:
        """True if a rule licenses every seam, or there is no seam.

        What this rests on, for each kind of tokenizer: the table in proofs/README.md."""
        return self._row.lossless

    def _origin(self, attribute: str) -> TextOrigin:
        if self.origin is None:
            raise LookupError(
                f"{attribute}: text and tokenizer were left behind when this encoding was pickled "
                f"or copied; ask for {attribute} before, or encode the text again"
            )
        return self.origin

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    @overload
    def __getitem__(self, k: int) -> int: ...
    @overload
    def __getitem__(self, k: slice) -> IdArray: ...
    def __getitem__(self, k: int | slice) -> int | IdArray:
        return self.ids[k] if isinstance(k, slice) else int(self.ids[k])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False and dtype not in (None, self.ids.dtype):
            raise ValueError(f"ids are uint32: as {dtype} they must be copied")
        return self.ids.astype(dtype or np.uint32, copy=bool(copy))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Encoding):
            return np.array_equal(self.ids, other.ids)
        if isinstance(other, (list, tuple, np.ndarray)):
            return np.array_equal(self.ids, np.asarray(other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have no hash either

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_encoding, (np.array(self.ids), self.seams, self.report)

    def __repr__(self) -> str:
        how = "lossless" if self.lossless else "approximate"
        seams, strategy = self.seams.description, self.report.strategy
        return f"<Encoding of {len(self):,} ids, {seams}, {how}, strategy {strategy!r}>"


def _rebuild_encoding(ids: IdArray, seams: Seams, report: Report) -> Encoding:
    without_text = Seams(seams.planned, seams.everywhere, proofs=seams.proofs)
    return Encoding.of(frozen_ids(ids), without_text, report)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch(Sequence[Encoding]):
    """The ids of many texts in one array: text k has the ids ids[offsets[k] : offsets[k + 1]].

    A batch is also a sequence of the `Encoding` of each text. An `Encoding` is made when a caller
    asks for it. `report`: the report of all texts together. `datasets.map` takes `list(batch)`."""

    rows: Rows
    report: Report
    _row: Callable[[int], Encoding]
    _spans: Callable[[bool], SpanArray] | None = None
    ways: Mapping[str, int] = field(default_factory=dict)
    """How many texts were encoded in each way, see `tokpar.results.text_counts`."""
    _padding: Callable[[], OwnPadding | None] | None = None
    """Returns the padding of the tokenizer's own settings in `rows`; None: there is none."""

    def spans(self) -> SpanArray:
        """Returns `Encoding.spans` of all texts in one array, in the order of `ids`.

        int64, shape (n, 2): [start, stop) of each id in UTF-8 bytes of its text. Raises LookupError
        when the tokenizer cannot locate its tokens."""
        return self._locate_ids(False)

    def char_spans(self) -> SpanArray:
        """Returns `Encoding.char_spans` of all texts in one array: `spans` in code points."""
        return self._locate_ids(True)

    def _locate_ids(self, code_points: bool) -> SpanArray:
        if self._spans is None:
            raise LookupError(
                "spans: texts and tokenizer were left behind when this batch was pickled or "
                "copied; ask for spans before, or encode the texts again"
            )
        return self._spans(code_points)

    @property
    def ids(self) -> IdArray:
        """The ids of all texts; uint32, shape (n,), read-only."""
        return frozen_ids(self.rows.ids)

    @property
    def offsets(self) -> IntArray:
        """Where the ids of each text begin in `ids`, and the end; int64, shape (texts + 1,)."""
        return self.rows.offsets

    @property
    def lengths(self) -> IntArray:
        """The number of ids of each text; int64, shape (texts,)."""
        return np.diff(self.rows.offsets)

    def padded(self, pad_id: int, *, side: str = "right") -> tuple[IdArray, Mask]:
        """Returns a rectangle of ids and a mask, both of shape (texts, longest).

        The rectangle is as wide as the longest row. Shorter rows are filled with `pad_id`. The
        mask is True where an id belongs to a text or is a special token; ids with which the
        tokenizer's own settings padded a row stay, and the mask is False there. `side`: where to
        pad, "right" or "left". Raises LookupError if that padding is not known."""
        if side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', got {side!r}")
        if not isinstance(pad_id, (int, np.integer)) or not 0 <= pad_id < 2**32:
            raise ValueError(f"pad_id must be an int from 0 to 2**32 - 1, got {pad_id!r}")
        lengths = self.lengths
        longest = int(lengths.max(initial=0))
        columns = np.arange(longest)
        mask: Mask = columns < lengths[:, None]
        if side == "left":
            mask = mask[:, ::-1]
        rectangle = np.full(mask.shape, pad_id, dtype=np.uint32)
        rectangle[mask] = self.rows.ids[self.offsets[0] : self.offsets[-1]]
        padding = None if self._padding is None else self._padding()
        if padding is not None:
            first = (longest - lengths) * (side == "left")
            start, stop = first + padding[0], first + lengths - padding[1]
            mask = (columns >= start[:, None]) & (columns < stop[:, None])
        return rectangle, mask

    def to_arrow(self) -> Any:
        """Returns a pyarrow.LargeListArray of uint32, no id copied. ImportError without pyarrow."""
        try:
            pyarrow = import_module("pyarrow")
        except ImportError as error:
            raise ImportError("to_arrow needs pyarrow: pip install pyarrow") from error
        return pyarrow.LargeListArray.from_arrays(self.offsets, pyarrow.array(self.rows.ids))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, k: int) -> Encoding: ...
    @overload
    def __getitem__(self, k: slice) -> list[Encoding]: ...
    def __getitem__(self, k: int | slice) -> Encoding | list[Encoding]:
        if isinstance(k, slice):
            return [self._row(i) for i in range(*k.indices(len(self)))]
        return self._row(range(len(self.rows.offsets) - 1)[k])

    def __iter__(self) -> Iterator[Encoding]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Batch):
            same = np.array_equal(self.lengths, other.lengths)
            return same and np.array_equal(self.ids, other.ids)
        if isinstance(other, Sequence) and len(other) == len(self):
            rows = zip((self.rows[k] for k in range(len(self))), other, strict=True)
            return all(np.array_equal(row, np.asarray(each)) for row, each in rows)
        return False if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have no hash either

    def __reduce__(self) -> tuple[object, ...]:
        padding: OwnPadding | str | None = None
        try:
            padding = self._padding() if self._padding else None
        except LookupError as error:
            padding = str(error)
        return _rebuild_batch, (self.rows, self.report, list(self), padding)

    def __repr__(self) -> str:
        return f"<Batch of {len(self):,} texts, {len(self.rows.ids):,} ids>"


def _rebuild_batch(
    rows: Rows, report: Report, encodings: list[Encoding], padding: OwnPadding | str | None
) -> Batch:
    def known() -> OwnPadding | None:
        if isinstance(padding, str):
            raise LookupError(padding)
        return padding

    return Batch(rows, report, encodings.__getitem__, _padding=known)
