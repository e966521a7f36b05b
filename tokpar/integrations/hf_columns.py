"""The columns that a transformers tokenizer returns (input_ids, masks), from the ids of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers.tokenization_utils_base import (
    LARGE_INTEGER,
    PaddingStrategy,
    TruncationStrategy,
)

from tokpar.adapters.hf_postprocess import postprocess_of
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.integrations.hf_release import (
    KNOWN_ARGUMENTS,
    LOGS_MISSING_LENGTHS,
    SPLITS_BY_DEFAULT,
)

_INHERITED_ARGUMENTS = (
    "return_overflowing_tokens",
    "is_split_into_words",
    "sanitize_control_tokens",
)
"""Arguments that only the tokenizer's own call answers."""
_NO_PADDING = {"pad_id": 0, "pad_type_id": 0, "pad_token": ""}
_BY_DEFAULT = {"token_type_ids": None, "attention_mask": None}
_OPTIONAL = ("token_type_ids", "attention_mask", "special_tokens_mask", "offset_mapping", "length")
_ARGUMENTS = {"offset_mapping": "return_offsets_mapping"}


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The special tokens that post-processing puts around one text.

    `ids`, `tokens`: the ids and the names of the tokens before the text, and of the tokens after
    it. `types`: the type ids of the tokens before the text, of each token of the text, and of the
    tokens after it. `sequences`: the `n_sequences` of a result."""

    ids: tuple[list[int], list[int]]
    types: tuple[list[int], int, list[int]]
    tokens: tuple[list[str], list[str]]
    sequences: int

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
    return Frame(ids, around, tokens, encoding.n_sequences)


_Part = tuple[Sequence[Any], Any, Sequence[Any], Any]
"""A column: the values of the special tokens before a text; a row of values for each text, or one
value for all its tokens; the values of the special tokens after the text; the value of padding."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
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

    def pads(self, frame: Frame, kept_ids: Sequence[Any]) -> list[int]:
        """How many ids of padding each text gets. `kept_ids`: the ids that truncation leaves."""
        if self.padding is None:
            return [0] * len(kept_ids)
        counts = [len(row) + frame.special_count for row in kept_ids]
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
        tokens have in "offset_mapping" and "tokens", if these columns are asked for."""
        pads = self.pads(frame, kept_ids)
        is_array = self.tensors is not None and len({*map(add, map(len, kept_ids), pads)}) == 1
        columns: dict[str, Any] = {}
        for name in self.names:
            if name == "length":
                sizes = map(add, map(len, kept_ids), pads)
                lengths = [size + frame.special_count for size in sizes]
                columns[name] = np.array(lengths, dtype=np.int64) if is_array else lengths
                continue
            part = self._part(name, frame, kept_ids, parts)
            if not is_array:
                columns[name] = self._lists(part, kept_ids, pads)
            elif name == "offset_mapping":
                columns[name] = np.array(self._lists(part, kept_ids, pads), dtype=np.int64)
            else:
                columns[name] = self._array(part, kept_ids, pads)
        return columns

    def _part(
        self, name: str, frame: Frame, kept_ids: Sequence[Any], parts: Mapping[str, Sequence[Any]]
    ) -> _Part:
        (before, behind), (first, middle, last) = frame.ids, frame.types
        pad = self.padding or _NO_PADDING
        if name == "input_ids":
            return before, kept_ids, behind, pad["pad_id"]
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

    def _array(
        self, part: _Part, kept_ids: Sequence[Any], pads: Sequence[int]
    ) -> NDArray[np.int64]:
        before, middle, behind, filling = part
        width = len(before) + len(kept_ids[0]) + len(behind) + pads[0]
        found = np.full((len(kept_ids), width), filling, dtype=np.int64)
        for row, ids, pad in zip(found, kept_ids, pads, strict=True):
            start = len(before) + (pad if self.pads_left else 0)
            stop = start + len(ids)
            row[start - len(before) : start] = before
            row[start:stop] = ids if middle is kept_ids else middle
            row[stop : stop + len(behind)] = behind
        return found


@lru_cache
def _plain_columns(
    has: tuple[bool, bool, bool], max_length: int | None, most: int | None, side: str
) -> Columns:
    columns = ("token_type_ids", "attention_mask", "offset_mapping")
    wanted = {"input_ids": True, **dict(zip(columns, has, strict=True))}
    names = tuple(name for name, is_wanted in wanted.items() if is_wanted)
    strategy = TruncationStrategy.LONGEST_FIRST
    return Columns(
        names, max_length, None if most is None else _truncation_to(most, strategy, side)
    )


def plain_columns_of(
    tokenizer: Any, truncation: Any, max_length: Any, has_offsets: bool
) -> Columns | None:
    """The columns of a call with these arguments, and with no others that matter; None where
    `columns_of` has to look further."""
    most, inputs = None, tokenizer.model_input_names
    if LOGS_MISSING_LENGTHS and (truncation is True) is (max_length is None):
        return None
    if truncation is True or (truncation is None and max_length is not None):
        if max_length is None and tokenizer.model_max_length <= LARGE_INTEGER:
            max_length = tokenizer.model_max_length
        most = max_length
    elif truncation is not None and truncation is not False:
        return None
    if max_length is not None and not _is_count(max_length):
        return None
    side = tokenizer.truncation_side
    if type(tokenizer.split_special_tokens) is not bool or side not in ("left", "right"):
        return None
    has = "token_type_ids" in inputs, "attention_mask" in inputs, has_offsets
    return _plain_columns(has, max_length, most, side)


def columns_of(
    tokenizer: Any, padding: Any, truncation: Any, arguments: Mapping[str, Any]
) -> Columns | None:
    """The columns of a call of `_encode_plus` of `tokenizer` with these arguments; None if only
    the tokenizer's own call answers them, or refuses them."""
    usual = tokenizer.split_special_tokens
    splits = arguments.get("split_special_tokens", SPLITS_BY_DEFAULT)
    if any(arguments.get(name) for name in _INHERITED_ARGUMENTS):
        return None
    if KNOWN_ARGUMENTS is not None and not arguments.keys() <= KNOWN_ARGUMENTS:
        return None
    inherits = splits is None and SPLITS_BY_DEFAULT is None
    if not isinstance(usual, bool) or not (inherits or splits is usual):
        return None
    names = ["input_ids"]
    for name in _OPTIONAL:
        asked = arguments.get(_ARGUMENTS.get(name, f"return_{name}"))
        if asked is None and name in _BY_DEFAULT:
            asked = name in tokenizer.model_input_names
        if asked:
            names.append(name)
    try:
        cut = _truncation(tokenizer, truncation, arguments)
        pad = _padding(tokenizer, padding, arguments)
    except _OwnCallError:
        return None
    return Columns(
        tuple(names), arguments.get("max_length"), cut, pad, arguments.get("return_tensors")
    )


class _OwnCallError(Exception):
    """Only the tokenizer's own call knows what these arguments do."""


def _truncation(
    tokenizer: Any, strategy: Any, arguments: Mapping[str, Any]
) -> dict[str, Any] | None:
    if strategy == TruncationStrategy.DO_NOT_TRUNCATE:
        return None
    most: Any = arguments.get("max_length")
    side = tokenizer.truncation_side
    known = strategy in (TruncationStrategy.LONGEST_FIRST, TruncationStrategy.ONLY_FIRST)
    counted = _is_count(most) and _is_zero(arguments.get("stride", 0))
    if not known or not counted or side not in ("left", "right"):
        raise _OwnCallError
    return _truncation_to(most, TruncationStrategy(strategy), side)


def _truncation_to(most: int, strategy: TruncationStrategy, side: str) -> dict[str, Any]:
    return {"max_length": most, "stride": 0, "strategy": strategy.value, "direction": side}


def _padding(tokenizer: Any, strategy: Any, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    if strategy == PaddingStrategy.DO_NOT_PAD:
        return None
    length = arguments.get("max_length") if strategy == PaddingStrategy.MAX_LENGTH else None
    side = arguments.get("padding_side")
    multiple = arguments.get("pad_to_multiple_of")
    settings = {
        "length": length,
        "direction": tokenizer.padding_side if side is None else side,
        "pad_id": tokenizer.pad_token_id,
        "pad_token": tokenizer.pad_token,
        "pad_type_id": tokenizer.pad_token_type_id,
        "pad_to_multiple_of": multiple,
    }
    known = strategy in (PaddingStrategy.LONGEST, PaddingStrategy.MAX_LENGTH)
    counts = [settings["pad_id"], settings["pad_type_id"]]
    counts += [each for each in (length, multiple) if each is not None]
    sides = settings["direction"] in ("left", "right")
    if not known or not sides or not all(map(_is_count, counts)) or multiple == 0:
        raise _OwnCallError
    return settings


def _is_zero(value: object) -> bool:
    return type(value) is int and value == 0


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31
