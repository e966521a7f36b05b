"""Texts and options of tests of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from tokpar.cache.build_cache import segment_cache_for
from tokpar.cache.cache_policy import LEAST_BYTES, CachePolicy

from tokpar import pipeline
from tokpar.executors.native import CachedExecutor
from tokpar.interfaces import HasSegmentCache
from tokpar.methods import cut
from tokpar.plan import Plan

ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog over the fox. " * 90
ALWAYS = 9.0
"""A share of new segments that no text has more than."""


DIVIDED = "divided at every space"


def encoded(
    texts: Sequence[str], adapter: Any, wave: int = 60, terms: CachePolicy | None = None
) -> Any:
    """As an Encoder does, however short the texts are; twice, so that the second time they come
    from a memory that may be tiny."""
    if isinstance(adapter, HasSegmentCache) and adapter.has_segment_cache:
        lengths = getattr(adapter, "_lengths", None)
        tiny: Any = segment_cache_for(adapter.facts, lambda: lengths, LEAST_BYTES)
        tiny._policy, tiny.waves = terms or CachePolicy(), (wave, wave)
        adapter._segment_cache = tiny  # type: ignore[attr-defined]
    splitter, merger = cut.build()
    with (
        CachedExecutor(2) as executor,
        patch("tokpar.cache.learning.MOST_NEW", ALWAYS),
        patch("tokpar.cache.lookup.LEAST_PART", 16),
    ):
        plan = Plan(adapter, splitter, executor, merger, "auto", whole=True)
        first = pipeline.encode_batch(texts, plan)
        second = pipeline.encode_batch(texts, plan)
    for one, two in zip(first, second, strict=True):
        assert one.ids.tolist() == two.ids.tolist()
    return second
