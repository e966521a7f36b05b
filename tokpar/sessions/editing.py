"""Encode one edit of a text that is kept in segments (theorem 36).

The text that is encoded begins at the last kept cut that is stable in the text before the edit. It
ends at the first kept cut that is co-stable in the text behind the edit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from tokpar.arrays import IdArray, first_difference
from tokpar.contract.adapter import traits_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.results.adding_up import EncodeRows, concatenate, encode_parts, parts_between
from tokpar.sessions.rope import (
    Rope,
    Segment,
    ids_after,
    join_ropes,
    rope_of,
    segments_after,
    segments_before,
    slice_of,
    split,
)
from tokpar.types import Seam

SEGMENT = 256
"""The least number of code points of a segment. The last two segments may be shorter."""
_FIRST_REACH = 512
"""Code points before and behind an edit in which a cut is searched first."""
_MOST_EDGES = 64
"""How many edges of segments are checked before the search takes more text."""
_LONG_SEGMENT = 1024
"""From so many code points on, an append searches only the end of the last segment for cuts."""


@dataclass(frozen=True, eq=False)
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
    """One edit of a rope: replace the code points [start, stop) by `text`."""

    def __init__(
        self,
        tokenizer: TokenizerAdapter,
        encode: EncodeRows,
        rope: Rope,
        start: int,
        stop: int,
        text: str,
    ) -> None:
        self._encode, self._tokenizer = encode, tokenizer
        self._stable: StableCuts = stable_cuts_for(facts_of(tokenizer))
        self._rope, self._start, self._stop, self._text = rope, start, stop, text
        self._length = 0 if rope is None else rope.chars
        self._chars = self._first = self._absorbed_chars = 0
        self._left_context = ""

    def result(self) -> Edit:
        """Encode the text that the edit needs and return the edited rope. Raises the tokenizer's
        errors."""
        self._check()
        old_stop = self._right_edge()
        old_start = self._left_edge(self._length if old_stop is None else old_stop)
        left_rope, rest = split(self._rope, old_start)
        removed, right = rest, None
        if old_stop is not None:
            removed, right = split(rest, old_stop - old_start)
        new = self._segments(old_start, left_rope, old_stop)
        kept = 0 if left_rope is None else left_rope.count
        old_ids, new_ids = ids_after(removed, 0), concatenate([segment.ids for segment in new])
        left_rope, new = _join_small_segments(left_rope, new)
        rope = join_ropes(join_ropes(left_rope, rope_of(new)), right)
        whole = 0 if rope is None else rope.chars
        why = self._why_whole() if self._length > 0 and self._chars >= whole > 0 else ""
        stop = whole if old_stop is None else whole - (self._length - old_stop)
        replace_from = kept + first_difference(old_ids, new_ids)
        return Edit(rope, replace_from, self._chars, old_start, stop, why)

    def _check(self) -> None:
        """Raise the tokenizer's error if the edit makes a string that the tokenizer refuses."""
        traits = traits_of(self._tokenizer)
        if traits.forbidden and traits.check_text is not None:
            reach = max(map(len, traits.forbidden)) - 1
            before = slice_of(self._rope, max(0, self._start - reach), self._start)
            behind = slice_of(self._rope, self._stop, self._stop + reach)
            traits.check_text(before + self._text + behind)

    def _left_edge(self, limit: int) -> int:
        """The last edge of a segment that is a stable cut of the text before the edit, or 0."""
        if self._stable.refusal is not None:
            return 0
        seen = _FIRST_REACH
        while True:
            self._first = max(0, self._start - seen)
            self._left_context = self._left_context_from(self._first)
            window = self._window(self._left_context)
            edges = segments_before(self._rope, self._start)
            for at, segment in islice(edges, _MOST_EDGES):
                if at <= self._first or at == 0:
                    break
                if at < limit and self._is_cut(window, at - self._first, segment.absorbed_chars):
                    self._absorbed_chars = segment.absorbed_chars
                    return at
            if self._first == 0:
                return 0
            seen *= 8

    def _window(self, text: str) -> Window:
        """The window of `text`, which begins at the code point from which the left edge was
        searched."""
        return Window(self._stable, text, begins=self._first == 0)

    def _left_context_from(self, first: int) -> str:
        """The text from `first` to the edit. The left edge must be a stable cut of this text."""
        return slice_of(self._rope, first, self._start)

    def _right_edge(self) -> int | None:
        """The first edge of a segment that is a co-stable cut of the text behind the edit, or
        None."""
        if self._stop == self._length or self._stable.refusal is not None:
            return None
        seen, before = _FIRST_REACH, self._stop
        while True:
            last = min(self._length, self._stop + seen)
            text = slice_of(self._rope, self._stop, last)
            window = Window(self._stable, text, ends=last == self._length)
            # more text behind an edge rarely makes it a cut, so refused edges are not checked again
            for at, segment in islice(segments_after(self._rope, before), _MOST_EDGES):
                if at >= last:
                    break
                if at > self._stop and self._is_cut(
                    window, at - self._stop, segment.absorbed_chars
                ):
                    return at
            if last == self._length:
                return None
            seen, before = seen * 8, last - 1

    def _is_cut(self, window: Window, p: int, absorbed_chars: int) -> bool:
        seam = window.seam(p)
        return seam is not None and seam.absorbed == absorbed_chars

    def _segments(self, start: int, left_rope: Rope, stop: int | None) -> list[Segment]:
        """Encode the new text between the two edges, and return its segments."""
        before = self._left_context[start - self._first : self._start - self._first]
        before = before or slice_of(self._rope, start, self._start)
        behind = slice_of(self._rope, self._stop, self._length if stop is None else stop)
        text = before + self._text + behind
        if not text:
            own = ids_of(self._tokenizer, "") if left_rope is None and stop is None else ()
            return [Segment("", np.asarray(own, np.uint32))] if len(own) else []
        cuts = self._cuts_in(text, start, stop is None)
        if stop is not None:
            last = len(before) + len(self._text)
            cuts = [cut for cut in cuts if cut.position <= last]
        parts = [*parts_between(cuts, len(text), 0, self._absorbed_chars)]
        rows = encode_parts(text, parts, self._encode, start).rows
        self._chars += sum(len(part.slice_of(text)) for part in parts)
        found = [
            Segment(text[part.start : part.stop], rows[k], part.absorbed_chars)
            for k, part in enumerate(parts)
        ]
        if stop is None:  # the next append does not search this text for cuts again
            searched = self._stable.final_chars(found[-1].text)
            found[-1] = replace(found[-1], searched_chars=searched)
        return found

    def _may_cut(self, start: int, text: str, c: int) -> bool:
        """True if the left edge stays a cut when the text ends `c` code points behind the left
        edge.

        The left edge is stable in the text before the edit. So only a new cut in that text is
        checked."""
        if start == 0 or start + c >= self._start:
            return True
        judged = self._left_context[: start - self._first] + text[:c]
        return self._is_cut(self._window(judged), start - self._first, self._absorbed_chars)

    def _known_searched_chars(self, start: int) -> int:
        """The `searched_chars` of the old last segment, if it is long and the edit only appends to
        it; else 0."""
        if self._stop != self._start or self._start != self._length:
            return 0
        last = next(segments_before(self._rope, self._length), None)
        if (
            last is None
            or last[0] != start
            or last[1].absorbed_chars
            or last[1].chars < _LONG_SEGMENT
        ):
            return 0
        return last[1].searched_chars

    def _cuts_in(self, text: str, start: int, open_end: bool) -> list[Seam]:
        """The cuts in `text`, which begins at the left edge `start`, `SEGMENT` code points apart.

        With `open_end`, the last cut is the last stable one, because the next append begins there.
        What the left edge absorbs is no part of the text that is encoded."""
        skipped, searched = self._absorbed_chars, self._known_searched_chars(start)
        own = text[skipped:]
        cuts = Window(self._stable, own, True, True).spread(searched, len(own), SEGMENT)
        if open_end:
            known = cuts[-1].position if cuts else searched
            last = Window(self._stable, own, begins=True).last(known)
            cuts += [] if last is None else [last]
        if skipped:
            cuts = [replace(cut, position=cut.position + skipped) for cut in cuts]
        return [
            cut
            for cut in cuts
            if cut.position + cut.absorbed < len(text) and self._may_cut(start, text, cut.position)
        ]

    def _why_whole(self) -> str:
        said = "no cut of the text stays certified beside the edit"
        return self._stable.refusal or said


def ids_of(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The ids of a text by the tokenizer's own call, before post-processing; uint32, (n,)."""
    return np.asarray(tokenizer.encode(text), dtype=np.uint32)


def _join_small_segments(left_rope: Rope, new: list[Segment]) -> tuple[Rope, list[Segment]]:
    """Join the last segment of `left_rope` and the first new segment if both are short.

    The last segment of the text is not joined. Without this, appends of single characters would
    leave one segment for each word."""
    if left_rope is None or len(new) < 2:
        return left_rope, new
    at, before = next(segments_before(left_rope, left_rope.chars))
    first = new[0]
    if len(before.text) >= SEGMENT or len(first.text) >= SEGMENT:
        return left_rope, new
    ids = concatenate([before.ids, first.ids])
    whole = Segment(before.text + first.text, ids, before.absorbed_chars)
    return split(left_rope, at)[0], [whole, *new[1:]]
