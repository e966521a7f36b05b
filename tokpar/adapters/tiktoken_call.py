"""What the compiled call of a `tiktoken.Encoding` is made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import tiktoken

from tokpar.arrays import IdArray
from tokpar.compiled.compiled_build import LEAST_KEPT, CallParts, added_flags, find_cut
from tokpar.compiled.merges import Source, ranks_of
from tokpar.types import AddedToken, Facts

if TYPE_CHECKING:
    from tokpar.compiled.call_tables import Arrays


LONGEST_WORD = 1 << 17
"""Bytes of a pre-token. The regex of the engine gives up on some of a million characters."""


def call_parts_of(
    encoding: tiktoken.Encoding,
    facts: Facts,
    source: Source,
    forbidden: Collection[str],
) -> CallParts | str:
    """Returns what the compiled call is made from; or why the encoding has none.

    `source`: of its ranks. `forbidden`: the special tokens that make the own call raise an
    error."""
    allowed_specials = [token.content for token in facts.added_tokens]
    if facts.unprovable is not None:
        return facts.unprovable
    if _may_overlap(allowed_specials, forbidden):
        return "an allowed and a forbidden special token may share characters of a text"
    ranks: Mapping[bytes, int] = encoding._mergeable_ranks
    identity = encoding._pat_str, source.sha256, f"tiktoken {tiktoken.__version__}"
    refused = AddedToken("", 0)
    added_tokens = {
        token: (0, added_flags(refused, is_forbidden=True), False) for token in forbidden
    }
    added_tokens |= {
        token.content: (token.id, added_flags(token), False) for token in facts.added_tokens
    }
    return CallParts(
        identity=identity if source.length >= LEAST_KEPT else None,
        make_arrays=partial(_make_arrays, facts, ranks),
        added_tokens=added_tokens,
        special=((), ()),
        tokens=partial(_some_tokens, ranks),
        encode_many=partial(_encode_many, encoding, frozenset(allowed_specials)),
        tokenize=partial(_tokenize, encoding),
        find_cut=partial(find_cut, facts),
        longest_word=LONGEST_WORD,
    )


def _make_arrays(facts: Facts, ranks: Mapping[bytes, int]) -> Arrays:
    from tokpar.compiled.call_tables import byte_arrays  # only where tables are made

    return byte_arrays(facts, ranks_of(ranks))


def _may_overlap(allowed_specials: Collection[str], forbidden: Collection[str]) -> bool:
    """True if an occurrence of a forbidden token may share characters with one of an allowed."""
    return any(
        one in other or any(other.startswith(one[k:]) for k in range(1, len(one)))
        for one, other in (
            pair for a in allowed_specials for b in forbidden for pair in ((a, b), (b, a))
        )
    )


def _encode_many(
    encoding: tiktoken.Encoding, allowed_specials: Collection[str], texts: Sequence[str]
) -> list[IdArray]:
    """Returns the ids of texts. Forbidden special tokens are text like any other."""
    encode = partial(encoding.encode, allowed_special=allowed_specials, disallowed_special=())
    return [np.array(encode(text), dtype=np.uint32) for text in texts]


def _some_tokens(ranks: Mapping[bytes, int]) -> list[str]:
    """Returns some tokens as text."""
    some = [*ranks][:: max(1, len(ranks) // 300)]
    return [token.decode(errors="ignore") for token in some]


def _tokenize(encoding: tiktoken.Encoding, word: bytes) -> list[int]:
    """Returns the engine's ids of one word."""
    return list(encoding._encode_single_piece(word))
