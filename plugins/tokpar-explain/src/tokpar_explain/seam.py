"""Describe one seam: the tokens of both chunks there, the joined tokens, and the serial tokens."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokpar.arrays import NO_INTS, IdArray, IntArray, SpanArray, equal_tokens
from tokpar.types import Rule, Seam
from tokpar_explain.rows import (
    TOKENS_AROUND,
    Row,
    TextPart,
    Unequal,
    describe_count,
    proof_page,
    rule_sentence,
    show_text,
    theorem_sentence,
    token_at,
    unequal,
)
from tokpar_explain.trace import IdRange, Mask, Trace

CHARS_AROUND = 40
MOST_DIFFERENCES = 3
NOT_LOCATED = "this tokenizer cannot tell where these tokens lie, so only their ids are shown"


@dataclass(frozen=True, slots=True)
class Explained:
    """The description of one seam.

    Places are code points of the text; `line` and `column` count from 1. `left`, `right` are the
    two chunks, `shared` is the text that both encoded; each is (start, stop)."""

    number: int
    position: int
    line: int
    column: int
    rule: Rule | None
    theorem: str
    witness: tuple[tuple[str, int | str], ...]
    meaning: str
    theorem_says: str
    page: str
    before: tuple[TextPart, ...]
    after: tuple[TextPart, ...]
    left: tuple[int, int]
    right: tuple[int, int]
    shared: tuple[int, int]
    matched: int
    left_row: Row
    right_row: Row
    joined_row: Row
    serial_row: Row
    differs: bool
    differences: tuple[Unequal, ...]
    more_differences: int
    words: tuple[str, ...]


def explain_seam(trace: Trace, number: int, around: int = CHARS_AROUND) -> Explained:
    """Describe seam number 0, 1, ..., with `around` code points of text on either side."""
    view = _View(trace, number, around)
    seam, (left, right) = view.seam, view.chunks
    mine = trace.differing.get(number, ())
    line, column = trace.place(seam.position)
    return Explained(
        number=number,
        position=seam.position,
        line=line,
        column=column,
        rule=seam.rule,
        theorem=seam.theorem,
        witness=seam.witness,
        meaning=rule_sentence(seam, trace.strategy),
        theorem_says=theorem_sentence(seam),
        page=proof_page(seam, trace.strategy),
        before=view.text_parts(max(0, seam.position - around), seam.position),
        after=view.text_parts(seam.position, min(len(trace.text), seam.position + around)),
        left=(left.start, left.stop),
        right=(right.start, right.stop),
        shared=view.shared_range,
        matched=len(view.matched_tokens[0]),
        left_row=view.chunk_row(0),
        right_row=view.chunk_row(1),
        joined_row=view.joined_row(),
        serial_row=view.serial_row(),
        differs=bool(mine),
        differences=tuple(unequal(trace, each) for each in mine[:MOST_DIFFERENCES]),
        more_differences=max(0, len(mine) - MOST_DIFFERENCES),
        words=view.words(bool(mine)),
    )


class _View:
    """The data from which a seam's description is made. A pair holds a value for the left chunk and
    one for the right."""

    def __init__(self, trace: Trace, number: int, chars_around: int) -> None:
        self.trace, self.chars_around = trace, chars_around
        self.seam: Seam = trace.seams[number]
        self.chunks = trace.chunks[number : number + 2]
        self.ids = [piece.ids for piece in trace.pieces[number : number + 2]]
        self.kept_ranges = trace.kept[number : number + 2]
        self.spans = trace.piece_spans(number), trace.piece_spans(number + 1)
        left, right = self.chunks
        self.shared_range = (right.start, max(right.start, left.stop))
        self.matched_tokens = self._match_tokens()
        self.joint = self._joint()
        self.windows = self._windows()

    def _match_tokens(self) -> tuple[IntArray, IntArray]:
        """The tokens that both chunks found at the same place of the overlap: their numbers in each
        piece."""
        left, right = self.spans
        if left is None or right is None or self.shared_range[0] == self.shared_range[1]:
            return NO_INTS, NO_INTS
        start, stop = (int(self.trace.starts[place]) for place in self.shared_range)
        first = int(np.searchsorted(left[:, 1], start, side="right"))
        last = int(np.searchsorted(right[:, 0], stop))
        ids, others = self.ids[0][first:], self.ids[1][:last]
        found, other = equal_tokens(left[first:], ids, right[:last], others)
        return found + first, other

    def _joint(self) -> tuple[int, int]:
        """Where the kept tokens of the left chunk end and the kept tokens of the right chunk begin,
        in bytes. Both are the seam if the places are unknown."""
        stop = start = int(self.trace.starts[self.seam.position])
        left, right = self.spans
        if left is not None and right is not None:
            (first, last), (behind, end) = self.kept_ranges
            stop = int(left[last - 1, 1]) if last > first else stop
            start = int(right[behind, 0]) if end > behind else start
        return stop, start

    def _windows(self) -> list[tuple[int, int]]:
        """The parts of the text that the rows show: [start, stop) in bytes, ascending and
        disjoint."""
        starts, length = self.trace.starts, len(self.trace.text)
        joints = np.searchsorted(starts, np.array(self.joint)).tolist()
        windows: list[tuple[int, int]] = []
        for place in sorted({self.seam.position, *joints}):
            start = int(starts[max(0, place - self.chars_around)])
            stop = int(starts[min(length, place + self.chars_around)])
            if windows and start <= windows[-1][1]:
                start = windows.pop()[0]
            windows.append((start, stop))
        return windows

    def chunk_row(self, side: int) -> Row:
        """The row of the left chunk (0) or of the right chunk (1)."""
        ids, spans, (first, last) = self.ids[side], self.spans[side], self.kept_ranges[side]
        edge = first if side else last
        matched = set(self.matched_tokens[side].tolist())
        tokens = (
            token_at(self.trace, n, ids, spans, self.shared_range, first <= n < last, n in matched)
            for n in self._tokens_near(spans, 0, len(ids), edge)
        )
        return Row(tuple(tokens), len(ids), edge)

    def joined_row(self) -> Row:
        """The row of the joined tokens.

        Joined tokens need not be in the order of the text. So only the tokens near the seam are
        checked for lying in a window; a code point has at most four tokens."""
        ids, token = self.trace.encoding.ids, max(0, self.seam.token)
        reach = 4 * self.chars_around + 8
        first, last = max(0, token - reach), min(len(ids), token + reach)
        spans, part = self.trace.joined_spans, (first, last)
        return self._whole_row(ids, spans, part, self.trace.unequal[0], token)

    def serial_row(self) -> Row:
        ids, spans = self.trace.serial, self.trace.serial_spans
        first, last, seam = 0, len(ids), -1
        if spans is not None:
            starts, stops = spans.T
            first = int(stops.searchsorted(self.windows[0][0]))
            last = int(starts.searchsorted(self.windows[-1][1], side="right"))
            here = int(self.trace.starts[self.seam.position])
            before = int(stops.searchsorted(here, side="right"))
            seam = before if before == len(ids) or starts[before] >= here else -1
        return self._whole_row(ids, spans, (first, last), self.trace.unequal[1], seam)

    def _whole_row(
        self, ids: IdArray, spans: SpanArray | None, part: IdRange, differs: Mask, seam: int
    ) -> Row:
        tokens = (
            token_at(self.trace, n, ids, spans, self.shared_range, differs=bool(differs[n]))
            for n in self._tokens_near(spans, *part, max(0, self.seam.token))
        )
        return Row(tuple(tokens), len(ids), seam)

    def _tokens_near(self, spans: SpanArray | None, first: int, last: int, edge: int) -> list[int]:
        """The tokens of [first, last) that lie in a window. If tokens are not located, the tokens
        around `edge`."""
        if spans is None:
            return list(range(max(first, edge - TOKENS_AROUND), min(last, edge + TOKENS_AROUND)))
        part = spans[first:last]
        touching = np.zeros(len(part), dtype=bool)
        for start, stop in self.windows:
            touching |= (part[:, 1] > start) & (part[:, 0] < stop)
        return [first + int(n) for n in np.flatnonzero(touching)]

    def text_parts(self, start: int, stop: int) -> tuple[TextPart, ...]:
        """The text of [start, stop), divided where the overlap begins or ends."""
        edges = sorted(
            {start, stop, *(place for place in self.shared_range if start < place < stop)}
        )
        return tuple(
            TextPart(
                show_text(self.trace.text[a:b]),
                self.shared_range[0] <= a and b <= self.shared_range[1],
            )
            for a, b in pairwise(edges)
        )

    def words(self, differs: bool) -> tuple[str, ...]:
        """Sentences about the match, about text that is lost or doubled, and about missing
        positions."""
        start, stop = self.shared_range
        said = ["The chunks do not overlap: their ids stand one after the other."]
        if start < stop:
            found = describe_count(len(self.matched_tokens[0]))
            said = [
                f"Both chunks tokenized code points {start:,} to {stop:,} and found {found} in "
                "common at the same places."
            ]
        if differs:
            said += self._describe_lost_text()
        if any(spans is None for spans in (*self.spans, self.trace.joined_spans)):
            said.append(f"No positions: {NOT_LOCATED}.")
        return tuple(said)

    def _describe_lost_text(self) -> list[str]:
        stop, start = np.searchsorted(self.trace.starts, np.array(self.joint), side="left").tolist()
        between = f"code points {min(start, stop):,} to {max(start, stop):,}"
        if start > stop and self.trace.text[stop:start].strip():
            return [f"The text of {between} is lost: no token that was kept covers it."]
        if start < stop:
            return [f"The text of {between} is there twice: both chunks' tokens for it were kept."]
        return []
