"""What adapters with a compiled call have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from tokpar.contract.adapter import DecodingParts, later_call_of
from tokpar.process import kernel_modules
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts

if TYPE_CHECKING:
    from tokpar.compiled.compiled_build import CallParts, LaterCall
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
    from tokpar.compiled.compiled_build import LaterCall  # other tokenizers do without it

    return LaterCall(parts)


class CachedAdapter(ABC):
    """An adapter that may have a compiled call."""

    facts: Facts

    @abstractmethod
    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The `DecodingParts` of `decode`, see `Decodes`."""

    @cached_property
    def _later_table(self) -> LaterTable:
        from tokpar.decoding.text_table import LaterTable  # encoding does without it

        return LaterTable(partial(self.decoding_parts, False))

    _why_no_call: str = "its adapter has no compiled call"
    """Why there is no compiled call, and will be none."""

    @property
    def why_not_compiled(self) -> str:
        """Why no compiled call encodes texts of this tokenizer, in words; empty if one does."""
        later = later_call_of(self)
        return self._why_no_call if later is None else str(later.why_none)

    def may_divide(self, text: str) -> bool:
        """True if `text` may be cut at every certified space."""
        from tokpar.cuts.finder import finder_for  # encoding does without it

        return finder_for(self.facts).divides(text)
