"""The columns that a transformers tokenizer returns (input_ids, masks), from the ids of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from transformers.tokenization_utils_base import PaddingStrategy, TruncationStrategy

from tokpar.adapters.hf_postprocess import Padding, PostProcess, Truncation, postprocess_of
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import IntArray, SpanArray, offsets_of
from tokpar.types import Rows

_Item = TypeVar("_Item")
_INHERITED_ARGUMENTS = (
    "return_overflowing_tokens",
    "is_split_into_words",
    "sanitize_control_tokens",
)
"""Arguments that only the tokenizer's own call answers."""
_BY_DEFAULT = {"token_type_ids": None, "attention_mask": None}
_OPTIONAL = ("token_type_ids", "attention_mask", "special_tokens_mask", "offset_mapping", "length")
_ARGUMENTS = {"offset_mapping": "return_offsets_mapping"}


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The special tokens that post-processing puts around one text.

    `postprocess` has the ids before and after the text. `types`: the type ids of the tokens before
    the text, of each token of the text, and of the tokens after it. `tokens`: the names of the
    tokens before and after the text. `sequences`: the `n_sequences` of a result."""

    postprocess: PostProcess
    types: tuple[list[int], int, list[int]]
    tokens: tuple[list[str], list[str]]
    sequences: int

    @property
    def special_count(self) -> int:
        """How many special tokens each text gets."""
        return len(self.postprocess.prefix) + len(self.postprocess.suffix)


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
    return Frame(postprocess, around, tokens, encoding.n_sequences)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Which columns one call returns, and how its texts are truncated and padded.

    `truncation`, `padding`: arguments of the engine's `enable_truncation`, `enable_padding`, or
    None. `max_length`, `tensors`: those of the call."""

    names: tuple[str, ...]
    max_length: Any
    truncation: Mapping[str, Any] | None
    padding: Mapping[str, Any] | None
    tensors: Any

    def fits(self, frame: Frame) -> bool:
        """The truncation leaves room for a token of the text beside the special tokens."""
        return self.truncation is None or self.truncation["max_length"] > frame.special_count

    def postprocess(self, frame: Frame) -> PostProcess:
        """Truncation, special tokens and padding of this call."""
        cut, pad = self.truncation, self.padding
        around = frame.postprocess.prefix, frame.postprocess.suffix
        truncation = padding = None
        if cut is not None:
            limit = cut["max_length"] - frame.special_count
            truncation = Truncation(limit, cut["strategy"], cut["direction"], 0)
        if pad is not None:
            multiple = pad["pad_to_multiple_of"] or 0
            padding = Padding(pad["length"], multiple, pad["direction"], pad["pad_id"])
        return PostProcess(*around, truncation, padding)

    def cut(self, frame: Frame, lengths: IntArray) -> tuple[IntArray, IntArray]:
        """How many ids truncation takes from the left, and from the right, of texts of so many."""
        postprocess, none = self.postprocess(frame), np.zeros_like(lengths)
        if postprocess.truncation is None:
            return none, none
        gone = lengths - postprocess.truncation.kept_lengths(lengths)
        return (gone, none) if postprocess.truncation.direction == "left" else (none, gone)

    def kept_rows(self, frame: Frame, rows: Rows) -> Rows:
        """The ids that truncation leaves of `rows`, without special tokens and padding."""
        return PostProcess(truncation=self.postprocess(frame).truncation).rows(rows)

    def first_tokens(self, frame: Frame, rows: Rows) -> IntArray:
        """Behind how many ids of padding and special tokens the first token of each text is."""
        before = np.full(len(rows), len(frame.types[0]), dtype=np.int64)
        if self.padding is None or self.padding["direction"] == "right":
            return before
        final, kept = self.postprocess(frame).rows(rows), self.kept_rows(frame, rows)
        return before + np.diff(final.offsets) - np.diff(kept.offsets) - frame.special_count

    def values(
        self,
        rows: Rows,
        frame: Frame,
        spans: SpanArray | None,
        names: Sequence[str] = (),
    ) -> dict[str, list[Any]]:
        """A list for each column, in it a list for each text (of "length", a number). `rows`: ids
        of the texts before post-processing. `spans`, `names`: the offsets and the names of the
        tokens that truncation leaves, for the columns "offset_mapping" and "tokens"."""
        lengths = np.diff(rows.offsets)
        kept_counts = lengths - sum(self.cut(frame, lengths))
        final = self.postprocess(frame).rows(rows)
        pads = np.diff(final.offsets) - kept_counts - frame.special_count
        columns: dict[str, list[Any]] = {}
        for name in self.names:
            if name == "input_ids":
                ids = final.ids  # a list for each row is faster than slices of one list of all
                edges = pairwise(final.offsets.tolist())
                columns[name] = [ids[a:b].tolist() for a, b in edges]
            elif name == "length":
                columns[name] = np.diff(final.offsets).tolist()
            elif name == "offset_mapping":
                assert spans is not None
                pairs = list(zip(spans[:, 0].tolist(), spans[:, 1].tolist(), strict=True))
                specials = [(0, 0)] * len(frame.types[0]), [(0, 0)] * len(frame.types[2])
                columns[name] = self._between_specials(pairs, specials, (0, 0), kept_counts, pads)
            elif name == "tokens":
                filling = "" if self.padding is None else self.padding["pad_token"]
                columns[name] = self._between_specials(
                    names, frame.tokens, filling, kept_counts, pads
                )
            else:
                columns[name] = self._masks(name, kept_counts, pads, frame)
        return columns

    def _between_specials(
        self,
        items: Sequence[_Item],
        specials: tuple[list[_Item], list[_Item]],
        filling: _Item,
        kept_counts: IntArray,
        pads: IntArray,
    ) -> list[list[_Item]]:
        """One list for each text: its own of `items`, between those of the special tokens."""
        before, behind = specials
        edges = pairwise(offsets_of(kept_counts).tolist())
        rows = [[*before, *items[a:b], *behind] for a, b in edges]
        return [self._pad(row, filling, pad) for row, pad in zip(rows, pads.tolist(), strict=True)]

    def _masks(
        self, name: str, kept_counts: IntArray, pads: IntArray, frame: Frame
    ) -> list[list[int]]:
        before, behind = [1] * len(frame.postprocess.prefix), [1] * len(frame.postprocess.suffix)
        filling, first, middle, last = {
            "token_type_ids": (self._pad_type, frame.types[0], frame.types[1], frame.types[2]),
            "attention_mask": (0, before, 1, behind),
            "special_tokens_mask": (1, before, 0, behind),
        }[name]
        around = bool(first or last)
        rows = []
        for count, pad in zip(kept_counts.tolist(), pads.tolist(), strict=True):
            row = first + [middle] * count + last if around else [middle] * count
            rows.append(self._pad(row, filling, pad))
        return rows

    def _pad(self, row: list[_Item], filling: _Item, pad: int) -> list[_Item]:
        if not pad:
            return row
        pad_left = self.padding is not None and self.padding["direction"] == "left"
        return [filling] * pad + row if pad_left else row + [filling] * pad

    @property
    def _pad_type(self) -> int:
        return 0 if self.padding is None else int(self.padding["pad_type_id"])


def columns_of(
    tokenizer: Any, padding: Any, truncation: Any, arguments: Mapping[str, Any]
) -> Columns | None:
    """The columns of a call of `_encode_plus` of `tokenizer` with these arguments; None if only
    the tokenizer's own call answers them, or refuses them."""
    usual = tokenizer.split_special_tokens
    splits = arguments.get("split_special_tokens")
    if any(arguments.get(name) for name in _INHERITED_ARGUMENTS):
        return None
    if not isinstance(usual, bool) or (splits is not None and splits is not usual):
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
    most, side = arguments.get("max_length"), tokenizer.truncation_side
    known = strategy in (TruncationStrategy.LONGEST_FIRST, TruncationStrategy.ONLY_FIRST)
    counted = _is_count(most) and _is_zero(arguments.get("stride", 0))
    if not known or not counted or side not in ("left", "right"):
        raise _OwnCallError
    return {
        "max_length": most,
        "stride": 0,
        "strategy": TruncationStrategy(strategy).value,
        "direction": side,
    }


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
