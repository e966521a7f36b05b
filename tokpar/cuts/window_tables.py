"""The tables of windows, made ready to read texts by arrays (Theorems 40 to 44): linear time.

A pair of characters settles most places. Wider windows are read where it leaves something open,
and then the text behind an earlier cut, which tells all that stands before a place (Theorem 44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import recognise
from tokpar.patterns.stored_windows import Decided, WindowTables, stored_windows

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
StateArray = npt.NDArray[np.int32]
SymbolArray = npt.NDArray[np.uint8]

EVERYWHERE, BEGIN = 0, 1
"""Left sets: the text may be anything so far; it begins here."""
REFUTED = 0
"""The threat set of a cut that is certainly wrong."""
NEVER, OPEN, SURE, SURE_BY_TWO = range(4)
"""What two characters tell of the cut between them: no window certifies it, some do, they do; of
three, with the cut before the last, also that two of them do."""
_FEW, _SOME = 64, 512
_KEPT = 1 << 12
"""Answers about the sides of a cut that are kept, of less than 200 bytes each."""
_MOST_RUNS = 1 << 10
"""Runs of one symbol that are read to learn what is behind them: adversarial texts have as many as
characters, and no cut between them."""


@dataclass(frozen=True, eq=False)
class WindowFinder:
    """The tables of one row of Splits, made ready to read texts; build it with `window_finder`.

    `symbol_of` (0x110000,) uint8; `size` is the symbol of a code point about which nothing is
    known: what is read before it is forgotten, and no cut beside it is certified.
    """

    symbol_of: SymbolArray
    size: int
    tables: WindowTables

    def symbols(self, text: str) -> SymbolArray:
        """The symbol of each character, shape (characters,)."""
        if text.isascii():
            return np.frombuffer(text.encode("ascii").translate(self._ascii), np.uint8)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        found: SymbolArray = self.symbol_of.take(points, mode="clip")  # twice as fast as [points]
        return found

    @cached_property
    def _ascii(self) -> bytes:
        return self.symbol_of[:256].tobytes()

    @cached_property
    def pairs(self) -> npt.NDArray[np.uint8]:
        """What a pair of symbols tells of the cut between them: never, open or sure; at the place
        of the first plus 256 times the second, shape (65536,)."""
        left, n = self.tables.left, self.size
        found = np.zeros((256, 256), np.uint8)
        for c in range(n):
            found[:n, c] = self._told(left[EVERYWHERE, c], left[:, c])
        return found.ravel()

    @cached_property
    def threes(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """What three symbols tell of the cut before the last, in two steps: a table that is read as
        `pairs` is gives the kind of the first two, another the answer from that kind and the third.
        Two for whom no number is left have the kind of the second alone."""
        left, n = self.tables.left, self.size
        numbers = {bytes(n): 0}  # of kinds; behind a symbol that is not known no cut is certain
        kinds = np.zeros((256, 256), np.uint8)

        def kind(b: int, certain: int, possible: StateArray, otherwise: int = 0) -> int:
            by_two = self.pairs.reshape(256, 256)[:n, b] == SURE
            found = np.where(by_two, SURE_BY_TWO, self._told(certain, possible))
            row = found.astype(np.uint8).tobytes()
            return otherwise if len(numbers) == 256 else numbers.setdefault(row, len(numbers))

        for b in range(n):
            kinds[b] = kind(b, left[EVERYWHERE, b], left[:, b])
        for a, b in product(range(n + 1), range(n)):
            further = np.append(left[:, a], BEGIN)  # an anchor may be between
            kinds[b, a] = kind(b, left[left[EVERYWHERE, a], b], left[further, b], kinds[b, a])
        told = np.zeros((256, 256), np.uint8)
        for row, number in numbers.items():
            told[:n, number] = np.frombuffer(row, np.uint8)
        return kinds.ravel(), told.ravel()

    def _told(self, certain: int, possible: StateArray) -> npt.NDArray[np.uint8]:
        """What each symbol makes of the cut before it: the left set there is within `certain`, and
        one of `possible`."""
        cut = self.tables.cut[:, : self.size]
        may = self.possible[cut[np.unique(possible)]].any(axis=0)
        sure = self.tables.certain[cut[certain]]
        return np.where(sure, SURE, np.where(may, OPEN, NEVER)).astype(np.uint8)

    def pair(self, left: str, right: str) -> int:
        """What two characters tell of the cut between them."""
        symbol_of = self.symbol_bytes
        return self.pair_bytes[symbol_of[ord(left)] + 256 * symbol_of[ord(right)]]

    def each_symbol(self, text: str) -> Iterator[int]:
        """As `symbols`, of a short text, one character at a time."""
        return map(self.symbol_bytes.__getitem__, map(ord, text))

    @cached_property
    def pair_bytes(self) -> bytes:
        """`pairs`, for looking up one at a time."""
        return self.pairs.tobytes()

    @cached_property
    def symbol_bytes(self) -> bytes:
        """`symbol_of`, for looking up one at a time."""
        return self.symbol_of.tobytes()

    def parts_often(self, text: str) -> bool:
        """Three of four pairs of neighbours in its middle may be parted, as in digits, and
        not in words or in white space: its pre-tokens are short."""
        some = text[len(text) // 2 :][:_SOME]
        told = pair_status(self.symbols(some), self.pairs)
        return 4 * int(np.count_nonzero(told)) > 3 * len(told) and not some.isspace()

    def last_sure(self, text: str) -> int:
        """The last place in a text that two characters certify, or 0."""
        if len(text) > _FEW:
            sure = np.flatnonzero(pair_status(self.symbols(text), self.pairs) == SURE)
            return int(sure[-1]) + 1 if len(sure) else 0
        pairs, symbols = self.pair_bytes, [*self.each_symbol(text)]
        places = range(len(symbols) - 1, 0, -1)
        return next((p for p in places if pairs[symbols[p - 1] + 256 * symbols[p]] == SURE), 0)

    def behind(self, held: int, text: str) -> int | None:
        """The left set behind a text, read from the set `held`; None if nothing is known of one of
        its characters, there is none, or it takes long."""
        if len(text) > _FEW:
            read = self.symbols(text)
            return None if self.size in read else behind_all(self, held, read)
        symbols = [*self.each_symbol(text)]
        if not symbols or self.size in symbols:
            return None
        for c in symbols:
            held = self.left_rows[held][c]
        return held

    def settled(self, before: bytes, behind: bytes) -> bool:
        """These symbols at the sides of a cut make it certain. The last answers are kept: texts
        are asked about more than once, and repeat themselves."""
        known = self._settled.get((before, behind))
        if known is None:
            held, rows = EVERYWHERE, self.left_rows
            for c in before:
                held = rows[held][c]
            known = self.needed(held, behind) > 0
            if len(self._settled) >= _KEPT:
                self._settled.clear()
            self._settled[before, behind] = known
        return known

    @cached_property
    def _settled(self) -> dict[tuple[bytes, bytes], bool]:
        return {}

    def needed(self, held: int, symbols: Sequence[int]) -> int:
        """How many of these symbols behind a cut make it certain, from this left set on; 0 if all
        of them do not."""
        _, cut, right, certain = self._rows
        threats = cut[held][symbols[0]] if symbols else REFUTED
        for k in range(1, len(symbols) + 1):
            if certain[threats]:
                return k
            if threats == REFUTED or k == len(symbols):
                return 0
            threats = right[threats][symbols[k]]
        return 0

    @cached_property
    def possible(self) -> BoolArray:
        """Threat sets that some text on the right makes certain, shape (threat sets,)."""
        found: BoolArray = self.tables.certain.copy()
        count = -1
        while count != (count := int(found.sum())):
            found |= np.any(found[self.tables.right], axis=1)
        return found

    @cached_property
    def left_rows(self) -> list[list[int]]:
        """`left` as lists, for reading one character at a time."""
        return self._rows[0]

    @cached_property
    def _rows(self) -> tuple[list[list[int]], list[list[int]], list[list[int]], list[bool]]:
        tables = self.tables
        left, cut, right = (each.tolist() for each in (tables.left, tables.cut, tables.right))
        return left, cut, right, tables.certain.tolist()


@lru_cache(maxsize=32)
def window_finder(decided: Decided) -> WindowFinder:
    """The finder for a row of Splits that was decided; tokenizers of one family share it."""
    tables = decided.tables

    def widened(table: StateArray, unknown: int) -> StateArray:
        return np.pad(table, ((0, 0), (0, 1)), constant_values=unknown)

    tables = WindowTables(
        widened(tables.left, EVERYWHERE),
        widened(tables.cut, REFUTED),
        widened(tables.right, REFUTED),
        tables.certain,
    )
    return WindowFinder(decided.symbol_of, decided.size, tables)


def pair_cuts(engine: str, patterns: tuple[str, ...]) -> Callable[[str], list[int]] | None:
    """Finds all places of a text, code points, that the two characters there certify, whatever
    stands around them; None if these patterns are of no known family."""
    family = recognise(engine, patterns)
    found = None if family is None else stored_windows(family.name, engine, patterns)
    if found is None:
        return None
    finder = window_finder(found)

    def places(text: str) -> list[int]:
        sure: list[int] = np.flatnonzero(
            pair_status(finder.symbols(text), finder.pairs) == SURE
        ).tolist()
        return [place + 1 for place in sure]

    return places


def pair_status(symbols: SymbolArray, told: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """What each pair of neighbours tells, shape (n - 1,); `told`: as `WindowFinder.pairs`."""
    if len(symbols) < 2:
        return np.zeros(0, np.uint8)
    held = np.ascontiguousarray(symbols)
    # two neighbours are one number, the second the higher byte
    pairs = np.ndarray((len(held) - 1,), "<u2", held.data, 0, (1,))
    found: SymbolArray = told.take(pairs, mode="clip")
    return found


def behind_window(
    finder: WindowFinder, symbols: SymbolArray, places: IntArray, left: int
) -> StateArray:
    """The left set at each place, read from everything over up to `left` characters."""
    held = np.full(len(places), EVERYWHERE, np.int32)
    for k in range(left, 0, -1):
        inside = places >= k
        moved = finder.tables.left[held, symbols[places - k * inside]]
        held = np.where(inside, moved, held)
    return held


def settle(
    finder: WindowFinder, symbols: SymbolArray, places: IntArray, held: StateArray, right: int
) -> BoolArray:
    """Which cuts are certain, given the left sets, with up to `right` characters behind them."""
    tables = finder.tables
    certain = np.zeros(len(places), np.bool_)
    rest = np.arange(len(places))
    threats = tables.cut[held, symbols[places]]
    for k in range(1, right + 1):
        certain[rest[tables.certain[threats]]] = True
        going = (
            finder.possible[threats] & ~tables.certain[threats] & (places[rest] + k < len(symbols))
        )
        if k == right or not going.any():
            break
        rest = rest[going]
        threats = tables.right[threats[going], symbols[places[rest] + k]]
    return certain


def behind_each(finder: WindowFinder, held: int, symbols: SymbolArray) -> StateArray:
    """The left sets behind each of these symbols, read from the set `held`."""
    states: list[int] = []
    for symbol, size in _sized(symbols, _starts(symbols)):
        orbit, again = _orbit(finder, held, symbol, size)
        cycle = orbit[again:]
        orbit += (cycle * (size // len(cycle)))[: size - len(orbit)]
        states += orbit
        held = orbit[-1]
    return np.array(states, np.int32)


def behind_all(finder: WindowFinder, held: int, symbols: SymbolArray) -> int | None:
    """The last of these left sets; None if that takes long."""
    starts = _starts(symbols)
    if len(starts) > _MOST_RUNS:
        return None
    for symbol, size in _sized(symbols, starts):
        orbit, again = _orbit(finder, held, symbol, size)
        if size > len(orbit):
            again += (size - len(orbit) - 1) % (len(orbit) - again)
        held = orbit[again] if size > len(orbit) else orbit[-1]
    return held


def _starts(symbols: SymbolArray) -> IntArray:
    """Where runs of one symbol begin: [4, 4, 7] -> [0, 2]."""
    return np.concatenate(([0], np.flatnonzero(np.diff(symbols)) + 1))[: len(symbols)]


def _sized(symbols: SymbolArray, starts: IntArray) -> Iterator[tuple[int, int]]:
    """The symbol and the size of each run: [4, 4, 7] -> (4, 2), (7, 1)."""
    sizes = np.diff(starts, append=len(symbols))
    return zip(symbols[starts].tolist(), sizes.tolist(), strict=True)


def _orbit(finder: WindowFinder, held: int, symbol: int, size: int) -> tuple[list[int], int]:
    """The left sets behind a run of one symbol, until they repeat, and the number of the one that
    comes again then."""
    rows, orbit = finder.left_rows, list[int]()
    while len(orbit) < size:
        held = rows[held][symbol]
        if held in orbit:
            return orbit, orbit.index(held)
        orbit.append(held)
    return orbit, 0
