"""Pins: ids that a model produced, kept unchanged in the middle of a text (theorem 38).

A transcript is a list of rows. A row is a text, which the tokenizer encoded, or a pin, whose ids
are given. The text of a pin is the bytes of its tokens in place. A byte that is no part of a
character becomes one lone surrogate of the text, as Python's error handler "surrogateescape" writes
it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.contract.adapter import token_bytes_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.cuts.stable_cuts import StableCuts, Window
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.results.adding_up import concatenate
from tokpar.results.spans import spans_of
from tokpar.sessions.rope import Rope, ids_after, slice_of
from tokpar.types import Rows

Encode = Callable[[str], IdArray]
_APART = 256
"""The least number of code points between two cuts by which the regions of a text are told."""
_NO_IDS: IdArray = np.empty(0, np.uint32)


@dataclass(frozen=True, eq=False)
class TranscriptRow:
    """One row of a transcript: a text with its ids, or a pin.

    `data`: the bytes of a pin; None for a text. `repeats`: the pin is a placeholder, all of whose
    ids stand for one `data`; the next pin is not joined to it. The text of a text row is `rope`
    without its first `skipped_chars` code points. Its ids are the ids of `rope` without the first
    `skipped_ids`."""

    rope: Rope = None
    skipped_chars: int = 0
    skipped_ids: int = 0
    data: bytes | None = None
    pinned_ids: IdArray = field(default_factory=lambda: _NO_IDS)
    repeats: bool = False

    @cached_property
    def text(self) -> str:
        if self.data is not None:
            return self.data.decode("utf-8", "surrogateescape")
        return self.rope_text[self.skipped_chars :]

    @property
    def rope_text(self) -> str:
        """The whole text of `rope`: the text of the row, and what it was encoded after."""
        return slice_of(self.rope, 0, 0 if self.rope is None else self.rope.chars)

    @cached_property
    def ids(self) -> IdArray:
        """The ids of the row; uint32, (n,)."""
        if self.data is not None:
            return self.pinned_ids
        return ids_after(self.rope, self.skipped_ids)

    @property
    def count(self) -> int:
        whole = 0 if self.rope is None else self.rope.count
        return len(self.pinned_ids) if self.data is not None else whole - self.skipped_ids


@dataclass(frozen=True, eq=False)
class PinnedRows:
    """The rows of a session up to the end of its last pin. No edit changes these rows.

    `context`: the end of the last pin's text, after which the next text is encoded (P2);
    `context_ids` are its ids. With an empty context, the next text is encoded by itself (P1)."""

    rows: tuple[TranscriptRow, ...] = ()
    chars: int = 0
    count: int = 0
    context: str = ""
    context_ids: IdArray = field(default_factory=lambda: _NO_IDS)

    @cached_property
    def text(self) -> str:
        return "".join(row.text for row in self.rows)

    @cached_property
    def ids(self) -> IdArray:
        return concatenate([row.ids for row in self.rows])


NO_PINS = PinnedRows()


def spans_of_rows(rows: Sequence[TranscriptRow], tokenizer: TokenizerAdapter) -> SpanArray:
    """[start, stop) of each id in the text of all rows, code points; int64 (n, 2).

    All ids of a pin have the whole pin. Raises LookupError if the tokenizer cannot tell."""
    found, place = [np.empty((0, 2), np.int64)], 0
    for row in rows:
        if row.data is None:
            whole = Rows.of([ids_after(row.rope, 0)])
            spans = spans_of(tokenizer, [row.rope_text], whole, code_points=True)
            spans = np.maximum(spans[row.skipped_ids :] - row.skipped_chars, 0)
        else:
            spans = np.tile([0, len(row.text)], (row.count, 1))
        found.append(spans + place)
        place += len(row.text)
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a session, and whether its ids are the tokenizer's ids (theorem 38).

    [start, stop): code points of the text. [first, last): the ids. `state` is one of three.
    "canonical": the ids are the ids of a full encode of the text. "given": the ids differ from a
    full encode, and stay as given. "undecidable": the text of the region has half a character, so
    no full encode exists."""

    start: int
    stop: int
    first: int
    last: int
    state: Literal["canonical", "given", "undecidable"]


def bytes_of_pin(tokenizer: TokenizerAdapter, ids: IdArray, text: str | None) -> bytes:
    """The bytes of the tokens of a pin. Raises OptionError if the bytes are not known, or if `text`
    has other bytes."""
    own: bytes | None = None
    token_bytes = token_bytes_of(tokenizer)
    if token_bytes is not None:
        tokens = [(id_, token_bytes(id_)) for id_ in ids.tolist()]
        unknown = next((id_ for id_, token in tokens if token is None), None)
        if unknown is not None and text is None:
            raise OptionError(
                f"id {unknown} has no bytes of its own in {tokenizer.name}, so the text of the pin "
                "is not known; pass pin(ids, text=...)"
            )
        if unknown is None:
            own = b"".join(token or b"" for _, token in tokens)
    elif text is None:
        raise OptionError(
            f"the tokens of {tokenizer.name} do not spell their text, so the text of the pin is "
            "not known; pass pin(ids, text=...)"
        )
    if text is None:
        return own or b""
    data = text.encode("utf-8")
    if own is not None and own != data:
        raise OptionError(f"the ids of the pin spell {own!r}, got text={text!r}")
    return data


def ids_of_pin(ids: Sequence[int] | IdArray) -> IdArray:
    """The ids of a pin; uint32, (n,). Raises OptionError for anything that is not a sequence of
    ids."""
    found = np.asarray(ids)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise OptionError(f"pin takes a sequence of ids, got {ids!r:.80}")
    if len(found) and not 0 <= int(found.min()) <= int(found.max()) < 1 << 32:
        raise OptionError("the ids of a pin must be at least 0 and below 2**32")
    return found.astype(np.uint32)


def context_of(cuts: StableCuts, text: str) -> str:
    """The end of a pin's text, from its last stable cut on.

    Without a stable cut, the whole text. "" if the text ends in half a character, or if it has half
    a character and no cut behind it is certain."""
    valid = _valid_from(text)
    window = Window(cuts, text[valid:], begins=valid == 0)
    seam = window.last(0) if cuts.refusal is None else None
    if seam is not None:
        return window.text[seam.position + seam.absorbed :]
    return text if valid == 0 else ""


def _valid_from(text: str) -> int:
    """The start of the longest suffix without a lone surrogate."""
    bad = (k for k in range(len(text) - 1, -1, -1) if "\ud800" <= text[k] <= "\udfff")
    return next(bad, -1) + 1


def regions_of(
    rows: Sequence[TranscriptRow], cuts: StableCuts, encode: Encode
) -> tuple[Region, ...]:
    """The regions of a transcript: whether the ids of each part are the ids of its whole text
    (theorem 38).

    The text is divided at certified cuts for which the number of ids before them is known: at edges
    of rows, and at the first and the last cut that is certified both in a row's text and in the
    whole text. A part between those two cuts of one row is canonical. `encode` decides each of the
    other parts."""
    rows = [row for row in rows if row.text or row.count]
    text = "".join(row.text for row in rows)
    ids = concatenate([row.ids for row in rows])
    edges = _known_edges(rows, _Judge(text, cuts), encode)
    found: list[Region] = []
    for (start, first, cored), (stop, last, _) in pairwise(edges):
        part = text[start:stop]
        if cored:
            state: Literal["canonical", "given", "undecidable"] = "canonical"
        elif _valid_from(part):
            state = "undecidable"
        else:
            same = np.array_equal(encode(part), ids[first:last])
            state = "canonical" if same else "given"
        if found and found[-1].state == state:
            start, first = found[-1].start, found[-1].first
            found.pop()
        found.append(Region(start, stop, first, last, state))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Certify cuts of a text that may have half characters. No certificate depends on a half
    character."""

    text: str
    cuts: StableCuts

    def is_cut(self, p: int) -> bool:
        start, window = next((s, w) for s, w in self._windows if p <= s + len(w.text))
        seam = window.seam(p - start)
        return seam is not None and not seam.absorbed

    @cached_property
    def _windows(self) -> list[tuple[int, Window]]:
        bad = [k for k, char in enumerate(self.text) if "\ud800" <= char <= "\udfff"]
        edges = [(-1, 0), *((k, k + 1) for k in bad), (len(self.text), 0)]
        parts = [(start, stop) for (_, start), (stop, _) in pairwise(edges)]
        return [
            (a, Window(self.cuts, self.text[a:b], a == 0, b == len(self.text))) for a, b in parts
        ]


def _edges_in(row: TranscriptRow, cuts: StableCuts, encode: Encode) -> Iterator[tuple[int, int]]:
    """Yield (code points, ids) before each cut inside a text row that absorbs nothing."""
    text, start, count = row.rope_text, 0, 0
    if row.data is not None or cuts.finder.refusal_for(text) is not None:
        return
    for seam in cuts.finder.find_each(text, _APART, start=row.skipped_chars):
        if not seam.absorbed:
            count += len(encode(text[start : seam.position]))
            start = seam.position
            yield start - row.skipped_chars, count - row.skipped_ids


def _known_edges(
    rows: Sequence[TranscriptRow], judge: _Judge, encode: Encode
) -> list[tuple[int, int, bool]]:
    """(code points, ids) before each cut that divides the transcript, and before its two ends.

    The third value is True if the part up to the next edge lies in the text of one row, between two
    cuts that are also certified in that text."""
    place = count = 0
    edges = [(0, 0, False)]
    for row in rows:
        if place and judge.is_cut(place):
            edges.append((place, count, False))
        known = _edges_in(row, judge.cuts, encode)
        inside = [(place + p, count + n) for p, n in known if judge.is_cut(place + p)]
        if inside:
            edges += [(*inside[0], len(inside) > 1)]
        if len(inside) > 1:
            edges += [(*inside[-1], False)]
        place, count = place + len(row.text), count + row.count
    return [*edges, (place, count, False)] if place or count else []
