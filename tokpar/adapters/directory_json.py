"""The tokenizer.json that says what transformers makes of a directory."""

from typing import Any

from tokpar.adapters.hf_copy import tokenizer_json_of
from tokpar.adapters.hf_v0 import load
from tokpar.adapters.settings import Settings
from tokpar.errors import OptionError


def json_of(tokenizer: Any) -> str:
    """Returns the backend tokenizer as a tokenizer.json. Raises OptionError if a tokenizer read
    from it would not be the same."""
    own = tokenizer.backend_tokenizer
    if own.encode_special_tokens:
        raise OptionError("split_special_tokens has no place in it")
    adapter = load(own, Settings())
    assert adapter is not None
    if adapter.postprocess_refused is not None:
        raise OptionError(adapter.postprocess_refused)
    config = tokenizer_json_of(own)
    if type(own).from_str(config).to_str() != config:
        raise OptionError("it is not the same when it is written and read")
    return config
