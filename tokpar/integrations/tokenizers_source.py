"""Finds the `tokenizers.Tokenizer` that a caller of `tokpar.as_tokenizers` means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from tokpar.adapters.hf_version import installed_release
from tokpar.adapters.settings import DirectoryTokenizer, refusing
from tokpar.errors import OptionError


def require_release() -> None:
    """Raises OptionError for tokenizers 1.x."""
    if installed_release() >= (1,):
        raise OptionError("as_tokenizers needs tokenizers below 1.0: use tokpar.Encoder")


def engine_of(source: Any) -> Tokenizer:
    """Returns the tokenizer `source`, or the one that its name or path means. Raises OptionError
    for another one, and what `load` raises."""
    require_release()
    if isinstance(source, (str, os.PathLike)):
        return _engine_named(os.fspath(source))
    backend = getattr(source, "backend_tokenizer", source)
    if not isinstance(backend, Tokenizer):
        raise OptionError(
            "as_tokenizers needs a tokenizers.Tokenizer, a fast tokenizer of transformers, a path "
            f"or a name, got {type(source).__name__}"
        )
    return backend


def _engine_named(name: str) -> Tokenizer:
    if os.path.isfile(name):
        with refusing(Path(name)):
            return Tokenizer.from_file(name)
    from tokpar.adapters.named_tokenizers import tokenizer_named  # most callers have a file

    found = tokenizer_named(name)
    if not isinstance(found, DirectoryTokenizer):
        raise OptionError(
            f"as_tokenizers needs a tokenizer of tokenizers, {name!r} is one of tiktoken: use "
            "tokpar.as_tiktoken"
        )
    if found.tokenizer is None:
        return Tokenizer.from_file(os.fspath(found))
    backend: Tokenizer = found.tokenizer.backend_tokenizer
    return backend
