"""Caches of segments with the compiled functions and with their source."""

from __future__ import annotations

from typing import Any

from tokpar.cache.cache_policy import LEAST_BYTES
from tokpar.cache.segments import unbatcher_for

from tokpar.cache.segment_cache import SegmentCache

ALL = 2**64 - 1


def small_memory(adapter: Any, functions: Any, counting: int, wave: int) -> SegmentCache:
    lengths = getattr(adapter, "_lengths", None)
    facts, least = adapter.facts, LEAST_BYTES
    small = SegmentCache(
        lambda: unbatcher_for(facts, lengths),
        facts.added_tokens,
        least,
        functions,
        absorbs=facts.scheme == "dummy",
    )
    small.seeds[2] = counting
    small.waves = (wave,) * 2
    return small
