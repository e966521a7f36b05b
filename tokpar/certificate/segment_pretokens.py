"""Compute the ids of segments from their distinct pre-tokens (theorem 51).

The machines of the Splits divide the segments. The tokenizer's own call then encodes each distinct
pre-token, as a text that the machines leave whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IntArray, offsets_of, range_indices
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.content_index import ContentIndex, occurring
from tokpar.certificate.distinct_segments import distinct_segments
from tokpar.certificate.model.greedy_merging import Work
from tokpar.certificate.model.pretoken_machine import PretokenMachine, machine_of
from tokpar.certificate.model.pretoken_scan import Marks, mark_pretokens
from tokpar.certificate.tokenizer_probe import Bytes, Mask, TokenizerProbe, Utf8Text
from tokpar.types import Facts, Rows

_WORK = 256
"""Steps of the machines that are allowed for each character."""


@dataclass(frozen=True, slots=True, eq=False)
class PretokenGate:
    """The machines of a tokenizer whose pre-tokens are known, and the contents of its added tokens.

    `drops_gaps`: text that no match covers is left out, as tiktoken does."""

    machines: tuple[PretokenMachine, ...]
    contents: tuple[str, ...]
    drops_gaps: bool

    @classmethod
    def of(cls, facts: Facts) -> PretokenGate | None:
        """Returns the gate of a tokenizer; None if theorem 51 does not apply to it."""
        splits = facts.scheme == "regex" and facts.tiles and facts.unprovable is None
        plain = not facts.normalizers and not facts.prefix_space
        if not (splits and plain and facts.patterns):
            return None
        try:
            machines = tuple(machine_of(each, facts.engine) for each in facts.patterns)
        except RefusedError:
            return None
        contents = tuple(token.content for token in facts.added_tokens)
        if not all(contents):
            return None
        return cls(machines, contents, facts.engine == "fancy-regex")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of a text, one after the other, that fill it: `text` is their concatenation.

    `edges`: UTF-8 bytes, int64, (parts + 1,). `places`: the same edges, code points."""

    text: Utf8Text
    edges: IntArray
    places: IntArray

    @classmethod
    def of(cls, codes: Bytes, starts: IntArray, stops: IntArray) -> Parts:
        """Returns the parts codes[start:stop] in a text of their own."""
        edges = offsets_of(stops - starts)
        whole = codes[range_indices(starts, stops - starts)]
        begun = offsets_of(whole.view(np.int8) >= -0x40)
        return cls(Utf8Text(whole.tobytes().decode()), edges, begun[edges])

    def texts(self, indices: IntArray) -> list[str]:
        """Returns the texts of some parts."""
        at = zip(self.places[indices].tolist(), self.places[indices + 1].tolist(), strict=True)
        return [self.text.text[start:stop] for start, stop in at]

    def of_places(self, places: IntArray) -> IntArray:
        """Returns the part that holds each code point."""
        found: IntArray = np.searchsorted(self.places, places, side="right") - 1
        return found

    def __len__(self) -> int:
        return len(self.edges) - 1


def pretoken_rows(
    gate: PretokenGate, codes: Bytes, starts: IntArray, stops: IntArray, probe: TokenizerProbe
) -> tuple[IntArray, Rows]:
    """Returns which segments codes[start:stop] are known by their pre-tokens, and their ids.

    The segments are not empty. A segment stays unknown if an added token occurs in it, if a
    character has no certain class, or if one of its pre-tokens is none in a text of its own."""
    segments = Parts.of(codes, starts, stops)
    known = np.ones(len(segments), dtype=np.bool_)
    known[_with_added_tokens(gate, segments)] = False
    marks = np.zeros(len(segments.text.text) + 1, dtype=np.uint8)
    marks[segments.places] = 1
    known[segments.of_places(_divide(gate, segments.text, marks))] = False
    places = np.flatnonzero(marks)
    kept = known[segments.of_places(places[:-1])]
    pieces = segments.text.byte_offsets(places)
    kinds = distinct_segments(segments.text.codes, pieces[:-1][kept], pieces[1:][kept])
    chosen = np.flatnonzero(kept)[kinds.first]
    distinct = Parts.of(segments.text.codes, pieces[chosen], pieces[chosen + 1])
    sure = _are_pretokens(gate, distinct)
    whole = np.flatnonzero(sure)
    encoded = probe.encode_many(distinct.texts(whole))
    rows = Rows.scatter(len(distinct), [(whole, encoded)])
    first = offsets_of(kept)[np.searchsorted(pieces, segments.edges)]
    unsure = offsets_of(~sure[kinds.kinds])[first]
    known &= unsure[1:] == unsure[:-1]
    lengths = np.diff(rows.offsets)[kinds.kinds]
    return _rows_of(np.flatnonzero(known), first, kinds.kinds, lengths, rows)


def _rows_of(
    known_segments: IntArray, first: IntArray, kinds: IntArray, lengths: IntArray, rows: Rows
) -> tuple[IntArray, Rows]:
    """Returns the rows of the known segments: the rows of their pieces, one after the other."""
    counts = first[known_segments + 1] - first[known_segments]
    pieces = range_indices(first[known_segments], counts)
    ids = rows.ids[range_indices(rows.offsets[kinds[pieces]], lengths[pieces])]
    return known_segments, Rows(ids, offsets_of(lengths[pieces])[offsets_of(counts)])


def _with_added_tokens(gate: PretokenGate, segments: Parts) -> IntArray:
    """Returns the segments in which an added token occurs, and some that it only touches."""
    text = segments.text.text
    found = ContentIndex(occurring(gate.contents, text)).occurrences(text)
    edges = [(place, place + len(content) - 1) for place, content in found]
    places = np.array(edges, dtype=np.int64).reshape(-1, 2)
    ends = segments.of_places(places)
    return np.unique(
        np.concatenate([np.arange(a, b + 1) for a, b in ends.tolist()] or [ends[:, 0]])
    )


def _divide(gate: PretokenGate, text: Utf8Text, marks: Marks) -> IntArray:
    """Set `marks` where a pre-token begins. Returns the code points that decide nothing: those
    without a certain class, and all of the text if the engine may leave some of it out."""
    unsure = [np.zeros(0, dtype=np.int64)]
    work = Work(_WORK * len(text.text))
    for machine in gate.machines:
        symbols = machine.symbols_in(text.text)
        unknown = np.flatnonzero(symbols == machine.size)
        symbols[unknown] = 0
        unsure.append(unknown)
        if gate.drops_gaps and machine.leaves_gaps(symbols):
            unsure.append(np.arange(len(symbols)))
        mark_pretokens(machine, symbols, marks, work)
    return np.concatenate(unsure)


def _are_pretokens(gate: PretokenGate, parts: Parts) -> Mask:
    """Returns which parts are pre-tokens, each in a text of its own. None is where a character of
    them decides nothing."""
    marks = np.zeros(len(parts.text.text) + 1, dtype=np.uint8)
    marks[parts.places] = 1
    unsure = _divide(gate, parts.text, marks)
    before = offsets_of(marks)
    whole: Mask = before[parts.places[1:]] - before[parts.places[:-1] + 1] == 0
    return whole if not len(unsure) else np.zeros_like(whole)
