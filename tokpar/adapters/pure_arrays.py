"""What the adapters of tokenizers in Python share: their lists of ids as arrays."""

from __future__ import annotations

import numpy as np

from tokpar.errors import OptionError
from tokpar.kernels import IdArray
from tokpar.pure.tokenizer import Tokenizer


def ids_of(tokenizer: Tokenizer, text: str) -> IdArray:
    """Ids of a text before anything is applied to the whole; uint32, (n,). OptionError for a lone
    surrogate."""
    require_utf8(text)
    return np.array(tokenizer.encode(text), dtype=np.uint32)


def require_utf8(text: str) -> None:
    """OptionError if `text` cannot be written as UTF-8."""
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OptionError(f"the text has a lone surrogate at position {error.start}") from None
