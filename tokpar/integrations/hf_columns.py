"""Which columns a call of a transformers tokenizer returns, and how it truncates and pads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers.tokenization_utils_base import (
    PaddingStrategy,
    TruncationStrategy,
)

from tokpar.integrations.hf_release import (
    KNOWN_ARGUMENTS,
    SPLITS_BY_DEFAULT,
)
from tokpar.integrations.row_columns import CallColumns

_INHERITED_ARGUMENTS = (
    "is_split_into_words",
    "return_overflowing_tokens",
    "sanitize_control_tokens",
)
"""Arguments that only the tokenizer's own call answers."""
_BY_DEFAULT = {"token_type_ids": None, "attention_mask": None}
_OPTIONAL = ("token_type_ids", "attention_mask", "special_tokens_mask", "offset_mapping", "length")
_ARGUMENTS = {"offset_mapping": "return_offsets_mapping"}


def is_handed_over(arguments: Mapping[str, Any]) -> bool:
    """True if only the tokenizer's own call answers these arguments of `_encode_plus`."""
    get = arguments.get
    words, overflow, marked = _INHERITED_ARGUMENTS
    return bool(get(words) or get(overflow) or get(marked))


def columns_of(
    tokenizer: Any, padding: Any, truncation: Any, arguments: Mapping[str, Any]
) -> CallColumns | None:
    """The columns of a call of `_encode_plus` of `tokenizer` with these arguments; None if only
    the tokenizer's own call answers them, or refuses them."""
    usual = tokenizer.split_special_tokens
    splits = arguments.get("split_special_tokens", SPLITS_BY_DEFAULT)
    if is_handed_over(arguments):
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
    return CallColumns(
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
