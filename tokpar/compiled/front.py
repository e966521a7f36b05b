"""The only door to the compiled call of a tokenizer, and the sizes from which threads help.

Encoders, batches, streams, sessions, chunks, offsets and drop-ins ask a `Front` and nothing else.
None, or a flag, tells which text only the engine knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tokpar.arrays import IdArray, lengths_of
from tokpar.contract.interfaces import CachedRows
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_build import LaterCall
    from tokpar.compiled.compiled_call import CompiledCall, TokenPlaces

LONGEST_ALONE = 1 << 16
"""Code points below which one thread encodes a text: to wake another costs more than it saves."""
FEW_TEXTS, LONGEST_TOGETHER = 64, 1 << 15
"""Up to so many texts, with fewer code points in all, are encoded by one call of one thread."""


@dataclass(frozen=True, slots=True)
class Front:
    """Asks the compiled call of one tokenizer, as soon as there is one. Thread-safe; usable after a
    fork.

    `later`: the compiled call of the adapter. `workers`: threads for long texts and large batches.
    Every method raises MismatchError if the engine has other ids for a word; from then on only the
    engine answers."""

    later: LaterCall
    workers: int = 1

    @property
    def call(self) -> CompiledCall | None:
        """The compiled call; None until its tables are there, and where there will be none."""
        return self.later.call

    @property
    def is_final(self) -> bool:
        """True if `one` post-processes; else it returns what `plain` returns."""
        call = self.later.call
        return call is not None and call.is_final

    def one(self, text: str) -> IdArray | None:
        """Returns the ids of `text`, uint32 (n,), read-only; with special tokens if it `is_final`.
        None if only the engine knows them."""
        call = self.later.call
        if call is None:
            return None
        return call.encode(text) if len(text) < LONGEST_ALONE else self.long(text, call)

    def long(self, text: str, call: CompiledCall) -> IdArray | None:
        """Returns what `one` returns, by `workers` threads between certified cuts."""
        found = call.encode_long(text, self.workers)
        return None if found is None else found[0]

    def plain(self, text: str) -> IdArray | None:
        """Returns the ids of `text` without special tokens, or None."""
        call = self.later.call
        if call is None:
            return None
        if len(text) < LONGEST_ALONE:
            return call.encode_plain(text)
        ids = self.long(text, call)
        return None if ids is None else call.without_special(ids)

    def many(self, texts: Sequence[str]) -> CachedRows | None:
        """Returns the ids of texts without special tokens, and which texts were answered; a text
        without an answer has an empty row. None while there is no compiled call.

        `texts`: plain str, or `Utf8Texts`. Blocks of texts are shared by the threads. A text that
        is longer than what each thread would have is encoded by all threads, before the others."""
        call = self.later.call
        if call is None:
            return None
        if len(texts) == 1:
            ids = self.plain(texts[0])
            return Rows.of([() if ids is None else ids]), np.array([ids is not None])
        few = type(texts) is list and len(texts) <= FEW_TEXTS
        if few and sum(map(len, texts)) < LONGEST_TOGETHER:
            return call.few_rows(texts)
        if self.workers == 1:
            return call.rows(texts, 1)
        lengths = lengths_of(texts)
        least = max(LONGEST_ALONE, int(lengths.sum()) // self.workers)
        long = np.flatnonzero(lengths >= least).tolist()
        return self._with_long(texts, long, call) if long else call.rows(texts, self.workers)

    def _with_long(
        self, texts: Sequence[str], long: Sequence[int], call: CompiledCall
    ) -> CachedRows:
        """Returns what `many` returns. `long`: the numbers of the texts that all threads share."""
        from tokpar.compiled.utf8_texts import select_texts  # few batches need it

        ids = [self.plain(texts[k]) for k in long]
        is_answered = np.ones(len(texts), dtype=np.bool_)
        is_answered[long] = False
        others = np.flatnonzero(is_answered)
        rows, flags = call.rows(select_texts(texts, others), self.workers)
        is_answered[others] = flags
        is_answered[long] = [each is not None for each in ids]
        wholes = Rows.of(() if each is None else each for each in ids)
        return Rows.scatter(len(texts), [(others, rows), (long, wholes)]), is_answered

    def places(self, text: str) -> TokenPlaces | None:
        """Returns where the tokens of `text` are, special tokens not included; None if only the
        engine knows."""
        call = self.later.call
        return None if call is None else call.places(text)
