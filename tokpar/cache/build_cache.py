"""Builds the segment cache of a tokenizer, where the facts of the tokenizer allow one."""

from __future__ import annotations

from collections.abc import Callable

from tokpar import kernel_modules
from tokpar.cache.added_token_parts import AddedParts
from tokpar.cache.cache_policy import FAST_ENGINE, USUAL
from tokpar.cache.segment_cache import SegmentCache
from tokpar.cache.segments import Unbatcher, unbatcher_for
from tokpar.facts.space_stages import MARK, SpaceCut, space_cuts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.types import Facts


def segment_cache_for(
    facts: Facts,
    lengths: Callable[[], TokenLengths | None],
    cache_bytes: int,
    has_own_cache: bool = False,
) -> SegmentCache | None:
    """Returns the segment cache for a tokenizer, or None.

    None if texts may not be cut before every certified space, if the compiled kernel is missing, or
    if `cache_bytes` is 0. `lengths`: returns the byte lengths of tokens that tile the text.
    `has_own_cache`: see `EngineTraits`."""
    if not _can_cache(facts, cache_bytes):
        return None
    cut, absorbs = _cut_of(facts), facts.scheme == "dummy"
    return SegmentCache(
        lambda: unbatcher_for(facts, lengths()) if cut is None or absorbs else Unbatcher(),
        facts.added_tokens,
        cache_bytes,
        policy=FAST_ENGINE if has_own_cache else USUAL,
        cut=cut,
        parts=AddedParts(facts),
        absorbs=absorbs,
    )


def _can_cache(facts: Facts, cache_bytes: int) -> bool:
    known = ("regex", "bert", "spaces", "dummy")
    proved = facts.unprovable is None and facts.scheme in known
    if kernel_modules.SEGMENTS is None or not proved or facts.prefix_space or not cache_bytes:
        return False
    cut = _cut_of(facts)
    if facts.scheme == "dummy":  # the licence must bar no character
        return cut is not None and not cut.spared_ascii
    return facts.scheme != "spaces" or (cut is not None and cut.space_char == " ")


def _cut_of(facts: Facts) -> SpaceCut | None:
    """Returns where texts may be cut by theorem 50 or by the characters before "▁"; else None."""
    if facts.scheme == "dummy":
        return SpaceCut(
            "unjoined", joined_chars=(facts.chars_before_mark or frozenset()) | {" ", MARK}
        )
    return next(iter(space_cuts(facts)), None) if facts.scheme == "spaces" else None
