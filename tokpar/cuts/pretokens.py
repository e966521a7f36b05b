"""Find the pre-tokens of a text, and repetitive text inside pre-tokens.

Python's `regex` finds the pre-tokens, because the engines do not report them. On the frozen code
points each pattern has the same matches in `regex` and in the engines (correction 0'.1). Repetitive
text is a run of one character (theorem 11), or a periodic part, where windows begin in phase."""

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
    """Finds the pre-tokens of texts for one tokenizer. Build the scanner with `scanner_for`."""

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why the scanner cannot find this tokenizer's pre-tokens, or None."""
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
        """The starts of the pre-tokens of `text`, and the length of `text`; int64, code points.

        "Hi you" -> [0, 2, 6]. Assumes that `text` has no added token. None if engines may disagree
        on the class of a character, or if a normalizer may change a character."""
        one = self.facts.scheme == "whole" or self._is_surely_one(text)
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
        """True if the text by itself is one pre-token."""
        edges = self.edges(text)
        return edges is not None and len(edges) == 2

    def sure_from(self, text: str) -> int:
        """Where the longest suffix of the text begins for which `edges` is not None; code
        points."""
        known = 0 if self.facts.scheme == "whole" else _certain().behind_others(text)
        inert = inert_for(self.facts).chars
        return known if inert is None else max(known, inert.behind_others(text))

    def _is_surely_one(self, text: str) -> bool:
        """True if the character classes alone prove that the text is one pre-token
        (proofs/unbroken.md)."""
        if self._read is None or len(text) < _FEW:
            return False
        finder, found = self._read
        for part in (text[:_FEW], text):  # the first characters mostly show that it is not
            symbols = finder.symbols(part).tobytes()
            found = [each for each in found if not symbols.translate(None, each[0])]
            if not found:
                return False
        return any(symbols[-1] in lasts for _, lasts in found)

    @cached_property
    def _read(self) -> tuple[WindowFinder, Sequence[tuple[bytes, bytes]]] | None:
        """The finder that reads symbols, and its unbroken symbol sets; None if unknown."""
        family = self.facts.family
        return None if family is None else _reader(family, self.facts.engine, self.facts.patterns)

    @cached_property
    def _patterns(self) -> list[Any]:
        import regex

        # `$` is the end of the text in fancy-regex. In `regex` it also matches before a last "\n".
        sources = [p.replace(r"\s++$", r"\s++\Z") for p in self.facts.patterns]
        # Always pass VERSION0: other code may change `regex.DEFAULT_VERSION`.
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
    return WindowFinder(symbol_of, known.size, known.tables), known.unbroken_sets


def scanner_for(facts: Facts) -> Scanner:
    """The scanner for these facts. The facts cache the scanner."""
    return facts.derive(Scanner)


@lru_cache(maxsize=1)
def _certain() -> CharSet:
    """The characters on whose classes all engines agree."""
    frozen = [span for ranges in load_atoms().values() for span in ranges]
    return char_set([*frozen, *load_pictographs()])


_LOOKED_AT = 256
_LARGEST_STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class Run:
    """The repeated token of a run of one character c (theorem 11).

    `token` is the id of c^`length`. A pre-token c^n with n >= `least` begins with this token again
    and again, as long as `least` - `length` characters are left."""

    token: int
    length: int
    least: int

    def times(self, count: int) -> int:
        """How many times c^count is certain to begin with the token."""
        return max(0, (count - (self.least - self.length)) // self.length)


def run_of(scanner: Scanner, tokenizer: TokenizerAdapter, char: str) -> Run | None:
    """The repeated token of long runs of an ASCII character; None if unknown.

    The tokenizer is probed once for each character."""
    known = scanner.facts.derive(_no_runs)
    if char not in known:
        known[char] = _probe_run(scanner, tokenizer, char)
    return known[char]


def _no_runs(facts: Facts) -> dict[str, Run | None]:
    return {}


def _probe_run(scanner: Scanner, tokenizer: TokenizerAdapter, char: str) -> Run | None:
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
    """(id, length) of the token that the run `text` begins with twice, or None.

    The run is one pre-token of ASCII characters."""
    ids, edges = token_edges(scanner, tokenizer, text) or ([], [])
    twice = len(ids) > 1 and ids[0] == ids[1] and edges[2] == 2 * edges[1]
    return (ids[0], edges[1]) if twice else None


def token_edges(
    scanner: Scanner, tokenizer: TokenizerAdapter, text: str
) -> tuple[list[int], list[int]] | None:
    """The ids of a text that is one pre-token by itself, and the byte edges of its tokens.

    The edges are 0 and the end of each token. None if the text is not one pre-token, or the
    tokenizer fails on the text."""
    if not scanner.is_one(text) or not isinstance(tokenizer, Locates):
        return None
    try:
        ids = np.asarray(tokenizer.encode(text))
        spans = spans_of(tokenizer, ids, text)
    except (EngineError, LookupError):
        return None
    return ids.tolist(), [0, *spans[:, 1].tolist()]


def spans_of(tokenizer: TokenizerAdapter, ids: IdArray, text: str) -> SpanArray:
    """The UTF-8 byte spans of the ids of a text, for a tokenizer that `Locates`.

    If the facts have token sizes and the normalizer leaves the text unchanged, the token lengths
    give the spans (theorem 45). Otherwise the tokenizer locates the ids, and several tokens of one
    character share the character's span. Raises LookupError if the spans cannot be found."""
    sizes, inert = facts_of(tokenizer).sizes, inert_for(facts_of(tokenizer)).inert
    if sizes is None or not inert(text):
        return cast(Locates, tokenizer).locate(ids, text)
    spans = spans_from_lengths(sizes(ids))
    if int(spans[-1, 1] if len(spans) else 0) != byte_length(text):
        raise LookupError("the tokens' bytes do not tile the text")
    return spans


@dataclass(frozen=True, slots=True)
class Periodic:
    """A periodic part of a text: text[start:stop] repeats `word`.

    A probe shows that the tokens repeat after `cycle` characters, and that a token begins at
    `edge`. `cycle` 0: unknown."""

    word: str
    start: int
    stop: int
    cycle: int
    edge: int

    def edge_from(self, place: int) -> int:
        """The first position from `place` on where a token probably begins."""
        return place + (self.edge - place) % self.cycle


def periodic_at(
    text: str, piece: tuple[int, int], place: int, scanner: Scanner, tokenizer: TokenizerAdapter
) -> Periodic | None:
    """The periodic part of a pre-token around a position, or None."""
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
    """Yield the multiples of the period after which the ascending edges repeat, at least twice."""
    low, high = (edges[0], edges[-1]) if edges else (0, 0)
    for cycle in range(period, (high - low) // 2 + 1, period):
        ahead = [edge + cycle for edge in edges if edge + cycle <= high]
        if ahead == [edge for edge in edges if edge >= low + cycle]:
            yield cycle


def period_at(text: str, start: int, stop: int) -> int | None:
    """The least period of text[start:stop], at most half its length: "ababab" -> 2; or None."""
    half = (stop - start) // 2
    again = text.find(text[start : start + half], start + 1, stop) if half else -1
    period = again - start
    if again < 0 or text[again:stop] != text[start : stop - period]:
        return None
    return period


def periodic_stop(text: str, place: int, limit: int, period: int) -> int:
    """The end, up to `limit`, of the part after `place` that repeats with this period."""
    place, step = place + period, _LOOKED_AT
    while step and place < limit:
        size = min(step, limit - place)
        if text[place : place + size] == text[place - period : place + size - period]:
            place, step = place + size, min(2 * step, _LARGEST_STEP)
        else:
            step //= 2
    return min(place, limit)


def periodic_start(text: str, limit: int, place: int, period: int) -> int:
    """The start, down to `limit`, of the part before `place` that repeats with this period."""
    step = _LOOKED_AT
    while step and place > limit:
        size = min(step, place - limit)
        if text[place - size : place] == text[place - size + period : place + period]:
            place, step = place - size, min(2 * step, _LARGEST_STEP)
        else:
            step //= 2
    return place
