"""Token offsets of tokenizers below 1.0, before post-processing: the offsets of the engine's own
call in code points (theorem 53).

Four routes are tried for each text: the compiled call; token lengths, if tokens tile every text;
the compiled call or the engine for the parts between certified cuts; the engine for the whole text.
The first route that gives the ids of the text is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters.engine_batches import call_batch
from tokpar.adapters.hf_look import AFFIXES
from tokpar.adapters.hf_postprocess import OTHER_IDS
from tokpar.adapters.hf_source import id_array
from tokpar.adapters.settings import call_engine
from tokpar.arrays import IdArray, SpanArray, code_point_spans
from tokpar.cuts.finder import finder_for
from tokpar.facts.hf_facts import MISPLACED
from tokpar.facts.space_stages import space_cuts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.results.adding_up import Part, parts_between, shift_spans
from tokpar.types import Facts, Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_call import TokenPlaces
    from tokpar.compiled.front import Front

PART = 1 << 12
"""The least code points of a part between certified cuts."""
TOGETHER = 1 << 19
"""The most code points of parts in one call of the engine, which makes an object for each token."""
UNKNOWN_OFFSETS = "offsets are unknown, as a copy of the tokenizer gives this text other ids"
RowPart = tuple[int, Part]
"""The number of a text, and a part of it between certified cuts."""


@dataclass(frozen=True, eq=False)
class EngineOffsets:
    """Finds the offsets of one tokenizer. Thread-safe.

    `engine`: the private copy, without post-processor, truncation and padding. `lengths`: the byte
    lengths of tokens, if tokens tile every text. `front`: the door to the compiled call of the
    tokenizer, or None. `why_other_ids`: why the copy may give a text other ids than the caller's
    tokenizer gives it, or None."""

    engine: Any
    facts: Facts
    lengths: TokenLengths | None
    front: Front | None = None
    why_other_ids: str | None = None

    def spans_of(self, texts: Sequence[str], rows: Rows, *, certain: bool = False) -> SpanArray:
        """Returns the offsets of the tokens of texts, int64 (n, 2), text by text.

        `rows`: the ids of the texts. Raises LookupError if `rows` are not the ids of the texts.
        With `certain`, also raises LookupError if the engine's offsets lie outside of the text."""
        if certain and self._misplaces:
            raise LookupError(MISPLACED)
        known = ((k, self._without_engine(text, rows[k])) for k, text in enumerate(texts))
        found = {k: spans for k, spans in known if spans is not None}
        encoded = [k for k in range(len(texts)) if k not in found]
        for parts_of in (self._parts, _whole):
            left = [k for k in encoded if k not in found]
            parts = [(k, part) for k in left for part in parts_of(texts[k])]
            found |= self._by_parts(texts, rows, parts)
        if len(found) < len(texts):
            why = self.why_other_ids
            raise LookupError(OTHER_IDS if why is None else f"{UNKNOWN_OFFSETS}: {why}")
        if certain and any((found[k] > len(texts[k])).any() for k in encoded):
            raise LookupError("the engine places tokens behind the end of the text")
        if len(found) == 1:
            return found[0]
        nowhere = np.empty((0, 2), dtype=np.int64)
        return np.concatenate([nowhere, *(found[k] for k in range(len(found)))])

    @property
    def _misplaces(self) -> bool:
        model = self.engine.model
        falls_back = getattr(model, "byte_fallback", False)
        return falls_back and any(getattr(model, affix, None) for affix in AFFIXES)

    def _without_engine(self, text: str, ids: IdArray) -> SpanArray | None:
        """Returns the offsets of a text by the compiled call, or by token lengths if tokens tile
        every text."""
        places = self.places_of(text, ids)
        if places is not None:
            return places.spans
        try:
            known = None if self.lengths is None else self.lengths.spans(ids, text)
        except LookupError:
            return None
        return None if known is None else code_point_spans(known, text)

    def places_of(self, text: str, ids: IdArray) -> TokenPlaces | None:
        """Returns where the tokens `ids` of a text are, by the compiled call; None if only the
        engine knows."""
        places = self._places(text)
        is_known = places is not None and places.ids.tobytes() == ids.tobytes()
        return places if is_known else None

    def _places(self, text: str) -> TokenPlaces | None:
        places: TokenPlaces | None = None if self.front is None else self.front.places(text)
        return places

    def _parts(self, text: str) -> Iterator[Part]:
        """Returns the parts of a text between certified cuts, or one part if there are no cuts."""
        finder = finder_for(self.facts)
        if not self._composes(text) or finder.refusal_for(text) is not None:
            return _whole(text)
        cuts = finder.find_each(text, PART) if len(text) > PART else []
        return parts_between(cuts, len(text))

    def _composes(self, text: str) -> bool:
        """True if the offsets of the segments are the offsets of the whole text.

        They are unless Precompiled deletes characters at the start of a segment."""
        if not text or not any(s.kind == "Precompiled" for s in self.facts.normalizers):
            return True
        cut = next(iter(space_cuts(self.facts)), None) if self.facts.scheme == "spaces" else None
        if cut is None or cut.left != "sure" or not cut.holds(f"{text[:1]} ", 1):
            return False
        return not any(token.content in text for token in self.facts.added_tokens)

    def _by_parts(
        self, texts: Sequence[str], rows: Rows, parts: Sequence[RowPart]
    ) -> dict[int, SpanArray]:
        """Returns the offsets of each text whose parts have the ids of the text.

        A part with a token that reaches beyond it, and that is no whole text, has none."""
        joined: dict[int, list[SpanArray]] = {k: [] for k, _ in parts}
        used = dict.fromkeys(joined, 0)
        for some in _groups(parts):
            encoded = self._encode_parts([part.slice_of(texts[k]) for k, part in some])
            for (k, part), (ids, spans) in zip(some, encoded, strict=True):
                if k not in joined:
                    continue
                first, expected = part.start + part.absorbed_chars, rows[k][used[k] :][: len(ids)]
                is_whole = part == Part(0, len(texts[k]))
                if np.array_equal(ids, expected) and (is_whole or _fit(spans, part.stop - first)):
                    joined[k].append(shift_spans(spans, first, part.absorbed_chars))
                    used[k] += len(spans)
                else:
                    del joined[k]
        return {k: np.concatenate(j) for k, j in joined.items() if used[k] == len(rows[k])}

    def _encode_parts(self, texts: Sequence[str]) -> list[tuple[IdArray, SpanArray]]:
        """Returns the ids and the offsets of each part, by the compiled call or the engine."""
        known = {k: self._places(text) for k, text in enumerate(texts)}
        found = {k: (each.ids, each.spans) for k, each in known.items() if each is not None}
        others = [k for k in known if k not in found]
        found |= zip(others, self._encode([texts[k] for k in others]), strict=True)
        return [found[k] for k in known]

    def _encode(self, texts: list[str]) -> Iterator[tuple[IdArray, SpanArray]]:
        """Yields the engine's ids and offsets of each text."""
        encode = partial(call_batch, self.engine.encode_batch)
        for encoding in call_engine(texts, encode, texts, add_special_tokens=False):
            flat = np.fromiter(chain.from_iterable(encoding.offsets), dtype=np.int64)
            yield id_array(encoding.ids), flat.reshape(-1, 2)


def _whole(text: str) -> Iterator[Part]:
    return iter([Part(0, len(text))])


def _groups(parts: Sequence[RowPart]) -> Iterator[Sequence[RowPart]]:
    """Yields groups of parts, one for each call of the engine: at most `TOGETHER` code points, or
    one part."""
    first = size = 0
    for i, (_, part) in enumerate(parts):
        length = part.stop - part.start
        if i > first and size + length > TOGETHER:
            yield parts[first:i]
            first, size = i, 0
        size += length
    if first < len(parts):
        yield parts[first:]


def _fit(spans: SpanArray, code_points: int) -> bool:
    """True if all tokens lie in a part of `code_points` and begin before its end."""
    starts, stops = spans[:, 0], spans[:, 1]
    fits = (starts <= stops) & (stops <= code_points) & (starts < code_points)
    return bool(fits.all())
