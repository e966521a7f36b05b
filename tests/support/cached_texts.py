"""Texts and options of tests of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokpar.compiled.segment_cache import segment_cache_for
from tokpar.contract.interfaces import HasSegmentCache
from tokpar.executors.native import CachedExecutor
from tokpar.methods import cut
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.plan import Plan
from tokpar.process.limits import LEAST_CACHE_BYTES

ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog over the fox. " * 90
DIVIDED = "divided at every space"


def encoded(texts: Sequence[str], adapter: Any) -> Any:
    """As an Encoder does, however short the texts are; twice, so that the second time they come
    from a cache that may be tiny."""
    if isinstance(adapter, HasSegmentCache) and adapter.has_segment_cache:
        tiny: Any = segment_cache_for(adapter.facts, LEAST_CACHE_BYTES)
        adapter._segment_cache = tiny  # type: ignore[attr-defined]
    splitter, merger = cut.build()
    plan = Plan(adapter, splitter, CachedExecutor(2), merger, "auto", whole=True)
    first = pipeline.encode_batch(texts, plan)
    second = pipeline.encode_batch(texts, plan)
    for one, two in zip(first, second, strict=True):
        assert one.ids.tolist() == two.ids.tolist()
    return second
