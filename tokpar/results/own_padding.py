"""Counts the ids with which a tokenizer's own padding fills the rows of a batch."""

from __future__ import annotations

import numpy as np

from tokpar.arrays import IdArray, IntArray
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
    is_left = _pads_left(tokenizer, *special)
    return (count, none) if is_left else (none, count)


def _pads_left(post: PostProcesses, before: IdArray, after: IdArray) -> bool:
    """Returns True if padding comes first. Texts of no, one and two ids are post-processed.

    A text of one id, beside one of two, is padded before the `before` special tokens, or behind its
    id. If truncation leaves no room for a second id, an empty text is looked at: its special tokens
    are its last ids, or its first. Raises LookupError if these are both, and no text tells."""
    probe = Rows.of([np.full(count, _PROBE, dtype=np.uint32) for count in range(3)])
    rows = post.postprocess(probe, ["", "", ""])
    places, own = np.flatnonzero(rows[1] == _PROBE), np.concatenate([before, after])
    if len(places) and len(rows[1]) > len(own) + 1:
        return int(places[0]) > len(before)
    empty, size = rows[0].tolist(), len(own)
    is_last: bool = empty[len(empty) - size :] == own.tolist()
    is_first: bool = empty[:size] == own.tolist()
    if is_last and is_first and 0 < size < len(empty):
        raise LookupError("the ids of padding are those of the special tokens: its side is unknown")
    return is_last


def padding_of_one(encoding: Encoding) -> OwnPadding | None:
    """Returns what `own_padding` returns of a text that is encoded alone."""
    origin = encoding.origin
    if not isinstance(origin, SpanOrigin):
        return None
    own = np.array([0, len(origin.before_postprocess(encoding.ids))])
    return own_padding(origin.tokenizer, own, np.array([0, len(encoding.ids)]))
