"""Counts the ids with which a tokenizer's own padding fills the rows of a batch."""

from __future__ import annotations

import numpy as np

from tokpar.arrays import IntArray
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter
from tokpar.results.encoding import Encoding, OwnPadding
from tokpar.results.spans import SpanOrigin
from tokpar.types import Rows

_PROBE = 1 << 31
"""A number that stands in for the id of a text: post-processing reads no ids."""


def own_padding(
    tokenizer: TokenizerAdapter, own_offsets: IntArray, final_offsets: IntArray
) -> OwnPadding | None:
    """Returns the padding of rows that lie between `own_offsets` before post-processing and between
    `final_offsets` behind it; None for a tokenizer that does not pad.

    Raises LookupError if post-processing depends on the text."""
    if not isinstance(tokenizer, PostProcesses) or not tokenizer.pads:
        return None
    special = tokenizer.special_tokens
    if special is None:
        raise LookupError(
            f"{tokenizer.name} post-processes by its own call: which ids are padding is not known"
        )
    whole = np.diff(own_offsets) + sum(map(len, special))
    if tokenizer.truncates_to is not None:
        whole = np.minimum(whole, tokenizer.truncates_to)
    count, none = np.diff(final_offsets) - whole, np.zeros_like(whole)
    is_left = _pads_left(tokenizer, len(special[0]))
    return (count, none) if is_left else (none, count)


def _pads_left(post: PostProcesses, before: int) -> bool:
    """True if padding comes first: a text of one id, beside one of two, has more than the `before`
    special tokens before its id."""
    probe = Rows.of([np.full(count, _PROBE, dtype=np.uint32) for count in (1, 2)])
    places = np.flatnonzero(post.postprocess(probe, ["", ""])[0] == _PROBE)
    return bool(len(places)) and int(places[0]) > before


def padding_of_one(encoding: Encoding) -> OwnPadding | None:
    """Returns what `own_padding` returns of a text that is encoded alone."""
    origin = encoding.origin
    if not isinstance(origin, SpanOrigin):
        return None
    own = np.array([0, len(origin.before_postprocess(encoding.ids))])
    return own_padding(origin.tokenizer, own, np.array([0, len(encoding.ids)]))
