"""The first or the last ids of a text, without encoding the rest of the text
(proofs/chunks.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from tokpar.arrays import IdArray, frozen_ids
from tokpar.chunks.special_tokens import special_tokens_of
from tokpar.contract.adapter import inserted_ids, require_accepted
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.errors import OptionError
from tokpar.pipeline.plan import serial_report
from tokpar.process.limits import require_choice, require_count
from tokpar.results.adding_up import EncodesParts, concatenate
from tokpar.results.encoding import Encoding
from tokpar.results.seams import NO_SEAMS

Side = Literal["left", "right"]
NO_IDS: IdArray = np.empty(0, dtype=np.uint32)
_CHARS_PER_TOKEN, _LEAST_CHARS = 6, 1 << 10
"""Code points per token that are encoded first, and the fewest that are worth a cut."""
_SEARCH_REACH = 1 << 16
"""How far from its aim the search for a cut goes, code points."""


def kept_ids(
    text: str, tokenizer: TokenizerAdapter, encode: EncodesParts, max_tokens: int, side: Side
) -> Encoding:
    """Returns the encoding of `text`, truncated to `max_tokens` ids; see `Encoder.encode`."""
    require_count("max_tokens", max_tokens)
    require_choice("side", side, ("left", "right"))
    special = special_tokens_of(tokenizer)
    if special.around is None:
        raise OptionError(
            f"max_tokens needs special tokens that are the same for every text, and nothing is "
            f"known of those of {tokenizer.name}; encode the whole text and cut its ids"
        )
    if max_tokens < special.count:
        raise OptionError(
            f"max_tokens={max_tokens} leaves no room for text beside the {special.count} special "
            "tokens of the tokenizer"
        )
    require_accepted(text, tokenizer)
    most = max_tokens if special.truncates_to is None else special.truncates_to
    least_count = max(0, min(max_tokens, most) - special.count)
    ids = _first(text, tokenizer, encode, least_count, side)
    kept = ids[:least_count] if side == "right" else ids[max(0, len(ids) - least_count) :]
    report = serial_report("truncated", f"max_tokens={max_tokens} from the {side}", tokenizer)
    return Encoding.of(
        frozen_ids(concatenate([special.around[0], kept, special.around[1]])), NO_SEAMS, report
    )


def count_up_to(
    text: str,
    tokenizer: TokenizerAdapter,
    encode: EncodesParts,
    limit: int,
    count_whole: Callable[[str], int],
    is_exact: bool,
) -> int:
    """Returns `count_whole(text)`, the number of ids of the text, or `limit` + 1 if it is more.

    `count_whole` is called where settings truncate, pad, or depend on the whole text, and for a
    text of which no beginning would be tried, unless it may be approximate."""
    require_count("limit", limit, 0)
    is_short = is_exact and len(text) <= 2 * _least_chars(limit)
    if is_short or inserted_ids(tokenizer) is None:
        return min(count_whole(text), limit + 1)
    require_accepted(text, tokenizer)
    special = special_tokens_of(tokenizer).count
    found = _first(text, tokenizer, encode, max(0, limit + 1 - special), "right")
    return min(len(found) + special, limit + 1)


def _first(
    text: str, tokenizer: TokenizerAdapter, encode: EncodesParts, least_count: int, side: Side
) -> IdArray:
    """Returns the first ids of the text, or the last ids: `least_count` or more.

    Returns all ids if the text has fewer."""
    return kept_part(text, tokenizer, encode.one, least_count, side)[1]


def kept_part(
    text: str,
    tokenizer: TokenizerAdapter,
    encode: Callable[[str], IdArray],
    least_count: int,
    side: Side,
) -> tuple[str, IdArray]:
    """Returns the beginning of the text, or its end, up to a certified cut, and its ids: those of
    the whole text (theorem 27), `least_count` or more. Returns the whole text if it has fewer.

    The tokenizer must accept the text."""
    part, ids = text, NO_IDS
    for part in _ends(text, tokenizer, least_count, side):
        ids = encode(part)
        if len(ids) >= least_count:
            break
    return part, ids


def has_ends(text: str, least_count: int) -> bool:
    """True if `kept_part` may return less than the whole text."""
    return len(text) > 2 * _least_chars(least_count)


def _least_chars(ids: int) -> int:
    """The code points of the first part of a text that is tried for so many ids."""
    return max(_LEAST_CHARS, _CHARS_PER_TOKEN * ids)


def _ends(text: str, tokenizer: TokenizerAdapter, least_count: int, side: Side) -> Iterator[str]:
    """Yield longer and longer beginnings (or ends) of the text up to a certified cut, then all."""
    size = _least_chars(least_count)
    finder = finder_for(facts_of(tokenizer))
    cut = finder.refusal_for(text) is None
    while cut and 2 * size < len(text):
        if side == "right":
            seam = finder.find(text, size, min(len(text), size + _SEARCH_REACH), 64)
            if seam is not None:
                yield text[: seam.position]
        else:
            start = len(text) - size
            seam = finder.find_last(text, max(1, start - _SEARCH_REACH), start)
            if seam is not None:
                yield text[seam.position + seam.absorbed :]
        size *= 4
    yield text
