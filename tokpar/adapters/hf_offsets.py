"""Token offsets of tokenizers below 1.0, in code points, before post-processing: those that the
engine's own call tells (theorem 53).

The first of four routes that gives as many tokens as there are ids answers for a text: lengths of
tokens where they tile the text, the cache of segments, the engine for parts between certified cuts,
and the engine for the whole text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from tokpar.adapters.hf_caller import AFFIXES
from tokpar.adapters.hf_finish import OTHER_IDS
from tokpar.adapters.settings import raise_panic
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.inert import inert_for
from tokpar.facts.hf_facts import MISPLACED
from tokpar.facts.spaces import space_cuts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.kernel.memory import StretchMemory, offsets_memory_for
from tokpar.kernel.offset_rows import inside, packed, unpacked
from tokpar.kernels import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    code_point_spans,
    offsets_of,
    spans_between,
)
from tokpar.limits import worker_count
from tokpar.types import CERTIFIED_CUTS, Facts, Rows

PART = 1 << 13
"""Code points of a part between certified cuts, or a few more."""
TOGETHER = 1 << 19
"""Code points of parts that the engine is given in one call: it makes an object of each token."""
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class _Part:
    """text[start:stop] of text number `row`. `absorbed`: code points before `start` that the prefix
    stands for which the tokenizer puts in front of the part (theorem 6.4)."""

    row: int
    start: int
    stop: int
    absorbed: int = 0


@dataclass(frozen=True, eq=False)
class EngineOffsets:
    """Offsets by one tokenizer. `engine`: its private copy, without post-processor, truncation and
    padding. `lengths`: bytes of tokens that tile every text, if they do. `memory_bytes`: of the
    cache, 0 for none. Thread-safe."""

    engine: Any
    facts: Facts
    lengths: TokenLengths | None
    memory_bytes: int

    def of(self, texts: Sequence[str], rows: Rows, *, certain: bool = False) -> SpanArray:
        """Offsets of the tokens of texts, int64 (n, 2), text by text. `rows`: the ids of the texts.
        LookupError for other ids, and, if `certain`, where the engine's own offsets are no places
        in the text."""
        if certain and self._misplaces:
            raise LookupError(MISPLACED)
        lengths = ((k, self._by_lengths(text, rows[k])) for k, text in enumerate(texts))
        found = {k: spans for k, spans in lengths if spans is not None}
        found |= self._by_cache(texts, rows, _missing(found, len(texts)))
        encoded = _missing(found, len(texts))
        found |= self._by_parts(texts, rows, encoded)
        if certain and any((found[k] > len(texts[k])).any() for k in encoded):
            raise LookupError("the engine places tokens behind the end of the text")
        if len(found) == 1:
            return found[0]
        return np.concatenate([_NOWHERE, *(found[k] for k in range(len(found)))])

    @cached_property
    def memory(self) -> StretchMemory | None:
        """The cache of packed offsets; None where not every space is a certified cut."""
        if finder_for(self.facts).at_spaces is None:
            return None
        return offsets_memory_for(self.facts, self.memory_bytes)

    @property
    def _misplaces(self) -> bool:
        model = self.engine.model
        falls_back = getattr(model, "byte_fallback", False)
        return falls_back and any(getattr(model, affix, None) for affix in AFFIXES)

    def _by_lengths(self, text: str, ids: IdArray) -> SpanArray | None:
        """Where tokens tile the text: always, or because the normalizer leaves it alone."""
        if self.lengths is not None:
            try:
                return code_point_spans(self.lengths.spans(ids, text), text)
            except LookupError:
                return None
        spans = self._first_by_lengths(text, ids) if self._is_inert(text) else None
        return None if spans is None or len(spans) < len(ids) else spans

    def _is_inert(self, text: str) -> bool:
        """The normalizer leaves every character alone, and the tokens of such a text tile it."""
        inert = inert_for(self.facts)
        if self.facts.sizes is None or inert.refusal is not None:
            return False
        return all(inert.inert(text[i : i + _BLOCK]) for i in range(0, len(text), _BLOCK))

    def _by_cache(
        self, texts: Sequence[str], rows: Rows, left: Sequence[int]
    ) -> dict[int, SpanArray]:
        """The offsets of texts that the cache answers."""
        if not left or self.memory is None:
            return {}
        own = [k for k in left if texts[k] and self._composes(texts[k])]
        packed_rows, flags = self.memory.encode(
            [texts[k] for k in own], self._packed, worker_count(None)
        )
        spans, edges, code_points = unpacked(packed_rows)
        counts, wanted = np.diff(edges), np.diff(rows.offsets)[own]
        sizes = np.fromiter((len(texts[k]) for k in own), np.int64, len(own))
        right = np.asarray(flags) & (counts == wanted) & (code_points == sizes)
        return {own[i]: spans[edges[i] : edges[i + 1]] for i in np.flatnonzero(right).tolist()}

    def _packed(self, segments: Sequence[str]) -> Rows:
        """The packed offsets of segments. ValueError where these are no places in a segment."""
        _, counts, spans = self._encoded(segments)
        code_points = np.fromiter(map(len, segments), np.int64, len(segments))
        return packed(code_points, counts, spans)

    def _by_parts(
        self, texts: Sequence[str], rows: Rows, left: Sequence[int]
    ) -> dict[int, SpanArray]:
        """The offsets of texts that the engine encodes again: first part by part, and whole where
        that does not give the ids of the text."""
        parts = [part for k in left for part in self._parts(k, texts[k])]
        done = self._parts_joined(texts, rows, parts)
        whole = [_Part(k, 0, len(texts[k])) for k in left if k not in done]
        done |= self._parts_joined(texts, rows, whole)
        if len(done) < len(left):
            raise LookupError(OTHER_IDS)
        return done

    def _parts(self, k: int, text: str) -> list[_Part]:
        """The parts of text `k` between certified cuts; one where there are none."""
        finder = finder_for(self.facts)
        whole = len(text) <= PART or not self._composes(text)
        if whole or finder.refusal_for(text) is not None:
            return [_Part(k, 0, len(text))]
        return [*_between_cuts(k, text, finder)]

    def _composes(self, text: str) -> bool:
        """The offsets of segments of the text are those of the text: nothing that Precompiled
        deletes begins a segment."""
        if not any(stage.kind == "Precompiled" for stage in self.facts.normalizers):
            return True
        cut = next(iter(space_cuts(self.facts)), None) if self.facts.scheme == "spaces" else None
        if cut is None or cut.left != "sure" or not cut.holds(f"{text[:1]} ", 1):
            return False
        return not any(token.content in text for token in self.facts.added_tokens)

    def _parts_joined(
        self, texts: Sequence[str], rows: Rows, parts: Sequence[_Part]
    ) -> dict[int, SpanArray]:
        """The offsets of those texts whose parts have their ids. The engine is given some parts at
        a time, so that little of what it makes is kept."""
        joined: dict[int, list[SpanArray]] = {part.row: [] for part in parts}
        used = dict.fromkeys(joined, 0)
        for some in _together(parts):
            slices = [texts[part.row][part.start : part.stop] for part in some]
            for part, text, told in zip(some, slices, self._told(slices), strict=True):
                ids = rows[part.row][used.get(part.row, 0) :]
                if told is None:
                    spans = self._first_by_lengths(text, ids)
                else:
                    is_whole = len(text) == len(texts[part.row])
                    spans = _checked(*told, ids, None if is_whole else len(text))
                if spans is None:
                    joined.pop(part.row, None)
                elif part.row in joined:
                    joined[part.row].append(_moved(spans, part))
                    used[part.row] += len(spans)
        return {k: np.concatenate(j) for k, j in joined.items() if used[k] == len(rows[k])}

    def _told(self, texts: Sequence[str]) -> Iterator[tuple[IdArray, SpanArray] | None]:
        """The engine's ids and offsets of each text; None where lengths tell."""
        tiled = [self.lengths is None and self._is_inert(text) for text in texts]
        others = [text for text, by_lengths in zip(texts, tiled, strict=True) if not by_lengths]
        ids, counts, spans = self._encoded(others)
        edges = pairwise(offsets_of(counts).tolist())
        for by_lengths in tiled:
            if by_lengths:
                yield None
            else:
                start, stop = next(edges)
                yield ids[start:stop], spans[start:stop]

    def _first_by_lengths(self, text: str, ids: IdArray) -> SpanArray | None:
        """The offsets of as many of these ids as tile `text`, which the normalizer leaves alone."""
        assert self.facts.sizes is not None
        size = byte_length(text)
        edges = offsets_of(self.facts.sizes(ids[:size]))
        count = int(np.searchsorted(edges, size))
        edges = edges[: count + 1]
        if edges[-1] != size or (edges[1:] == edges[:-1]).any():
            return None
        return code_point_spans(spans_between(edges), text)

    def _encoded(self, texts: Sequence[str]) -> tuple[IdArray, IntArray, SpanArray]:
        """All ids, the number of ids of each text, and offsets from the start of each text."""
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


def _missing(found: Mapping[int, SpanArray], texts: int) -> list[int]:
    return [k for k in range(texts) if k not in found]


def _checked(
    ids: IdArray, spans: SpanArray, expected: IdArray, code_points: int | None
) -> SpanArray | None:
    """`spans`, if `expected` begins with these ids, and no token lies elsewhere than in a part of
    so many code points."""
    if not np.array_equal(ids, expected[: len(ids)]):
        return None
    if code_points is not None and not inside(spans, code_points).all():
        return None
    return spans


def _between_cuts(k: int, text: str, finder: CutFinder) -> Iterator[_Part]:
    start = absorbed = 0
    for seam in finder.find_each(text, PART):
        assert seam.rule in CERTIFIED_CUTS
        yield _Part(k, start + absorbed, seam.position, absorbed)
        start, absorbed = seam.position, int(dict(seam.witness).get("absorbed", 0))
    yield _Part(k, start + absorbed, len(text), absorbed)


def _together(parts: Sequence[_Part]) -> Iterator[Sequence[_Part]]:
    """Parts for one call of the engine each time."""
    first = size = 0
    for i, part in enumerate(parts):
        if i > first and size + part.stop - part.start > TOGETHER:
            yield parts[first:i]
            first, size = i, 0
        size += part.stop - part.start
    if first < len(parts):
        yield parts[first:]


def _moved(spans: SpanArray, part: _Part) -> SpanArray:
    """The offsets of a part's tokens in the whole text."""
    moved = spans + part.start
    if part.absorbed and len(moved):
        # The engine places the prefix on the character behind it: on the same as the next token, if
        # the prefix is a token of its own. In the whole text it stands for the absorbed space.
        moved[0, 0] = part.start - part.absorbed
        if len(moved) > 1 and moved[1, 0] == part.start:
            moved[0, 1] = part.start
    return moved
