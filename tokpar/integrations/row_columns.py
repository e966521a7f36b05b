"""The columns of encodings (ids, masks, offsets, tokens), from the ids of texts.

Needs tokenizers below 1.0, and nothing of transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.adapters.hf_postprocess import postprocess_of
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import IdArray, IntArray

_NO_PADDING = {"pad_id": 0, "pad_type_id": 0, "pad_token": ""}


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The special tokens that post-processing puts around one text.

    `ids`, `tokens`: the ids and the names of the tokens before the text, and of the tokens after
    it. `types`: the type ids of the tokens before the text, of each token of the text, and of the
    tokens after it. `sequences`: the `n_sequences` of a result. `around_text`: how
    many special tokens before and after the text an encoding counts to its only sequence; None if
    it names no sequence."""

    ids: tuple[list[int], list[int]]
    types: tuple[list[int], int, list[int]]
    tokens: tuple[list[str], list[str]]
    sequences: int
    around_text: tuple[int, int] | None = (0, 0)

    @property
    def special_count(self) -> int:
        """How many special tokens each text gets."""
        return len(self.ids[0]) + len(self.ids[1])


def frame_of(adapter: HuggingFaceTokenizer, add_special_tokens: bool) -> Frame:
    """What the post-processor puts around each text; `adapter.postprocess_refused` must be None."""
    from tokenizers import Tokenizer, models

    own = adapter.engine  # of a transformers tokenizer: it neither truncates nor pads
    postprocess = postprocess_of(own, add_special_tokens)
    one = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))  # its only token stands for a text
    if own.post_processor is not None:
        one.post_processor = own.post_processor
    encoding = one.encode("a", add_special_tokens=add_special_tokens)
    types, at = encoding.type_ids, encoding.special_tokens_mask.index(0)
    around = types[:at], types[at], types[at + 1 :]
    tokens = encoding.tokens[:at], encoding.tokens[at + 1 :]
    ids = postprocess.prefix.tolist(), postprocess.suffix.tolist()
    named = json.loads(encoding.__getstate__())["sequence_ranges"].get("0")
    around_text = None if named is None else (at - named["start"], named["end"] - at - 1)
    return Frame(ids, around, tokens, encoding.n_sequences, around_text)


_Part = tuple[Sequence[Any], Any, Sequence[Any], Any]
"""A column: the values of the special tokens before a text; a row of values for each text, or one
value for all its tokens; the values of the special tokens after the text; the value of padding."""


@dataclass(frozen=True, slots=True, eq=False)
class CallColumns:
    """Which columns one call returns, and how its texts are truncated and padded.

    `truncation`, `padding`: arguments of the engine's `enable_truncation`, `enable_padding`, or
    None. `max_length`, `tensors`: those of the call."""

    names: tuple[str, ...]
    max_length: Any
    truncation: Mapping[str, Any] | None = None
    padding: Mapping[str, Any] | None = None
    tensors: Any = None

    def fits(self, frame: Frame) -> bool:
        """The truncation leaves room for a token of the text beside the special tokens."""
        return self.truncation is None or self.truncation["max_length"] > frame.special_count

    def kept_of(self, frame: Frame, rows: Sequence[Any]) -> Sequence[Any]:
        """What truncation leaves of `rows`: the ids of each text, without special tokens."""
        if self.truncation is None:
            return rows
        most = self.truncation["max_length"] - frame.special_count
        own = slice(None, most) if self.truncation["direction"] == "right" else slice(-most, None)
        return [row[own] for row in rows]

    def ranges(self, frame: Frame, count: int) -> list[tuple[int, int]]:
        """[start, stop) of the ids of a text that truncation leaves, of `count`, and then of each
        part that it cuts off, in the engine's order; `stride` is 0."""
        most = count if self.truncation is None else self.truncation["max_length"]
        most -= 0 if self.truncation is None else frame.special_count
        if self.truncation is None or most >= count:
            return [(0, count)]
        if self.truncation["direction"] == "right":
            return [(start, min(start + most, count)) for start in range(0, count, most)]
        return [(max(0, stop - most), stop) for stop in range(count, 0, -most)]

    def pads(self, frame: Frame, kept_ids: Sequence[Any]) -> list[int]:
        """How many ids of padding each text gets. `kept_ids`: the ids that truncation leaves."""
        if self.padding is None:
            return [0] * len(kept_ids)
        special = frame.special_count
        counts = [len(row) + special for row in kept_ids]
        length, multiple = self.padding["length"], self.padding["pad_to_multiple_of"]
        wanted = max(counts, default=0) if length is None else length
        wanted += -wanted % multiple if multiple else 0
        return [max(0, wanted - count) for count in counts]

    @property
    def pads_left(self) -> bool:
        """True if padding comes before the text."""
        return self.padding is not None and self.padding["direction"] == "left"

    def values(
        self, frame: Frame, kept_ids: Sequence[Any], parts: Mapping[str, Sequence[Any]]
    ) -> dict[str, Any]:
        """A list for each column, in it a list for each text (of "length", a number); an int64
        array (texts, ids) if the call asks for tensors and all texts have as many ids.

        `kept_ids`: the ids of each text that truncation leaves, uint32 arrays. `parts`: what their
        tokens have in "offset_mapping" and "tokens", if these columns are asked for; their ids in
        "input_ids", if there are lists of them already."""
        pads = self.pads(frame, kept_ids)
        is_array = self.tensors is not None and len({*map(add, map(len, kept_ids), pads)}) == 1
        rectangle = _Rectangle.of(frame, kept_ids, pads, self.pads_left) if is_array else None
        columns: dict[str, Any] = {}
        for name in self.names:
            if name == "length":
                sizes = map(add, map(len, kept_ids), pads)
                lengths = [size + frame.special_count for size in sizes]
                columns[name] = np.array(lengths, dtype=np.int64) if is_array else lengths
                continue
            part = self._part(name, frame, kept_ids, parts)
            if rectangle is None:
                columns[name] = self._lists(part, kept_ids, pads)
            elif name == "offset_mapping":
                columns[name] = np.array(self._lists(part, kept_ids, pads), dtype=np.int64)
            else:
                columns[name] = rectangle.filled(part)
        return columns

    def lists(
        self, name: str, frame: Frame, kept_ids: Sequence[Any], parts: Mapping[str, Sequence[Any]]
    ) -> list[list[Any]]:
        """One column of `values`, with a list for each text. "length" is no such column."""
        part = self._part(name, frame, kept_ids, parts)
        return self._lists(part, kept_ids, self.pads(frame, kept_ids) if self.padding else ())

    def _part(
        self, name: str, frame: Frame, kept_ids: Sequence[Any], parts: Mapping[str, Sequence[Any]]
    ) -> _Part:
        (before, behind), (first, middle, last) = frame.ids, frame.types
        pad = self.padding or _NO_PADDING
        if name == "input_ids":
            return before, parts.get(name, kept_ids), behind, pad["pad_id"]
        if name == "attention_mask":
            return [1] * len(before), 1, [1] * len(behind), 0
        if name == "special_tokens_mask":
            return [1] * len(before), 0, [1] * len(behind), 1
        if name == "token_type_ids":
            return first, middle, last, pad["pad_type_id"]
        if name == "word_ids":
            return [None] * len(before), parts[name], [None] * len(behind), None
        if name == "tokens":
            return frame.tokens[0], parts[name], frame.tokens[1], pad["pad_token"]
        return [(0, 0)] * len(before), parts[name], [(0, 0)] * len(behind), (0, 0)

    def _lists(self, part: _Part, kept_ids: Sequence[Any], pads: Sequence[int]) -> list[list[Any]]:
        before, middle, behind, filling = part
        if middle is kept_ids:
            rows = [row.tolist() for row in kept_ids]
        elif isinstance(middle, int):
            rows = [[middle] * len(row) for row in kept_ids]
        else:
            rows = list(middle)
        if before or behind:
            rows = [[*before, *row, *behind] for row in rows]
        if self.padding is None:
            return rows
        fillings = ([filling] * pad for pad in pads)
        if self.pads_left:
            return [more + row for row, more in zip(rows, fillings, strict=True)]
        return [row + more for row, more in zip(rows, fillings, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class _Rectangle:
    """Where the tokens of texts are in an array (texts, ids) with special tokens and padding.

    `ids`: those of all texts, uint32. `starts`, `stops`: the columns of each text, int64 (texts,).
    `is_token`: True for each token of a text, bool (texts, ids)."""

    ids: IdArray
    starts: IntArray
    stops: IntArray
    is_token: NDArray[np.bool_]

    @classmethod
    def of(
        cls, frame: Frame, kept_ids: Sequence[IdArray], pads: Sequence[int], pads_left: bool
    ) -> _Rectangle:
        """Returns the rectangle of texts that have as many ids with their `pads`, see `pads`."""
        before, behind = map(len, frame.ids)
        sizes = np.fromiter(map(len, kept_ids), dtype=np.int64, count=len(kept_ids))
        padding = np.array(pads if pads_left else (), dtype=np.int64)
        starts = before + (padding if pads_left else np.zeros_like(sizes))
        stops = starts + sizes
        columns = np.arange(before + len(kept_ids[0]) + behind + pads[0])
        is_token = (columns >= starts[:, None]) & (columns < stops[:, None])
        ids = kept_ids[0] if len(kept_ids) == 1 else np.concatenate(kept_ids)
        return cls(ids, starts, stops, is_token)

    def filled(self, part: _Part) -> NDArray[np.int64]:
        """Returns a column as an array. Its middle is the ids, or one value for all tokens."""
        before, middle, behind, filling = part
        found = np.full(self.is_token.shape, filling, dtype=np.int64)
        found[self.is_token] = middle if isinstance(middle, int) else self.ids
        rows = np.arange(len(found))
        for k, value in enumerate(before):
            found[rows, self.starts - len(before) + k] = value
        for k, value in enumerate(behind):
            found[rows, self.stops + k] = value
        return found
