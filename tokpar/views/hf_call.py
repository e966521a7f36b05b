"""The arguments of one call, checked and settled as transformers settles them."""

import warnings
from collections.abc import Mapping
from typing import Any

from tokpar.errors import OptionError

# A model_max_length above this means that the tokenizer knows no limit.
_NO_LIMIT = 10**20

_TRUNCATIONS = ("longest_first", "only_first", "only_second")
_PADDINGS = ("longest", "max_length")
_TENSORS = ("np", "pt")
_NOT_OFFERED = {
    "text_pair": "pairs of texts are",
    "text_target": "target texts are",
    "text_pair_target": "target texts are",
    "is_split_into_words": "text in words is",
    "return_overflowing_tokens": "the overflowing parts of a truncated text are",
    "tokenizer_kwargs": "arguments in a dictionary are",
    "max_target_length": "target texts are",
}


class Call:
    """What to do with the ids of the texts; defaults are those of `original`, a transformers
    tokenizer or what stands for one. Raises OptionError.

    `truncation`, `padding`: None or the strategy's name. `max_length`: ids, special tokens counted.
    `returned`: column -> asked for, or None for the default; `columns`: those of the result, in
    order."""

    def __init__(
        self,
        original: Any,
        *,
        add_special_tokens: bool,
        padding: Any,
        truncation: Any,
        max_length: int | None,
        stride: int,
        pad_to_multiple_of: int | None,
        padding_side: str | None,
        return_tensors: Any,
        returned: Mapping[str, bool | None],
        verbose: bool,
    ) -> None:
        _check_sizes(max_length, stride, pad_to_multiple_of)
        if padding_side not in (None, "left", "right"):
            raise OptionError(f"padding_side must be 'left' or 'right', got {padding_side!r}")
        if max_length is not None and padding is False and truncation is None:
            truncation = True
        cut = _name("truncation", truncation, (None, False), "longest_first", _TRUNCATIONS)
        pad = _name("padding", padding, (False,), "longest", _PADDINGS)
        if padding is True and max_length is not None and cut is None and verbose:
            warnings.warn(
                "max_length is ignored with padding=True and no truncation; padding='max_length' "
                "pads to it",
                stacklevel=4,
            )
        if max_length is None and (pad == "max_length" or cut is not None):
            known = original.model_max_length <= _NO_LIMIT
            max_length = original.model_max_length if known else None
            cut = cut if known else None
            pad = pad if known or pad == "longest" else None
        if pad is not None:
            _check_padding(original, cut, max_length, pad_to_multiple_of)
        names = original.model_input_names
        asked = {name: name in names if ask is None else ask for name, ask in returned.items()}
        self.add_special_tokens = bool(add_special_tokens)
        self.truncation, self.padding = cut, pad
        self.max_length, self.multiple = max_length, pad_to_multiple_of
        self.truncation_side: str = original.truncation_side
        self.padding_side = str(padding_side or original.padding_side)
        self.columns = ("input_ids", *(name for name, ask in asked.items() if ask))
        self.tensors = _name("return_tensors", return_tensors, (None,), "", _TENSORS)


def refuse(arguments: Mapping[str, Any], split_special_tokens: bool) -> None:
    """OptionError for an argument that transformers knows and a view does not offer, if it asks for
    anything, and for one that nobody knows."""
    for name, value in arguments.items():
        if name == "split_special_tokens":
            if value is not None and bool(value) != split_special_tokens:
                raise OptionError(
                    f"split_special_tokens={value!r} differs from the tokenizer's own: set it on "
                    "the tokenizer, before the call"
                )
        elif name not in _NOT_OFFERED:
            raise OptionError(f"unknown argument {name!r}: see docs/views.md for what a view takes")
        elif value is not None and value is not False:
            raise OptionError(
                f"{name}: {_NOT_OFFERED[name]} not offered by a view, call the tokenizer itself"
            )


def _name(
    argument: str, value: Any, off: tuple[object, ...], default: str, known: tuple[str, ...]
) -> str | None:
    """The known name that `value` stands for, None if it is one of `off`, `default` for True.
    The enums of transformers are strings too."""
    if any(value is nothing for nothing in off):
        return None
    if value is True and default:
        return default
    for name in known:
        if value == name:
            return name
    if default and value == f"do_not_{'truncate' if argument == 'truncation' else 'pad'}":
        return None
    allowed = [repr(name) for name in known] + ([] if not default else ["True", "False"])
    raise OptionError(f"{argument} must be one of {', '.join(allowed)}, got {value!r}")


def _check_sizes(max_length: Any, stride: Any, multiple: Any) -> None:
    for name, value in (("max_length", max_length), ("pad_to_multiple_of", multiple)):
        if value is not None and (not hasattr(value, "__index__") or value < 0):
            raise OptionError(f"{name} must be None or an int of at least 0, got {value!r}")
    if stride != 0:
        raise OptionError(
            "stride is how much overflowing parts overlap, which a view does not return: call the "
            f"tokenizer itself; got {stride!r}"
        )


def _check_padding(
    original: Any, cut: str | None, length: int | None, multiple: int | None
) -> None:
    if original.pad_token is None or original.pad_token_id < 0:
        raise OptionError(
            "the tokenizer has no padding token: set pad_token on it, for instance to its eos_token"
        )
    if cut is not None and length is not None and multiple is not None and length % multiple:
        raise OptionError(
            f"with truncation and padding max_length ({length}) must be a multiple of "
            f"pad_to_multiple_of ({multiple})"
        )
