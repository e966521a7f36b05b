"""Calls with truncation: of long texts only the beginnings, or the ends, are encoded that are
kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import IdArray, IntArray, SpanArray, has_surrogate
from tokpar.chunks.end_ids import has_ends, kept_part
from tokpar.integrations.hf_encodings import OWN_ANSWERS, EncodedCall
from tokpar.integrations.row_columns import CallColumns, Frame
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.encoder import Encoder


def encode_kept(
    encoder: Encoder, texts: Sequence[str], frame: Frame, columns: CallColumns, add: bool
) -> tuple[EncodedCall, Mapping[str, int]] | None:
    """Returns what a call encodes, and how many texts were encoded in each way; None if the texts
    are to be encoded whole. `add`: the call adds special tokens."""
    truncation, adapter = columns.truncation, encoder.tokenizer
    if truncation is None:
        return None
    most, side = truncation["max_length"] - frame.special_count, truncation["direction"]
    if not any(has_ends(text, most) for text in texts) or any(map(has_surrogate, texts)):
        return None
    if side == "left" and "offset_mapping" in columns.names:
        return None  # offsets are counted from the start of the text
    assert isinstance(adapter, HuggingFaceTokenizer)
    ways = Counter[str]()
    parts, rows = list[str](), list[IdArray]()
    encode = _LastWay(encoder)
    try:
        for text in texts:
            part, ids = kept_part(text, adapter, encode.one, most, side)
            parts.append(part)
            rows.append(ids)
            ways[encode.way] += 1
    except OWN_ANSWERS:
        return None
    return CutCall(parts, adapter, texts, rows, frame, columns, add), ways


class _LastWay:
    """Encodes parts of texts. `way`: the way in which the last part was encoded."""

    def __init__(self, encoder: Encoder) -> None:
        self._encode, self.way = encoder.rows_of_parts.rows_and_ways, ""

    def one(self, part: str) -> IdArray:
        rows, ways = self._encode((part,))
        self.way = next(way for way, count in ways.items() if count)
        return rows[0]


class CutCall(EncodedCall):
    """What one call encoded of texts of which truncation leaves `parts`: beginnings, or ends."""

    def __init__(self, parts: Sequence[str], *encoded: Any) -> None:
        super().__init__(*encoded)
        self._kept_texts = parts
        assert self.columns.truncation is not None
        self._is_left = self.columns.truncation["direction"] == "left"

    def _spans_of(
        self, texts: Sequence[str], rows: Rows, cut: tuple[IntArray, IntArray] | None
    ) -> SpanArray:
        if any(map(self._is_end, range(len(texts)))):
            raise LookupError("the offsets of an end are counted from the start of the text")
        return super()._spans_of(self._kept_texts, rows, cut)

    def _words_of(self, number: int) -> IntArray:
        if self._is_end(number):
            raise LookupError("the words of an end are counted from the start of the text")
        return self.adapter.word_numbers(self._kept_texts[number], self.rows[number])

    def _is_end(self, number: int) -> bool:
        return self._is_left and len(self._kept_texts[number]) < len(self.texts[number])
