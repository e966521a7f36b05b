"""What the arguments of a call of a transformers tokenizer ask for, read once for equal calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tokpar.integrations.hf_columns import columns_of, is_handed_over
from tokpar.integrations.hf_release import LOGS_MISSING_LENGTHS, pad_token_of
from tokpar.integrations.row_columns import CallColumns, Frame

_ARGUMENTS = frozenset(
    (
        *("add_special_tokens", "padding", "truncation", "max_length", "stride", "verbose"),
        *("is_split_into_words", "pad_to_multiple_of", "padding_side", "split_special_tokens"),
        *("return_tensors", "return_token_type_ids", "return_attention_mask", "return_length"),
        *("return_overflowing_tokens", "return_special_tokens_mask", "return_offsets_mapping"),
        *("sanitize_control_tokens", "text_pair"),
    )
)
_MOST_KEPT = 64
_NOT_CUT = (None, False, "do_not_truncate")


_BESIDE = frozenset(("text_target", "text_pair_target", "tokenizer_kwargs", "untrusted"))
"""Arguments that bring others, or a second call."""


def is_for_own_call(tokenizer: Any, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> bool:
    """True for a call of a pair, of words or of another form that the own call answers, where the
    keywords alone decide what it sets on the engine. `args`: the arguments behind the text."""
    if args:
        found = len(args) == 1 and args[0] is not None
    elif arguments.get("text_pair") is not None or is_handed_over(arguments):
        found = True
    else:
        splits = arguments.get("split_special_tokens", tokenizer)
        found = splits is not tokenizer and splits is not tokenizer.split_special_tokens
    return found and (not arguments or _BESIDE.isdisjoint(arguments))


def settings_of_call(tokenizer: Any, arguments: Mapping[str, Any]) -> tuple[object, ...]:
    """Returns what decides the settings of the engine in a call with these arguments."""
    splits = tokenizer.split_special_tokens
    if not arguments:
        return (splits,)
    get = arguments.get
    sides = tokenizer.truncation_side, tokenizer.padding_side, tokenizer.model_max_length
    padding = get("padding")
    pad = (pad_token_of(tokenizer), tokenizer.pad_token_type_id) if padding else None
    sizes = get("max_length"), get("stride"), get("pad_to_multiple_of"), get("padding_side")
    return splits, get("split_special_tokens"), get("truncation"), padding, sizes, sides, pad


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What calls with equal arguments have in common. `is_row`: a call of one text returns plain
    lists without padding."""

    columns: CallColumns
    frame: Frame
    add_special_tokens: bool
    verbose: Any
    is_row: bool


class Forms:
    """The forms of the calls of one tokenizer. `frame_of`: returns what is put around each text
    with or without `add_special_tokens`, or None if only the engine knows."""

    def __init__(self, frame_of: Callable[[bool], Frame | None]) -> None:
        self._frame_of = frame_of
        self._known: dict[object, Form | None] = {}

    def of_call(self, tokenizer: Any, arguments: Mapping[str, Any]) -> Form | None:
        """Returns the form of a call; None if only transformers reads these arguments."""
        if not arguments.keys() <= _ARGUMENTS:
            return None
        values = arguments.values()
        length, splits = tokenizer.model_max_length, tokenizer.split_special_tokens
        try:
            key: object = (
                *arguments.items(),
                *map(type, values),  # True is 1, and both are other arguments
                *tokenizer.model_input_names,
                *(tokenizer.truncation_side, length, splits, type(length), type(splits)),
            )
            if "padding" in arguments:
                pad = pad_token_of(tokenizer), tokenizer.pad_token_type_id
                key = key, pad, tokenizer.padding_side
            return self._known[key]
        except KeyError:
            pass
        except TypeError:  # an argument without a hash
            return None
        found = self._read(tokenizer, arguments)
        if len(self._known) >= _MOST_KEPT:
            self._known = {}
        self._known[key] = found
        return found

    def _read(self, tokenizer: Any, arguments: Mapping[str, Any]) -> Form | None:
        adds = arguments.get("add_special_tokens", True)
        if type(adds) is not bool or arguments.get("text_pair") is not None:
            return None
        settings = _settings_of(arguments)
        if settings is None or (settings["padding"] and pad_token_of(tokenizer) == "None"):
            return None
        try:
            padding, truncation, max_length, _ = tokenizer._get_padding_truncation_strategies(
                **settings
            )
        except Exception:  # the own call raises it
            return None
        splits = tokenizer.split_special_tokens
        asked = {"split_special_tokens": splits, **arguments, "max_length": max_length}
        columns = columns_of(tokenizer, padding, truncation, asked)
        frame = None if columns is None else self._frame_of(adds)
        if columns is None or frame is None or not columns.fits(frame):
            return None
        is_row = columns.padding is None and columns.tensors is None
        return Form(columns, frame, adds, arguments.get("verbose", True), is_row)


def _settings_of(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the arguments that decide how to truncate and pad, with their defaults; None if
    transformers warns of them, or logs that one is missing."""
    get = arguments.get
    padding, truncation, length = get("padding", False), get("truncation"), get("max_length")
    known = isinstance(padding, (bool, str)) and isinstance(truncation, (bool, str, type(None)))
    if not known or (padding is True and length is not None and truncation in _NOT_CUT):
        return None
    if LOGS_MISSING_LENGTHS:
        cuts = truncation not in _NOT_CUT
        if cuts is (length is None) or padding not in (False, True, "longest", "do_not_pad"):
            return None
    return {
        "padding": padding,
        "truncation": truncation,
        "max_length": length,
        "pad_to_multiple_of": get("pad_to_multiple_of"),
        "verbose": get("verbose", True),
    }
