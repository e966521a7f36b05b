"""Encodings that were pickled: arrays, from which the `tokenizers.Encoding` is made on request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from tokpar.arrays import IdArray
from tokpar.integrations.row_columns import Frame

Part = tuple[bytes, bytes, bytes | None, tuple[str, ...]]
"""The tokens of a part of a text: ids, uint32; offsets, int32 (n, 2); words, int32, or None; names.
The pickle of an array costs more than that of its bytes."""


def part_of(
    ids: IdArray, spans: NDArray[Any], words: NDArray[Any] | None, names: tuple[str, ...]
) -> Part:
    """Returns a part with these arrays."""
    spans_of_int, words_of_int = spans.astype(np.int32), None
    if words is not None:
        words_of_int = words.astype(np.int32).tobytes()
    return ids.tobytes(), spans_of_int.tobytes(), words_of_int, names


@dataclass(frozen=True, slots=True, eq=False)
class SentPadding:
    """How many ids of padding each part gets, on which side, and their values: see
    `Tokenizer.padding`."""

    counts: tuple[int, ...]
    is_left: bool
    pad_id: int
    pad_type_id: int
    pad_token: str


_frame_values = attrgetter(*Frame.__slots__)


class StandIn:
    """Stands for a `tokenizers.Encoding`, which `_own_encoding` makes.

    The first question that is not answered without it makes it, and it answers all later questions:
    some of its methods change it."""

    _own: Any = None

    @property  # type: ignore[misc]  # of object, which lets it be set
    def __class__(self) -> type:  # for isinstance
        return tokenizers.Encoding

    def _own_encoding(self) -> Any:
        """Returns the engine's own encoding. Each kind of stand-in makes it in its own way."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._own_encoding(), name)

    def __repr__(self) -> str:
        return repr(self._own_encoding())

    def __getstate__(self) -> Any:
        return self._own_encoding().__getstate__()

    def __copy__(self) -> Any:
        """The engine's own object."""
        made: Any = tokenizers.Encoding()
        made.__setstate__(self._own_encoding().__getstate__())
        return made

    def __deepcopy__(self, memo: object) -> Any:
        return self.__copy__()


class SentEncoding(StandIn):
    """An encoding that another process, or this one, made and pickled.

    `frame`: what stands around each text. `parts`: the part that truncation left, and those that it
    cut off. `padding`: None without padding."""

    def __init__(self, frame: Frame, parts: Sequence[Part], padding: SentPadding | None) -> None:
        self._frame, self._parts, self._padding = frame, parts, padding

    def __len__(self) -> int:
        return len(self.ids)

    def __reduce__(self) -> Any:
        if self._own is not None:  # somebody may have changed it
            return self._own.__reduce_ex__(2)
        frame, padding = self._frame, self._padding
        values = padding and tuple(getattr(padding, name) for name in SentPadding.__slots__)
        return _arrived, (_frame_values(frame), self._parts, values)

    @property
    def ids(self) -> list[int]:
        if self._own is not None:
            return list(self._own.ids)
        (before, behind), row = (
            self._frame.ids,
            np.frombuffer(self._parts[0][0], np.uint32).tolist(),
        )
        return self._padded([*before, *row, *behind], 0, "pad_id")

    def _padded(self, row: list[Any], number: int, name: str, filling: Any = None) -> list[Any]:
        padding = self._padding
        if padding is None:
            return row
        more = [filling if name == "" else getattr(padding, name)] * padding.counts[number]
        return more + row if padding.is_left else row + more

    def _own_encoding(self) -> Any:
        if self._own is None:
            made: Any = tokenizers.Encoding()
            first, *cut_off = [self._state(k) for k in range(len(self._parts))]
            made.__setstate__(json.dumps({**first, "overflowing": cut_off}).encode())
            self._own = made
        return self._own

    def _state(self, number: int) -> dict[str, Any]:
        """Returns the state of the encoding of one part, without overflowing parts."""
        ids, offsets, words, tokens = self._parts[number]
        frame, count = self._frame, len(tokens)
        before, behind = map(len, frame.ids)
        padding = self._padding
        start = before
        if padding is not None and padding.is_left:
            start += padding.counts[number]
        numbers = [None] * count if words is None else np.frombuffer(words, np.int32).tolist()

        def column(first: Any, middle: list[Any], last: Any, name: str, filling: Any = None) -> Any:
            return self._padded([*first, *middle, *last], number, name, filling)

        def around(inside: list[Any], outside: Any) -> Any:
            return column(repeat(outside, before), inside, repeat(outside, behind), "", outside)

        types = frame.types
        middle = types[1] if number == 0 else 0  # as the engine leaves the parts that are cut off
        ranges = {}
        if frame.around_text is not None:
            before_it, behind_it = frame.around_text
            ranges["0"] = {"start": start - before_it, "end": start + count + behind_it}
        return {
            "ids": column(
                frame.ids[0], np.frombuffer(ids, np.uint32).tolist(), frame.ids[1], "pad_id"
            ),
            "type_ids": column(types[0], [middle] * count, types[2], "pad_type_id"),
            "tokens": column(frame.tokens[0], [*tokens], frame.tokens[1], "pad_token"),
            "words": around(numbers, None),
            "offsets": around(np.frombuffer(offsets, np.int32).reshape(-1, 2).tolist(), (0, 0)),
            "special_tokens_mask": around([0] * count, 1),
            "attention_mask": column(repeat(1, before), [1] * count, repeat(1, behind), "", 0),
            "overflowing": [],
            "sequence_ranges": ranges,
        }


def _arrived(
    frame: tuple[Any, ...], parts: Sequence[Part], padding: tuple[Any, ...] | None
) -> SentEncoding:
    """Returns an encoding that was pickled."""
    return SentEncoding(Frame(*frame), parts, None if padding is None else SentPadding(*padding))
