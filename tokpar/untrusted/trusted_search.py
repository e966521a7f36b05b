"""Finds the control tokens that the trusted runs of a text spell (proofs/untrusted.md).

All positions are code points of the text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from tokpar.arrays import SPACES, byte_length
from tokpar.cuts.added_token_contents import Contents
from tokpar.errors import OptionError
from tokpar.formats.char_classes import runs, single
from tokpar.types import AddedToken

Span = tuple[int, int]
Match = tuple[int, int, str]
"""[start, stop) of a control token, and its content."""


def require_spans(spans: object, text: str) -> tuple[Span, ...]:
    """Returns the untrusted spans of a text, [start, stop) each, neighbours as one, none empty.

    Raises OptionError unless they are pairs of ints in the text, ascending, without overlap."""
    found: list[Span] = []
    end = 0
    if isinstance(spans, (str, bytes)) or not isinstance(spans, Iterable):
        raise OptionError(f"untrusted must be a list of (start, stop), got {spans!r:.80}")
    for span in spans:
        start, stop = _require_pair(span)
        if not 0 <= start <= stop <= len(text):
            unit = "untrusted spans count code points"
            if not text.isascii() and len(text) < stop <= byte_length(text):
                unit += f", not UTF-8 bytes (of which the text has {byte_length(text)})"
            raise OptionError(f"{unit}: 0 <= start <= stop <= {len(text)}, got ({start}, {stop})")
        if start < end:
            raise OptionError(
                f"untrusted spans must ascend without overlap, got ({start}, {stop}) after one "
                f"that ends at {end}"
            )
        if start < stop:
            joins = bool(found) and start == end
            found.append((found.pop()[0] if joins else start, stop))
            end = stop
    return tuple(found)


def _require_pair(span: object) -> Span:
    pair = tuple(span) if isinstance(span, (Sequence, np.ndarray)) else ()
    ints = all(isinstance(p, (int, np.integer)) and not isinstance(p, bool) for p in pair)
    if len(pair) != 2 or not ints or isinstance(span, (str, bytes)):
        raise OptionError(f"an untrusted span is a pair of ints (start, stop), got {span!r:.80}")
    return int(pair[0]), int(pair[1])


def trusted_runs(spans: Iterable[Span], length: int) -> list[Span]:
    """Returns the maximal runs of a text of `length` code points outside the spans."""
    found, at = [], 0
    for start, stop in (*spans, (length, length)):
        if at < start:
            found.append((at, start))
        at = stop
    return found


class TrustedSearch:
    """Finds control tokens as the engine finds added tokens: leftmost, of several the longest.

    `tokens`: all added tokens that the engine searches. `control`: contents of some. A token with
    `normalized` is searched after the others, in what they leave (no normalizer is assumed)."""

    def __init__(self, tokens: Iterable[AddedToken], control: Collection[str]) -> None:
        self._tokens = {token.content: token for token in tokens}
        self._control = frozenset(control)
        self._contents = Contents.of(self._control)
        late = {content for content, token in self._tokens.items() if token.normalized}
        self._first_pass = Contents.of(self._tokens.keys() - late)
        self._second_pass, self._late = Contents.of(late), Contents.of(late & self._control)

    @property
    def searches_twice(self) -> bool:
        """True if some control tokens are searched in what the others leave of the whole text."""
        return bool(self._late.contents)

    def occurs_in(self, text: str) -> bool:
        """True if a control token is written somewhere in the text, trusted or not."""
        return len(self._contents.clusters(text)) > 0

    def matches(self, text: str, runs: Sequence[Span]) -> list[Match]:
        """Returns the control tokens of the trusted `runs`, each searched alone, ascending."""
        whole = 0, len(text)
        first = [each for run in runs for each in self._search(self._first_pass, text, run, whole)]
        matches = [each for each in first if each[2] in self._control]
        if not any(len(self._late.clusters(text, *run)) for run in runs):
            return matches
        for section in self._sections(text, matches):
            for start, stop in runs:
                run = max(start, section[0]), min(stop, section[1])
                late = self._search(self._second_pass, text, run, section)
                matches += [each for each in late if each[2] in self._control]
        return sorted(matches)

    def _search(self, contents: Contents, text: str, run: Span, context: Span) -> Iterator[Match]:
        """The matches in a run; `single_word` sees the characters of `context` around them."""
        start = run[0]
        for first, last in contents.matches(text[start : run[1]]) if start < run[1] else ():
            place = start + first, start + last
            content = text[slice(*place)]
            if not self._tokens[content].single_word or _stands_alone(text, place, context):
                yield *place, content

    def _sections(self, text: str, matches: Sequence[Match]) -> list[Span]:
        """What the first pass of the engine leaves of the text with names for `matches`."""
        taken: list[Match] = [*matches]
        gaps = trusted_runs([each[:2] for each in matches], len(text))
        for gap in gaps:  # a name stands in no content, so no other match reaches over it
            others = self._search(self._first_pass, text, gap, (0, len(text)))
            taken += [each for each in others if each[2] not in self._control]
        sections, at = [], 0
        for start, stop, content in sorted(taken):
            token = self._tokens[content]
            if token.lstrip:
                start = at + len(text[at:start].rstrip(SPACES))
            after = runs("white").match(text, stop) if token.rstrip else None
            if at < start:
                sections.append((at, start))
            at = stop if after is None else after.end()
        return [*sections, (at, len(text))] if at < len(text) else sections


def _stands_alone(text: str, place: Span, context: Span) -> bool:
    """True if no word character of `context` stands directly beside `place`."""
    word, (start, stop) = single("word").match, place
    left = start > context[0] and word(text[start - 1])
    return not left and not (stop < context[1] and word(text[stop]))
