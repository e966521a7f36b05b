"""What adapters with a compiled call or a cache of segments have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tokpar.contract.adapter import DecodingParts, later_call_of
from tokpar.contract.interfaces import CachedRows
from tokpar.process import kernel_modules
from tokpar.process.cached_property import cached_property
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_build import CallParts, LaterCall
    from tokpar.compiled.segment_cache import SegmentCache
    from tokpar.decoding.text_table import LaterTable


def call_refused(engine_check: bool, cache_bytes: int) -> str | None:
    """Returns why no tokenizer with these settings has a compiled call, or None."""
    if engine_check:
        return 'engine_check="always" makes the engine encode'
    if not cache_bytes:
        return "cache_bytes=0 makes the engine encode"
    return None if kernel_modules.CALL is not None else f"no kernel: {kernel_modules.WHY_NONE}"


def later_call(parts: CallParts) -> LaterCall:
    """Returns the compiled call of a tokenizer, as soon as there is one."""
    from tokpar.compiled import compiled_build  # other tokenizers do without it

    if not compiled_build.AT_FIRST_CALL:
        return compiled_build.LaterCall(parts)
    from tokpar.compiled.deferred_call import DeferredCall  # only servers defer

    return DeferredCall(parts)


class CachedAdapter(ABC):
    """An adapter that may have a compiled call, or else a cache of segments."""

    @abstractmethod
    def _bare_rows(self, texts: Sequence[str]) -> Rows:
        """Returns the engine's row for each text, before special tokens."""

    @abstractmethod
    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The `DecodingParts` of `decode`, see `Decodes`."""

    @cached_property
    def _later_table(self) -> LaterTable:
        from tokpar.decoding.text_table import LaterTable  # encoding does without it

        return LaterTable(partial(self.decoding_parts, False))

    @cached_property
    def _segment_cache(self) -> SegmentCache | None:
        return self._make_segment_cache()

    def _make_segment_cache(self) -> SegmentCache | None:
        """Returns the segment cache, or None. With a compiled call, it only says which texts may be
        cut at every certified space."""
        return None

    _why_no_call: str = "its adapter has no compiled call"
    """Why there is no compiled call, and will be none."""

    @property
    def why_not_compiled(self) -> str:
        """Why no compiled call encodes texts of this tokenizer, in words; empty if one does."""
        later = later_call_of(self)
        return self._why_no_call if later is None else str(later.why_none)

    @property
    def has_segment_cache(self) -> bool:
        """True if the adapter has a cache of segments, or a compiled call."""
        return later_call_of(self) is not None or self._segment_cache is not None

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters of the cache by name, empty without a cache."""
        cache: SegmentCache | None = self.__dict__.get("_segment_cache")  # made when it is used
        return {} if cache is None else dict(cache.counters)

    def may_divide(self, text: str) -> bool:
        """True if `text` may be cut at every certified space."""
        return self._segment_cache is not None and self._segment_cache.licenses(text)

    def cached_rows(self, texts: Sequence[str], workers: int) -> CachedRows:
        """Returns the ids of texts that may be cut at every certified space, and which texts the
        cache answered: none, where a compiled call answers."""
        later = later_call_of(self)
        if self._segment_cache is None or (later is not None and later.call is not None):
            return Rows.of([np.empty(0, np.uint32)] * len(texts)), [False] * len(texts)
        return self._segment_cache.encode(texts, self._bare_rows)
