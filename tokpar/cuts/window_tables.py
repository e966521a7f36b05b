"""Read the pairs of characters of a text that certify a cut, with arrays (theorems 40 to 43)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import recognise
from tokpar.patterns.stored_windows import DecidedWindows, stored_windows

IntArray = npt.NDArray[np.int64]
SymbolArray = npt.NDArray[np.uint8]

NEVER, OPEN, SURE = range(3)
"""The status of a cut. `NEVER`: no pair certifies the cut. `OPEN`: something else must decide.
`SURE`: the two characters certify the cut."""
_SOME = 512


@dataclass(frozen=True, eq=False)
class WindowFinder:
    """Reads the pairs of one sequence of Splits. Build it with `window_finder`.

    `symbol_of` (0x110000,) uint8. `size` is the symbol of all unknown code points. `pairs`
    (65536,) uint8: the status of the cut between two symbols, `NEVER` or `SURE`; the index is the
    first symbol plus 256 times the second. No cut next to an unknown code point is certified."""

    symbol_of: SymbolArray
    size: int
    pairs: SymbolArray

    def symbols(self, text: str) -> SymbolArray:
        """The symbol of each character of the text, uint8, (characters,)."""
        if text.isascii():
            return np.frombuffer(text.encode("ascii").translate(self._ascii), np.uint8)
        # twice as fast as symbol_of[...]
        found: SymbolArray = self.symbol_of.take(code_points(text), mode="clip")
        return found

    @cached_property
    def _ascii(self) -> bytes:
        return self.symbol_of[:256].tobytes()

    def is_sure(self, left: str, right: str) -> bool:
        """True if these two characters certify the cut between them."""
        symbol_of = self.symbol_bytes
        return self.pair_bytes[symbol_of[ord(left)] + 256 * symbol_of[ord(right)]] == SURE

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

        In the middle of such a text, more than three of four pairs of neighbours are cuts or end
        with a digit: patterns split digits by ones or by threes. This is not so in words."""
        some = text[len(text) // 2 :][:_SOME]
        sure = pair_status(self.symbols(some), self.pairs) == SURE
        digits = np.fromiter(map(str.isnumeric, some), np.bool_, len(some))
        return 4 * int(np.count_nonzero(sure | digits[1:])) > 3 * len(sure)


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of the text, uint32, (characters,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


@lru_cache(maxsize=32)
def window_finder(windows: DecidedWindows) -> WindowFinder:
    """The `WindowFinder` for computed windows, cached: tokenizers of one family share it."""
    pairs, n = np.full((256, 256), NEVER, np.uint8), windows.size
    pairs[:n, :n][windows.pairs.T] = SURE
    return WindowFinder(windows.symbol_of, n, pairs.ravel())


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
