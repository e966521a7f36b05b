"""The encodings of a `tokenizers.Tokenizer` with tokpar's functions, and how it cuts and pads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.integrations.hf_encodings import EncodedCall, RowEncoding
from tokpar.integrations.row_columns import CallColumns
from tokpar.integrations.sent_encodings import Part, part_of
from tokpar.process.cached_property import cached_property

PLAIN = CallColumns((), None)
"""Neither truncation nor padding."""
_STRATEGIES = ("longest_first", "only_first")
_SIDES = ("left", "right")


def columns_of(cut: Mapping[str, Any] | None, pad: Mapping[str, Any] | None) -> CallColumns | None:
    """Returns how an engine with this `truncation` and `padding` cuts and pads texts without a
    pair; None if only the engine knows."""
    if cut is None and pad is None:
        return PLAIN
    if cut is not None:
        is_plain = cut["strategy"] in _STRATEGIES and cut["direction"] in _SIDES
        if not is_plain or cut["stride"] != 0:
            return None
    if pad is not None and (pad["direction"] not in _SIDES or pad["pad_to_multiple_of"] == 0):
        return None
    return CallColumns((), None, cut, pad)


class FollowedCall(EncodedCall):
    """What `encode` or `encode_batch` encoded.

    `own_batch`: makes the encodings by the caller's object, or returns None if it was changed after
    the call."""

    own_batch: Callable[[FollowedCall], Sequence[Any] | None]

    def only_result(self) -> RowEncoding:
        """The encoding of the only text."""
        return RowEncoding(self, 0)

    def _engine_encodings(self) -> Sequence[Any]:
        found = self.own_batch(self)
        return super()._engine_encodings() if found is None else found


class FastCall(FollowedCall):
    """What `encode_batch_fast` encoded: its encodings have no names, words and places of tokens."""

    engine_method = "encode_batch_fast"

    def _parts(self, *names: str) -> dict[str, Sequence[Any]]:
        empty: dict[str, Any] = {"offset_mapping": (0, 0), "word_ids": None, "tokens": ""}
        counts = [*map(len, self.kept_ids)]
        return {
            name: [[empty[name]] * count for count in counts] for name in names if name in empty
        }

    def _sent_parts(
        self, text: str, row: IdArray, number: int, ranges: Sequence[tuple[int, int]]
    ) -> list[Part]:
        rows = [row[start:stop] for start, stop in ranges]
        return [part_of(r, np.zeros((len(r), 2)), None, ("",) * len(r)) for r in rows]

    @cached_property
    def kept_spans(self) -> list[SpanArray]:
        """The offsets of the tokens of each text: zeros."""
        return [np.zeros((len(row), 2), dtype=np.int64) for row in self.kept_ids]
