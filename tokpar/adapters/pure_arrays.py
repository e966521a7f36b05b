"""What the adapters of tokenizers in Python share: their lists of ids and spans as arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tokpar.errors import OptionError
from tokpar.kernels import IdArray, IntArray, SpanArray, byte_length, spans_from_lengths
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


def length_table(lengths: Mapping[int, int]) -> IntArray:
    """int64 table id -> UTF-8 bytes of the token, 0 for ids without one: {2: 5} -> [0, 0, 5]."""
    table = np.zeros(max(lengths) + 1, dtype=np.int64)
    table[np.fromiter(lengths, np.int64)] = np.fromiter(lengths.values(), np.int64)
    return table


def spans_by_length(table: IntArray, ids: IdArray, text: str) -> SpanArray:
    """Byte spans of tokens that tile `text`; LookupError if by their lengths they do not."""
    lengths = table[ids]
    total, expected = int(lengths.sum()), byte_length(text)
    if total != expected or not lengths.all():
        raise LookupError(
            f"the tokens' bytes do not tile the text: {total} bytes in tokens, {expected} in text"
        )
    return spans_from_lengths(lengths)
