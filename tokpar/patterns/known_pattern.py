"""What is known of the patterns of a pre-tokenizer: one value, decided once (theorems 20, 40, 42).

BERT's pre-tokenizer and Metaspace look at two characters alone, so their value is of the same kind
(theorem 4.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import WHITESPACE, load_atoms, read_table
from tokpar.process.cached_property import cached_property
from tokpar.types import Seam, Theorem

CODE_POINTS = 0x110000

SymbolArray = npt.NDArray[np.uint8]
PairArray = npt.NDArray[np.bool_]
NEVER, SURE = range(2)
"""The status of a cut. `NEVER`: no pair certifies the cut. `SURE`: the two characters do."""
_SOME = 512


@dataclass(frozen=True, eq=False)
class PairTable:
    """Which two characters certify the cut between them, whatever stands around them.

    `symbol_of`: uint8, (0x110000,); `size` is the symbol of all unknown code points. `statuses`:
    uint8, (65536,): `SURE` or `NEVER`; the index is the first symbol plus 256 times the second."""

    symbol_of: SymbolArray
    size: int
    statuses: SymbolArray

    @classmethod
    def of(cls, symbol_of: SymbolArray, size: int, pairs: PairArray, spaces: bool) -> PairTable:
        """The table of certified `pairs` (size, size). `spaces`: a space is certified after an
        unknown code point, too, which is no white space."""
        statuses = np.full((256, 256), NEVER, np.uint8)
        statuses[:size, :size][pairs.T] = SURE
        if spaces:
            statuses[symbol_of[ord(" ")], size] = SURE
        return cls(symbol_of, size, statuses.ravel())

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
        symbol_of = self._symbol_bytes
        return self.status_bytes[symbol_of[ord(left)] + 256 * symbol_of[ord(right)]] == SURE

    def each_symbol(self, text: str) -> Iterator[int]:
        """As `symbols`, one character at a time: faster for a short text."""
        return map(self._symbol_bytes.__getitem__, map(ord, text))

    @cached_property
    def status_bytes(self) -> bytes:
        """`statuses` as bytes: faster for single lookups."""
        return self.statuses.tobytes()

    @cached_property
    def _symbol_bytes(self) -> bytes:
        return self.symbol_of.tobytes()

    def status(self, symbols: SymbolArray) -> SymbolArray:
        """The status of each pair of neighbours, uint8, (n - 1,)."""
        if len(symbols) < 2:
            return np.zeros(0, np.uint8)
        read = np.ascontiguousarray(symbols)
        # Two neighbours are one little-endian number; the second one is the higher byte.
        pairs = np.ndarray((len(read) - 1,), "<u2", read.data, 0, (1,))
        found: SymbolArray = self.statuses.take(pairs, mode="clip")
        return found

    def sure_places(self, text: str) -> npt.NDArray[np.int64]:
        """The places in the text between two characters that certify the cut, int64, ascending."""
        return np.flatnonzero(self.status(self.symbols(text)) == SURE) + 1

    def parts_often(self, text: str) -> bool:
        """True if the text has short pre-tokens, for example a text of digits.

        In the middle of such a text, more than three of four pairs of neighbours are cuts or end
        with a digit: patterns split digits by ones or by threes. This is not so in words."""
        some = text[len(text) // 2 :][:_SOME]
        sure = self.status(self.symbols(some)) == SURE
        digits = np.fromiter(map(str.isnumeric, some), np.bool_, len(some))
        return 4 * int(np.count_nonzero(sure | digits[1:])) > 3 * len(sure)


@dataclass(frozen=True, eq=False)
class KnownPattern:
    """What is known of a row of patterns as an engine runs them, or of a pre-tokenizer that looks
    at two characters alone.

    `proof`: where a checker finds why: ("pattern", the name of a shipped value), or ("proof", the
    sha256 in hex of a proof in `Facts.proofs`). `theorem`: proves the pairs. `spaces`: the theorem
    that proves the cut before an ASCII space after each character that is not white space, unknown
    code points included; None without one. `covers`: the matches leave no gap in any text."""

    proof: tuple[str, str]
    theorem: Theorem
    spaces: Theorem | None
    covers: bool
    load_table: Callable[[], PairTable]

    @cached_property
    def table(self) -> PairTable:
        """The certified pairs."""
        return self.load_table()

    def space_seam(self, p: int) -> Seam | None:
        """The seam that licenses the cut before an ASCII space at `p` after a character that is not
        white space, or None."""
        if self.spaces is None:
            return None
        left = "any" if self.spaces == Theorem.LOCAL_PAIR else "non-space"
        return Seam.licensed_by(self.spaces, p, (self.proof, ("left", left), ("right", "space")))


@lru_cache(maxsize=64)
def shipped_pattern(engine: str, patterns: tuple[str, ...]) -> KnownPattern | None:
    """The shipped value of these patterns, one per Split stage, as `engine` runs them, or None.

    It is decided for the frozen code points."""
    source = {"engine": engine, "patterns": [*patterns]}
    for name, entry in read_table("patterns.json")["patterns"].items():
        if source in entry["sources"]:
            theorem = Theorem.PAIR if len(patterns) == 1 else Theorem.PAIR_OF_SPLITS
            spaces = Theorem.SPACE_AFTER_NONSPACE if entry["space_after_nonspace"] else None
            load = partial(_shipped_table, name, source, spaces is not None)
            return KnownPattern(("pattern", name), theorem, spaces, entry["covers"], load)
    return None


def _shipped_table(name: str, source: Mapping[str, object], spaces: bool) -> PairTable:
    entries = read_table(f"patterns/{name}.json")["tables"]
    entry = next(entry for entry in entries if source in entry["sources"])
    symbol_of = _symbols_of_atoms(entry["symbols"], entry["size"])
    for char, symbol in entry["apart"].items():
        symbol_of[ord(char)] = symbol
    return PairTable.of(symbol_of, entry["size"], np.array(entry["pairs"], np.bool_), spaces)


@lru_cache(maxsize=2)
def pattern_of_classes(name: str) -> KnownPattern:
    """What is known of "bert" or "metaspace", which look at two characters alone."""
    entry = read_table("classes.json")["classes"][name]

    def load() -> PairTable:
        # The space has a symbol of its own: it alone is certified after unknown code points.
        names = [*entry["classes"], next(k for k, v in entry["classes"].items() if "space" in v)]
        symbols = {atom: k for k, atoms in enumerate(entry["classes"].values()) for atom in atoms}
        sure = [[[left, right] in entry["pairs"] for right in names] for left in names]
        symbol_of = _symbols_of_atoms(symbols, len(names))
        symbol_of[ord(" ")] = len(names) - 1
        return PairTable.of(symbol_of, len(names), np.array(sure, np.bool_), True)

    return KnownPattern(("pattern", name), Theorem.LOCAL_PAIR, Theorem.LOCAL_PAIR, False, load)


def _symbols_of_atoms(symbols: Mapping[str, Any], size: int) -> SymbolArray:
    symbol_of = np.full(CODE_POINTS, size, np.uint8)
    for name, symbol in symbols.items():
        for low, high in load_atoms()[name]:
            symbol_of[low : high + 1] = symbol
    return symbol_of


def certifies_spaces(symbol_of: SymbolArray, size: int, pairs: PairArray) -> bool:
    """True if each symbol of a character that is not white space certifies the cut before an ASCII
    space."""
    others = np.ones(len(symbol_of), np.bool_)
    for low, high in WHITESPACE:
        others[low : high + 1] = False
    found = np.unique(symbol_of[others])
    return bool(pairs[found[found < size], symbol_of[ord(" ")]].all())


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of the text, uint32, (characters,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
