"""Token offsets of tokenizers below 1.0, before post-processing: the offsets of the engine's own
call in code points (theorem 53).

Four routes are tried for each text: the compiled call; token lengths, if tokens tile every text;
the compiled call or the engine for the parts between certified cuts; the engine for the whole text.
The first route that gives the ids of the text is used."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters.hf_look import AFFIXES
from tokpar.adapters.hf_offset_parts import (
    RowPart,
    check_spans,
    group_parts,
)
from tokpar.adapters.hf_postprocess import OTHER_IDS
from tokpar.adapters.settings import raise_panic
from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    code_point_spans,
    offsets_of,
)
from tokpar.concatenation import Part, parts_between, shift_spans
from tokpar.cuts.finder import finder_for
from tokpar.facts.hf_facts import MISPLACED
from tokpar.facts.space_stages import space_cuts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.types import Facts, Rows

if TYPE_CHECKING:
    from tokpar.cache.compiled_build import LaterCall
    from tokpar.cache.compiled_call import TokenPlaces

PART = 1 << 12
"""The least code points of a part between certified cuts."""
TOGETHER = 1 << 19
"""The most code points of parts in one call of the engine, which makes an object for each token."""


@dataclass(frozen=True, eq=False)
class EngineOffsets:
    """Finds the offsets of one tokenizer. Thread-safe.

    `engine`: the private copy, without post-processor, truncation and padding. `lengths`: the byte
    lengths of tokens, if tokens tile every text. `later_call`: the compiled call of the tokenizer,
    or None."""

    engine: Any
    facts: Facts
    lengths: TokenLengths | None
    later_call: LaterCall | None = None

    def spans_of(self, texts: Sequence[str], rows: Rows, *, certain: bool = False) -> SpanArray:
        """Returns the offsets of the tokens of texts, int64 (n, 2), text by text.

        `rows`: the ids of the texts. Raises LookupError if `rows` are not the ids of the texts.
        With `certain`, also raises LookupError if the engine's offsets lie outside of the text."""
        if certain and self._misplaces:
            raise LookupError(MISPLACED)
        known = ((k, self._without_engine(text, rows[k])) for k, text in enumerate(texts))
        found = {k: spans for k, spans in known if spans is not None}
        encoded = _missing(found, len(texts))
        if encoded:
            found |= self._by_parts(texts, rows, encoded)
        if certain and any((found[k] > len(texts[k])).any() for k in encoded):
            raise LookupError("the engine places tokens behind the end of the text")
        if len(found) == 1:
            return found[0]
        return np.concatenate([_NOWHERE, *(found[k] for k in range(len(found)))])

    @property
    def _misplaces(self) -> bool:
        model = self.engine.model
        falls_back = getattr(model, "byte_fallback", False)
        return falls_back and any(getattr(model, affix, None) for affix in AFFIXES)

    def _without_engine(self, text: str, ids: IdArray) -> SpanArray | None:
        """Returns the offsets of a text by the compiled call, or by token lengths if tokens tile
        every text."""
        places = self._places(text)
        if places is not None and np.array_equal(places.ids, ids):
            return places.spans
        try:
            known = None if self.lengths is None else self.lengths.spans(ids, text)
        except LookupError:
            return None
        return None if known is None else code_point_spans(known, text)

    def _places(self, text: str) -> TokenPlaces | None:
        call = None if self.later_call is None else self.later_call.call
        return None if call is None else call.places(text)

    def _by_parts(
        self, texts: Sequence[str], rows: Rows, numbers: Sequence[int]
    ) -> dict[int, SpanArray]:
        """Returns the offsets of texts, part by part, or from the whole text if the parts do not
        give its ids."""
        parts = [part for k in numbers for part in self._parts(k, texts[k])]
        done = self._parts_joined(texts, rows, parts)
        whole = [_whole_text(k, texts[k]) for k in numbers if k not in done]
        if whole:
            done |= self._parts_joined(texts, rows, whole)
        if len(done) < len(numbers):
            raise LookupError(OTHER_IDS)
        return done

    def _parts(self, k: int, text: str) -> list[RowPart]:
        """Returns the parts of text `k` between certified cuts, or one part if there are no
        cuts."""
        finder = finder_for(self.facts)
        if not self._composes(text) or finder.refusal_for(text) is not None:
            return [_whole_text(k, text)]
        cuts = finder.find_each(text, PART) if len(text) > PART else []
        return [RowPart(k, part) for part in parts_between(cuts, len(text))]

    def _composes(self, text: str) -> bool:
        """True if the offsets of the segments are the offsets of the whole text.

        They are unless Precompiled deletes characters at the start of a segment."""
        if not text or not any(s.kind == "Precompiled" for s in self.facts.normalizers):
            return True
        cut = next(iter(space_cuts(self.facts)), None) if self.facts.scheme == "spaces" else None
        if cut is None or cut.left != "sure" or not cut.holds(f"{text[:1]} ", 1):
            return False
        return not any(token.content in text for token in self.facts.added_tokens)

    def _parts_joined(
        self, texts: Sequence[str], rows: Rows, parts: Sequence[RowPart]
    ) -> dict[int, SpanArray]:
        """Returns the offsets of each text whose parts have the ids of the text.

        The engine gets the parts in groups, because it makes an object for each token."""
        joined: dict[int, list[SpanArray]] = {part.row: [] for part in parts}
        used = dict.fromkeys(joined, 0)
        for some in group_parts(parts, TOGETHER):
            slices = [part.part.slice_of(texts[part.row]) for part in some]
            for part, (ids, places) in zip(some, self._encode_parts(slices), strict=True):
                spans = check_spans(ids, places, part, rows[part.row][used[part.row] :])
                if spans is None:
                    joined.pop(part.row, None)
                elif part.row in joined:
                    moved = shift_spans(spans, part.first, part.part.absorbed_chars)
                    joined[part.row].append(moved)
                    used[part.row] += len(spans)
        return {k: np.concatenate(j) for k, j in joined.items() if used[k] == len(rows[k])}

    def _encode_parts(self, texts: Sequence[str]) -> list[tuple[IdArray, SpanArray]]:
        """Returns the ids and the offsets of each part, by the compiled call or the engine."""
        known = {k: self._places(text) for k, text in enumerate(texts)}
        found = {k: (each.ids, each.spans) for k, each in known.items() if each is not None}
        others = [k for k in known if k not in found]
        ids, counts, spans = self._encode([texts[k] for k in others])
        for k, (start, stop) in zip(others, pairwise(offsets_of(counts).tolist()), strict=True):
            found[k] = ids[start:stop], spans[start:stop]
        return [found[k] for k in known]

    def _encode(self, texts: Sequence[str]) -> tuple[IdArray, IntArray, SpanArray]:
        """Returns all ids, the number of ids of each text, and the offsets from the start of each
        text."""
        try:
            encodings = self.engine.encode_batch(list(texts), add_special_tokens=False)
        except BaseException as error:
            raise_panic(error, "the tokenizer", texts)
            raise
        ids, flat, counts = array("I"), array("q"), []
        for i, encoding in enumerate(encodings):
            encodings[i] = None
            own = encoding.ids
            ids.extend(own)
            counts.append(len(own))
            flat.extend(chain.from_iterable(encoding.offsets))
        spans: SpanArray = np.frombuffer(flat, dtype=np.int64).reshape(-1, 2)
        return np.frombuffer(ids, dtype=np.uint32), np.array(counts, dtype=np.int64), spans


_NOWHERE: SpanArray = np.empty((0, 2), dtype=np.int64)


def _missing(spans_by_text: Mapping[int, SpanArray], texts: int) -> list[int]:
    return [k for k in range(texts) if k not in spans_by_text]


def _whole_text(row: int, text: str) -> RowPart:
    return RowPart(row, Part(0, len(text)), is_whole=True)
