"""What the installed release of transformers has; `as_hf` works from 4.46 on."""

from __future__ import annotations

import copy
import inspect
from typing import Any

try:
    import transformers
except ImportError as error:
    raise ImportError(
        "this needs transformers 4.46 or later, and tokenizers below 1.0: "
        "pip install 'transformers>=4.46'"
    ) from error
from transformers import PreTrainedTokenizerFast

from tokpar.adapters.hf_version import numbers
from tokpar.errors import OptionError

OLDEST = (4, 46)
HAS_BATCH_CALL = hasattr(PreTrainedTokenizerFast, "_batch_encode_plus")
"""True for transformers 4: batches go through `_batch_encode_plus`, single texts through
`_encode_plus`. From 5.0 on all texts go through `_encode_plus`."""
LOGS_MISSING_LENGTHS = HAS_BATCH_CALL
"""True if `__call__` logs that `truncation` or `max_length` is given without the other."""
SPLITS_BY_DEFAULT = False if HAS_BATCH_CALL else None
"""What `split_special_tokens` is where a call does not say it; None: as the tokenizer has it."""
KNOWN_ARGUMENTS: frozenset[str] | None = None
"""The arguments besides which `_batch_encode_plus` raises TypeError; None: it ignores others."""
FOLLOWED_METHODS: tuple[str, ...] = (
    *("__call__", "encode", "_encode_plus", "_convert_encoding", "set_truncation_and_padding"),
    *("_get_padding_truncation_strategies", "_switch_to_input_mode"),
)
"""The methods that decide what a call returns."""
if HAS_BATCH_CALL:
    KNOWN_ARGUMENTS = frozenset(
        inspect.signature(PreTrainedTokenizerFast._batch_encode_plus).parameters
    )
    FOLLOWED_METHODS += ("_call_one", "encode_plus", "batch_encode_plus", "_batch_encode_plus")
SETTINGS = {"_special_tokens_map", "_extra_special_tokens", "model_input_names", "init_kwargs"}
SETTINGS |= {"deprecation_warnings", "_additional_special_tokens"}
"""Attributes that transformers changes in place: `as_hf` copies them."""


def require_release() -> None:
    """Raises OptionError for an installed transformers that is too old."""
    if numbers(transformers.__version__) < OLDEST:
        raise OptionError(
            f"as_hf needs transformers 4.46 or later, {transformers.__version__} is installed: "
            "pip install -U transformers"
        )


def copied_settings(attributes: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy of each attribute of a tokenizer that transformers changes in place."""
    return {name: _copied(attributes[name]) for name in SETTINGS & attributes.keys()}


def _copied(value: Any) -> Any:
    found = copy.copy(value)
    if isinstance(value, dict):
        found.update({key: list(each) for key, each in value.items() if type(each) is list})
    return found


def pad_token_of(tokenizer: Any) -> str:
    """Returns the padding token. The property of transformers logs where there is none."""
    attributes = vars(tokenizer)
    names = attributes.get("_special_tokens_map")
    token = attributes.get("_pad_token") if names is None else names.get("pad_token")
    return str(token)
