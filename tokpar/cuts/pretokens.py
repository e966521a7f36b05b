"""The pre-tokens of a text, by Python's `regex`, which on the frozen code points finds what the
engines find, pattern by pattern (correction 0'.1), but do not tell. And repetitive text inside
them: runs of one character (theorem 11), and periodic stretches, in which windows begin in
phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np

from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    spans_from_lengths,
)
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.cuts.window_tables import WindowFinder
from tokpar.errors import EngineError
from tokpar.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.patterns.class_tables import (
    CharSet,
    char_set,
    family_named,
    load_atoms,
    load_pictographs,
)
from tokpar.patterns.stored_windows import stored_windows
from tokpar.types import Facts

_FEW = 64


@dataclass(frozen=True, eq=False)
class Scanner:
    """Pre-tokens of one tokenizer; build it with `scanner_for`."""

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why nothing is known of this tokenizer's pre-tokens, or None."""
        facts = self.facts
        if facts.unprovable is not None:
            return facts.unprovable
        if facts.prefix_space:
            return "its pre-tokens are those of a changed text"
        if inert_for(facts).refusal is not None:
            return inert_for(facts).refusal
        if facts.scheme == "regex" and family_named(str(facts.family)) is not None:
            return None
        return None if facts.scheme == "whole" else "its pre-tokens are not found by a known regex"

    def edges(self, text: str) -> IntArray | None:
        """Where the pre-tokens of `text`, which holds no added token, begin, and its length:
        "Hi you" -> [0, 2, 6]; int64, code points. None if a character is not surely classified, or
        not surely left alone by a normalizer."""
        one = self.facts.scheme == "whole" or self._unbroken(text)
        if not (inert_for(self.facts).inert(text) and (one or _certain().holds(text))):
            return None
        if one:
            return np.array([0, len(text)], dtype=np.int64)
        edges = {0, len(text)}
        for pattern in self._patterns:
            for start, stop in pairwise(sorted(edges)):
                for match in pattern.finditer(text, start, stop):
                    edges.update(match.span())
        return np.array(sorted(edges), dtype=np.int64)

    def is_one(self, text: str) -> bool:
        """The text alone is one pre-token."""
        edges = self.edges(text)
        return edges is not None and len(edges) == 2

    def sure_from(self, text: str) -> int:
        """Where the longest tail of a text begins for which `edges` has an answer; code points."""
        known = 0 if self.facts.scheme == "whole" else _certain().behind_others(text)
        inert = inert_for(self.facts).chars
        return known if inert is None else max(known, inert.behind_others(text))

    def _unbroken(self, text: str) -> bool:
        """It is one pre-token by the classes of its characters alone (proofs/unbroken.md)."""
        if self._read is None or len(text) < _FEW:
            return False
        finder, found = self._read
        for part in (text[:_FEW], text):  # a few mostly tell that it is not
            symbols = finder.symbols(part).tobytes()
            found = [each for each in found if not symbols.translate(None, each[0])]
            if not found:
                return False
        return any(symbols[-1] in lasts for _, lasts in found)

    @cached_property
    def _read(self) -> tuple[WindowFinder, Sequence[tuple[bytes, bytes]]] | None:
        """Who reads symbols, and which of them are unbroken; None where that is not known."""
        family = self.facts.family
        return None if family is None else _reader(family, self.facts.engine, self.facts.patterns)

    @cached_property
    def _patterns(self) -> list[Any]:
        import regex

        # `$` is the end of the text in fancy-regex, but also the place before a last "\n" here
        sources = [p.replace(r"\s++$", r"\s++\Z") for p in self.facts.patterns]
        # VERSION0, here and everywhere: else any code may change `regex.DEFAULT_VERSION`
        return [regex.compile(source, regex.VERSION0) for source in sources]


@lru_cache(maxsize=16)
def _reader(
    family: str, engine: str, patterns: tuple[str, ...]
) -> tuple[WindowFinder, Sequence[tuple[bytes, bytes]]] | None:
    known = stored_windows(family, engine, patterns)
    if known is None:
        return None
    symbol_of = known.symbol_of.copy()
    for low, high in load_pictographs():
        symbol_of[low : high + 1] = symbol_of[load_atoms()["S"][0][0]]
    return WindowFinder(symbol_of, known.size, known.tables), known.unbroken


def scanner_for(facts: Facts) -> Scanner:
    """The scanner for these facts, kept with them."""
    return facts.derived(Scanner)


@lru_cache(maxsize=1)
def _certain() -> CharSet:
    """The characters on whose classes all engines agree."""
    frozen = [span for ranges in load_atoms().values() for span in ranges]
    return char_set([*frozen, *load_pictographs()])


_LOOKED_AT = 256
_LARGEST_STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class Run:
    """A pre-token c^n, n >= `least`, begins with `token` = c^`length` as often as one likes, while
    `least` - `length` characters are left (theorem 11)."""

    token: int
    length: int
    least: int

    def times(self, count: int) -> int:
        """How many tokens of c^count may be taken for granted."""
        return max(0, (count - (self.least - self.length)) // self.length)


def run_of(scanner: Scanner, tokenizer: TokenizerAdapter, char: str) -> Run | None:
    """What the tokenizer makes of long runs of an ASCII character, probed once; None if unknown."""
    known = scanner.facts.derived(_no_runs)
    if char not in known:
        known[char] = _probed(scanner, tokenizer, char)
    return known[char]


def _no_runs(facts: Facts) -> dict[str, Run | None]:
    return {}


def _probed(scanner: Scanner, tokenizer: TokenizerAdapter, char: str) -> Run | None:
    longest = scanner.facts.longest_token
    first = _begin(scanner, tokenizer, char * (4 * longest + 4))
    if first is None:
        return None
    token, length = first
    for least in (longest + length + 1, 2 * longest + length + 1, 4 * longest + length + 1):
        probes = (char * size for size in range(least, least + length))
        if all(_begin(scanner, tokenizer, probe) == first for probe in probes):
            return Run(token, length, least)
    return None


def _begin(scanner: Scanner, tokenizer: TokenizerAdapter, text: str) -> tuple[int, int] | None:
    """The id, and its length, that a run, one pre-token of bytes, begins with twice; or None."""
    ids, edges = token_edges(scanner, tokenizer, text) or ([], [])
    twice = len(ids) > 1 and ids[0] == ids[1] and edges[2] == 2 * edges[1]
    return (ids[0], edges[1]) if twice else None


def token_edges(
    scanner: Scanner, tokenizer: TokenizerAdapter, text: str
) -> tuple[list[int], list[int]] | None:
    """Ids of a text that is one pre-token when alone, and the bytes where they begin, and the end;
    None if it is not one, or the tokenizer fails on it."""
    if not scanner.is_one(text) or not isinstance(tokenizer, Locates):
        return None
    try:
        ids = np.asarray(tokenizer.encode(text))
        spans = spans_of(tokenizer, ids, text)
    except (EngineError, LookupError):
        return None
    return ids.tolist(), [0, *spans[:, 1].tolist()]


def spans_of(tokenizer: TokenizerAdapter, ids: IdArray, text: str) -> SpanArray:
    """UTF-8 byte spans of the ids of a text, for a tokenizer that locates. Behind a
    normalizer they follow from the tokens' lengths, for text that it leaves alone (theorem 45);
    elsewhere tokens of one character share its span. LookupError where they cannot be told."""
    sizes, inert = facts_of(tokenizer).sizes, inert_for(facts_of(tokenizer)).inert
    if sizes is None or not inert(text):
        return cast(Locates, tokenizer).locate(ids, text)
    spans = spans_from_lengths(sizes(ids))
    if int(spans[-1, 1] if len(spans) else 0) != byte_length(text):
        raise LookupError("the tokens' bytes do not tile the text")
    return spans


@dataclass(frozen=True, slots=True)
class Periodic:
    """text[start:stop] is `word` again and again; its tokens repeat, as far as a probe can tell,
    after `cycle` characters, and one of them begins at `edge`. `cycle` 0: that is not known."""

    word: str
    start: int
    stop: int
    cycle: int
    edge: int

    def edge_from(self, place: int) -> int:
        """The first place from `place` on where a token should begin."""
        return place + (self.edge - place) % self.cycle


def stretch_at(
    text: str, piece: tuple[int, int], place: int, scanner: Scanner, tokenizer: TokenizerAdapter
) -> Periodic | None:
    """The periodic stretch of a pre-token around a place, or None."""
    period = period_at(text, place, min(piece[1], place + _LOOKED_AT))
    if period is None:
        return None
    start = periodic_start(text, piece[0], place, period)
    stop = periodic_stop(text, place, piece[1], period)
    longest = scanner.facts.longest_token
    first = max(piece[0], start - 4 * longest)
    probe = text[first : min(stop, start + 8 * longest + 4 * period)]
    found = token_edges(scanner, tokenizer, probe)
    places = np.flatnonzero(np.isin(byte_starts(probe), found[1] if found else [])) + first
    middle = places[(places >= start + longest) & (places <= first + len(probe) - longest)]
    cycle = next(_cycles(middle.tolist(), period), 0)
    return Periodic(
        text[place : place + period], start, stop, cycle, int(middle[0]) if cycle else 0
    )


def _cycles(edges: Sequence[int], period: int) -> Iterator[int]:
    """Multiples of the period after which ascending edges repeat, at least twice."""
    low, high = (edges[0], edges[-1]) if edges else (0, 0)
    for cycle in range(period, (high - low) // 2 + 1, period):
        ahead = [edge + cycle for edge in edges if edge + cycle <= high]
        if ahead == [edge for edge in edges if edge >= low + cycle]:
            yield cycle


def period_at(text: str, start: int, stop: int) -> int | None:
    """The least period, at most half of it, of text[start:stop]: "ababab" -> 2; None if none."""
    half = (stop - start) // 2
    again = text.find(text[start : start + half], start + 1, stop) if half else -1
    period = again - start
    if again < 0 or text[again:stop] != text[start : stop - period]:
        return None
    return period


def periodic_stop(text: str, place: int, limit: int, period: int) -> int:
    """How far, up to `limit`, the text goes on as it did `period` characters before."""
    place, step = place + period, _LOOKED_AT
    while step and place < limit:
        size = min(step, limit - place)
        if text[place : place + size] == text[place - period : place + size - period]:
            place, step = place + size, min(2 * step, _LARGEST_STEP)
        else:
            step //= 2
    return min(place, limit)


def periodic_start(text: str, limit: int, place: int, period: int) -> int:
    """How far back, down to `limit`, the text is as it is `period` characters after."""
    step = _LOOKED_AT
    while step and place > limit:
        size = min(step, place - limit)
        if text[place - size : place] == text[place - size + period : place + period]:
            place, step = place - size, min(2 * step, _LARGEST_STEP)
        else:
            step //= 2
    return place
