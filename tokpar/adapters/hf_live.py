"""The adapter of a tokenizer below 1.0 of which no copy has the same ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokpar.adapters.hf_source import Caller
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.settings import call_engine
from tokpar.arrays import IdArray
from tokpar.errors import OptionError
from tokpar.types import DecodingParts, Origin, Piece, Rows

_OWN_ENDS = "its truncation and padding are a part of its own call, which nothing can replace"


class LiveTokenizer(HuggingFaceTokenizer):
    """A tokenizer of which no copy has the same ids: the caller's object encodes and decodes.

    No text is cut, and nothing is cached. `snapshot`: what is known of the tokenizer."""

    def __init__(self, snapshot: HuggingFaceTokenizer, caller: Caller) -> None:
        self.__dict__ |= snapshot.__dict__
        self._caller, self._wrapper = caller, caller.wrapper
        own, settings = caller.own, self.settings
        truncates = not settings.truncation and own.truncation is not None
        if caller.wrapper is None and (truncates or (not settings.padding and own.padding)):
            raise OptionError(f"{_OWN_ENDS}: {self.why_live}")

    @property
    def origin(self) -> Origin:
        """The caller's object, for a checker."""
        return Origin(self._caller.native, self._postprocess_flags)

    def encode(self, text: str) -> IdArray:
        """Returns ids without special tokens. Raises OptionError if the own call truncates or
        pads."""
        own = self._caller.own
        if self._caller.native is own and (own.truncation or own.padding):
            raise OptionError(f"{_OWN_ENDS}: {self.why_live}")
        return self._own_ids(text, False)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text. Raises LookupError where the private copy has other ids."""
        rows = [self.encode(text) for text in texts]
        if not spans:
            return Rows.of(rows)
        located = zip(rows, texts, strict=True)
        return Rows.of_pieces([Piece(ids, self.locate(ids, text)) for ids, text in located])

    def encode_whole(self, text: str) -> IdArray:
        return self._own_ids(text, self.settings.add_special_tokens)

    def _own_ids(self, text: str, add_special_tokens: bool) -> IdArray:
        return call_engine([text], self._caller.ids, text, add_special_tokens)

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        add = self.settings.add_special_tokens
        return Rows.of(call_engine(texts, self._caller.batch, texts, add))

    def decode_by_table(self, rows: Sequence[Sequence[int] | IdArray]) -> list[str | None]:
        return [None] * len(rows)

    @property
    def _decoder(self) -> Any:
        return self._caller.wrapper or self._caller.own

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The parts of the caller's own decoder. OptionError: see `parts_of_hf`."""
        from tokpar.adapters.decoding_parts import parts_of_hf  # encoding does without it

        return parts_of_hf(self._caller.own, self._wrapper, skip_special_tokens)

    def is_current(self, source: Any) -> bool:
        """False: this is no snapshot."""
        return False

    def _require_unchanged(self) -> None:
        """Nothing: the caller's object answers as it is now."""
