"""Read texts with window tables and arrays, in linear time (theorems 40 to 44).

A pair of characters settles most positions. Wider windows read the open positions. Reading from an
earlier cut settles the rest: an earlier cut replaces all text before it (theorem 44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import recognise
from tokpar.patterns.stored_windows import DecidedWindows, WindowTables, stored_windows

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
StateArray = npt.NDArray[np.int32]
SymbolArray = npt.NDArray[np.uint8]

EVERYWHERE, BEGIN = 0, 1
"""Left sets. `EVERYWHERE`: any text may stand before the position. `BEGIN`: the text begins here.
"""
REFUTED = 0
"""The number of the threat set that means: the cut is certainly wrong."""
NEVER, OPEN, SURE, SURE_BY_TWO = range(4)
"""The status of a cut. `NEVER`: no window certifies the cut. `OPEN`: some window may. `SURE`: the
characters read so far certify the cut. `SURE_BY_TWO`: of three characters, the last two certify the
cut before the last."""
_FEW, _SOME = 64, 512
_KEPT = 1 << 12
"""Most entries of the cache of `certifies`; an entry takes less than 200 bytes."""
_MOST_RUNS = 1 << 10
"""Most runs of one symbol that `behind_all` reads: an adversarial text has as many runs as
characters, and no cut between them."""


@dataclass(frozen=True, eq=False)
class WindowFinder:
    """Reads texts with the window tables of one sequence of Splits. Build it with `window_finder`.

    `symbol_of` (0x110000,) uint8. `size` is the symbol of all unknown code points. After an unknown
    code point the left set is `EVERYWHERE`. No cut next to an unknown code point is certified.
    """

    symbol_of: SymbolArray
    size: int
    tables: WindowTables

    def symbols(self, text: str) -> SymbolArray:
        """The symbol of each character of the text, uint8, (characters,)."""
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
        """The status of the cut between two symbols: `NEVER`, `OPEN` or `SURE`.

        uint8, (65536,). The index is the first symbol plus 256 times the second."""
        left, n = self.tables.left, self.size
        found = np.zeros((256, 256), np.uint8)
        for c in range(n):
            found[:n, c] = self._status(left[EVERYWHERE, c], left[:, c])
        return found.ravel()

    @cached_property
    def threes(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Two tables for the status of the cut before the third of three symbols.

        The first table gives the kind of the first two symbols; its index is the index of `pairs`.
        The second table gives the status; its index is the kind plus 256 times the third symbol.
        There are at most 256 kinds. Two symbols without a kind of their own get the kind of the
        second symbol alone."""
        left, n = self.tables.left, self.size
        numbers = {bytes(n): 0}  # kind numbers; no cut after an unknown symbol is certain
        kinds = np.zeros((256, 256), np.uint8)

        def kind(b: int, certain: int, possible: StateArray, otherwise: int = 0) -> int:
            by_two = self.pairs.reshape(256, 256)[:n, b] == SURE
            found = np.where(by_two, SURE_BY_TWO, self._status(certain, possible))
            row = found.astype(np.uint8).tobytes()
            return otherwise if len(numbers) == 256 else numbers.setdefault(row, len(numbers))

        for b in range(n):
            kinds[b] = kind(b, left[EVERYWHERE, b], left[:, b])
        for a, b in product(range(n + 1), range(n)):
            further = np.append(left[:, a], BEGIN)  # an anchor may stand between a and b
            kinds[b, a] = kind(b, left[left[EVERYWHERE, a], b], left[further, b], kinds[b, a])
        status = np.zeros((256, 256), np.uint8)
        for row, number in numbers.items():
            status[:n, number] = np.frombuffer(row, np.uint8)
        return kinds.ravel(), status.ravel()

    def _status(self, certain: int, possible: StateArray) -> npt.NDArray[np.uint8]:
        """The status of the cut before each symbol, uint8, (size,).

        The left set at the cut is a subset of the set `certain`, and is one of the sets `possible`.
        """
        cut = self.tables.cut[:, : self.size]
        may = self.possible[cut[np.unique(possible)]].any(axis=0)
        sure = self.tables.certain[cut[certain]]
        return np.where(sure, SURE, np.where(may, OPEN, NEVER)).astype(np.uint8)

    def pair(self, left: str, right: str) -> int:
        """The status of the cut between two characters: `NEVER`, `OPEN` or `SURE`."""
        symbol_of = self.symbol_bytes
        return self.pair_bytes[symbol_of[ord(left)] + 256 * symbol_of[ord(right)]]

    def each_symbol(self, text: str) -> Iterator[int]:
        """As `symbols`, one character at a time: faster for a short text."""
        return map(self.symbol_bytes.__getitem__, map(ord, text))

    @cached_property
    def pair_bytes(self) -> bytes:
        """`pairs` as bytes: faster for single lookups."""
        return self.pairs.tobytes()

    @cached_property
    def symbol_bytes(self) -> bytes:
        """`symbol_of` as bytes: faster for single lookups."""
        return self.symbol_of.tobytes()

    def parts_often(self, text: str) -> bool:
        """True if the text has short pre-tokens, for example a text of digits.

        In the middle of such a text, more than three of four pairs of neighbours may be cuts. This
        is not so in words. False for white space."""
        some = text[len(text) // 2 :][:_SOME]
        status = pair_status(self.symbols(some), self.pairs)
        return 4 * int(np.count_nonzero(status)) > 3 * len(status) and not some.isspace()

    def last_sure(self, text: str) -> int:
        """The last position in the text that two characters certify, or 0."""
        if len(text) > _FEW:
            sure = np.flatnonzero(pair_status(self.symbols(text), self.pairs) == SURE)
            return int(sure[-1]) + 1 if len(sure) else 0
        pairs, symbols = self.pair_bytes, [*self.each_symbol(text)]
        places = range(len(symbols) - 1, 0, -1)
        return next((p for p in places if pairs[symbols[p - 1] + 256 * symbols[p]] == SURE), 0)

    def left_set_after(self, left_set: int, text: str) -> int | None:
        """The left set after the text, read from `left_set`.

        None if the text is empty, has an unknown character, or takes too long to read."""
        if len(text) > _FEW:
            read = self.symbols(text)
            return None if self.size in read else behind_all(self, left_set, read)
        symbols = [*self.each_symbol(text)]
        if not symbols or self.size in symbols:
            return None
        for c in symbols:
            left_set = self.left_rows[left_set][c]
        return left_set

    def certifies(self, symbols_before: bytes, symbols_after: bytes) -> bool:
        """True if the symbols before and after a cut make the cut certain.

        A cache holds recent results: callers ask about a text more than once, and texts repeat."""
        known = self._certified_windows.get((symbols_before, symbols_after))
        if known is None:
            left_set, rows = EVERYWHERE, self.left_rows
            for c in symbols_before:
                left_set = rows[left_set][c]
            known = self.symbols_needed(left_set, symbols_after) > 0
            if len(self._certified_windows) >= _KEPT:
                self._certified_windows.clear()
            self._certified_windows[symbols_before, symbols_after] = known
        return known

    @cached_property
    def _certified_windows(self) -> dict[tuple[bytes, bytes], bool]:
        return {}

    def symbols_needed(self, left_set: int, symbols: Sequence[int]) -> int:
        """How many of the symbols after a cut are needed to make the cut certain.

        `left_set`: at the cut. 0: all the symbols together do not make it certain."""
        _, cut, right, certain = self._rows
        threats = cut[left_set][symbols[0]] if symbols else REFUTED
        for k in range(1, len(symbols) + 1):
            if certain[threats]:
                return k
            if threats == REFUTED or k == len(symbols):
                return 0
            threats = right[threats][symbols[k]]
        return 0

    @cached_property
    def possible(self) -> BoolArray:
        """True for each threat set that some text on the right makes certain; (threat sets,)."""
        found: BoolArray = self.tables.certain.copy()
        count = -1
        while count != (count := int(found.sum())):
            found |= np.any(found[self.tables.right], axis=1)
        return found

    @cached_property
    def left_rows(self) -> list[list[int]]:
        """`left` as lists: faster for one character at a time."""
        return self._rows[0]

    @cached_property
    def _rows(self) -> tuple[list[list[int]], list[list[int]], list[list[int]], list[bool]]:
        tables = self.tables
        left, cut, right = (each.tolist() for each in (tables.left, tables.cut, tables.right))
        return left, cut, right, tables.certain.tolist()


@lru_cache(maxsize=32)
def window_finder(windows: DecidedWindows) -> WindowFinder:
    """The `WindowFinder` for computed windows, cached: tokenizers of one family share it."""
    tables = windows.tables

    def widen(table: StateArray, unknown: int) -> StateArray:
        return np.pad(table, ((0, 0), (0, 1)), constant_values=unknown)

    tables = WindowTables(
        widen(tables.left, EVERYWHERE),
        widen(tables.cut, REFUTED),
        widen(tables.right, REFUTED),
        tables.certain,
    )
    return WindowFinder(windows.symbol_of, windows.size, tables)


def pair_cuts(engine: str, patterns: tuple[str, ...]) -> Callable[[str], list[int]] | None:
    """A function that returns all positions in a text that a pair of characters certifies.

    The positions are code points, ascending, and hold in every surrounding text. None if the
    patterns belong to no known family."""
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


def pair_status(symbols: SymbolArray, statuses: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The status of each pair of neighbours, uint8, (n - 1,).

    `statuses` has the layout of `WindowFinder.pairs`."""
    if len(symbols) < 2:
        return np.zeros(0, np.uint8)
    read = np.ascontiguousarray(symbols)
    # Two neighbours are one little-endian number; the second one is the higher byte.
    pairs = np.ndarray((len(read) - 1,), "<u2", read.data, 0, (1,))
    found: SymbolArray = statuses.take(pairs, mode="clip")
    return found


def behind_window(
    finder: WindowFinder, symbols: SymbolArray, places: IntArray, left: int
) -> StateArray:
    """The left set at each position, int32, read over up to `left` characters.

    The reading begins with the left set `EVERYWHERE`."""
    left_sets = np.full(len(places), EVERYWHERE, np.int32)
    for k in range(left, 0, -1):
        inside = places >= k
        moved = finder.tables.left[left_sets, symbols[places - k * inside]]
        left_sets = np.where(inside, moved, left_sets)
    return left_sets


def settle(
    finder: WindowFinder, symbols: SymbolArray, places: IntArray, left_sets: StateArray, right: int
) -> BoolArray:
    """True for each position where the cut is certain, (positions,).

    `left_sets`: at each position. Up to `right` characters after a position are read."""
    tables = finder.tables
    certain = np.zeros(len(places), np.bool_)
    rest = np.arange(len(places))
    threats = tables.cut[left_sets, symbols[places]]
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


def behind_each(finder: WindowFinder, left_set: int, symbols: SymbolArray) -> StateArray:
    """The left set after each symbol, int32, read from `left_set`."""
    states: list[int] = []
    for symbol, size in _runs(symbols, _starts(symbols)):
        orbit, again = _orbit(finder, left_set, symbol, size)
        cycle = orbit[again:]
        orbit += (cycle * (size // len(cycle)))[: size - len(orbit)]
        states += orbit
        left_set = orbit[-1]
    return np.array(states, np.int32)


def behind_all(finder: WindowFinder, left_set: int, symbols: SymbolArray) -> int | None:
    """The left set after the last symbol, read from `left_set`; None if it takes too long."""
    starts = _starts(symbols)
    if len(starts) > _MOST_RUNS:
        return None
    for symbol, size in _runs(symbols, starts):
        orbit, again = _orbit(finder, left_set, symbol, size)
        if size > len(orbit):
            again += (size - len(orbit) - 1) % (len(orbit) - again)
        left_set = orbit[again] if size > len(orbit) else orbit[-1]
    return left_set


def _starts(symbols: SymbolArray) -> IntArray:
    """Where runs of one symbol begin: [4, 4, 7] -> [0, 2]."""
    return np.concatenate(([0], np.flatnonzero(np.diff(symbols)) + 1))[: len(symbols)]


def _runs(symbols: SymbolArray, starts: IntArray) -> Iterator[tuple[int, int]]:
    """The symbol and the size of each run: [4, 4, 7] -> (4, 2), (7, 1)."""
    sizes = np.diff(starts, append=len(symbols))
    return zip(symbols[starts].tolist(), sizes.tolist(), strict=True)


def _orbit(finder: WindowFinder, left_set: int, symbol: int, size: int) -> tuple[list[int], int]:
    """The left sets along a run of one symbol until they repeat, and the index where the repetition
    begins."""
    rows, orbit = finder.left_rows, list[int]()
    while len(orbit) < size:
        left_set = rows[left_set][symbol]
        if left_set in orbit:
            return orbit, orbit.index(left_set)
        orbit.append(left_set)
    return orbit, 0
