"""Encode one edit of a text that is kept in segments (theorem 36).

Every edge between two segments is a firm cut: the code points beside it certify it, whatever stands
elsewhere (lemma 35). An edit keeps each edge that it does not come near, and encodes the text
between two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IdArray, first_difference
from tokpar.contract.adapter import traits_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.firm_cuts import firm_cuts_for
from tokpar.results.adding_up import (
    EncodesParts,
    Part,
    encode_part,
    encode_parts,
    parts_between,
)
from tokpar.sessions.rope import (
    Rope,
    Segment,
    edge_after,
    edge_before,
    first_segment,
    ids_after,
    join_ropes,
    rope_of,
    slice_of,
    split,
)

SEGMENT, COMPILED_SEGMENT = 1 << 8, 1 << 14
"""The least number of code points of a segment: where the engine encodes an edit, and where the
compiled call does, which finds a segment sooner than a cut is certified. The last segment may be
shorter; a text of less than two is one segment."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """The result of one edit: the new rope, and the numbers for its `SessionPatch`.

    `replace_from`: the number of ids at the start that did not change. `encoded_chars`: how many
    code points were encoded; they lie in [start, stop) of the new text. `why`: why the whole text
    was encoded, or ""."""

    rope: Rope
    replace_from: int
    encoded_chars: int
    start: int
    stop: int
    why: str


class Editing:
    """Edits ropes of one tokenizer. `encode`: encodes parts of texts."""

    def __init__(self, tokenizer: TokenizerAdapter, encode: EncodesParts) -> None:
        self._tokenizer, self._encode = tokenizer, encode
        self._traits, self._cuts = traits_of(tokenizer), firm_cuts_for(facts_of(tokenizer))

    def edit(self, rope: Rope, start: int, stop: int, text: str) -> Edit:
        """Replace the code points [start, stop) of a rope by `text`. Raises the tokenizer's
        errors."""
        self._check(rope, start, stop, text)
        length, reach = (0 if rope is None else rope.chars), self._cuts.reach
        first, last = edge_before(rope, start - reach), edge_after(rope, stop + reach)
        left, rest = split(rope, first)
        removed, right = split(rest, last - first)
        before = slice_of(removed, 0, start - first)
        own = before + text + slice_of(removed, stop - first, last - first)
        absorbed = first_segment(removed).absorbed_chars if removed is not None else 0
        new = self._segments(own, first, absorbed)
        kept = 0 if left is None else left.count
        why = self._why_whole(own) if length and own and left is right is None else ""
        encoded = len(own) - sum(segment.absorbed_chars for segment in new)
        added = rope_of(new)
        same = first_difference(ids_after(removed, 0), ids_after(added, 0)) if removed else 0
        whole = join_ropes(join_ropes(left, added), right)
        return Edit(whole, kept + same, encoded, first, first + len(own), why)

    def _check(self, rope: Rope, start: int, stop: int, text: str) -> None:
        """Raise the tokenizer's error if the edit makes a string that the tokenizer refuses."""
        traits = self._traits
        if traits.forbidden and traits.check_text is not None:
            reach = max(map(len, traits.forbidden)) - 1
            before = slice_of(rope, max(0, start - reach), start)
            traits.check_text(before + text + slice_of(rope, stop, stop + reach))

    @property
    def _size(self) -> int:
        return COMPILED_SEGMENT if self._encode.is_compiled else SEGMENT

    def _segments(self, text: str, start: int, absorbed_chars: int) -> list[Segment]:
        """Encode `text`, the part of the whole text from `start` on, and return its segments."""
        if not text:
            own = ids_of(self._tokenizer, "")
            return [Segment("", own)] if len(own) else []
        cuts = self._cuts.spread(text, self._size) if len(text) > 2 * self._size else ()
        if not cuts:
            ids = encode_part(text, Part(0, len(text), absorbed_chars), self._encode, start)
            return [Segment(text, ids, absorbed_chars)]
        parts = [*parts_between(cuts, len(text), 0, absorbed_chars)]
        given, rows = encode_parts(text, parts, self._encode, start)
        texts = (
            text[part.start : part.start + part.absorbed_chars] + own
            for part, own in zip(parts, given, strict=True)
        )
        return [Segment(own, rows[k], parts[k].absorbed_chars) for k, own in enumerate(texts)]

    def _why_whole(self, text: str) -> str:
        if self._cuts.refusal is not None:
            return self._cuts.refusal
        if len(text) <= 2 * self._size:
            return f"{len(text):,} code points are encoded sooner than a cut is found"
        return "no cut of the text stays certified beside the edit"


def ids_of(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The ids of a text by the tokenizer's own call, before post-processing; uint32, (n,)."""
    return np.asarray(tokenizer.encode(text), dtype=np.uint32)
