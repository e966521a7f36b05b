"""Check the proof of a pattern: which two characters certify the cut between them (theorems 40 to
43)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import NO_INTS, IntArray
from tokpar.certificate.check_context import CheckContext, RefusedError
from tokpar.certificate.class_check import POINTS, require_class
from tokpar.certificate.frozen_tables import SPACES, ShippedPattern, load_pairs, load_tables
from tokpar.certificate.pattern_machine import PairChecker, ProvedMachine
from tokpar.patterns.pair_rows import RowPairs
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError, require_kept
from tokpar.process.cached_property import cached_property

_MOST_SYMBOLS = 255
_BLOCK = 1 << 18
"""Characters whose pairs are looked up together."""
_SURROGATES = slice(0xD800, 0xE000)


class ProvedPattern:
    """The pairs of patterns, by a proof that holds for them; RefusedProofError for others.

    `stages`: the proof of each pattern. `symbol_of`: of each code point, (0x110000,); one that is
    none of the checker's symbols is in no pair. `classes`: the symbols of each class."""

    def __init__(
        self,
        readers: Sequence[PatternReader],
        stages: object,
        symbol_of: NDArray[np.uint8],
        classes: Mapping[str, list[int]],
    ) -> None:
        if not readers or not isinstance(stages, list) or len(stages) != len(readers):
            raise RefusedProofError("there is not one stage for each pattern")
        checker: PairChecker | RowPairs = (
            PairChecker(stages[0]) if len(stages) == 1 else RowPairs([*map(ProvedMachine, stages)])
        )
        self.size, self._refusal = checker.size, cache(checker.refusal)
        self._symbol_of = symbol_of
        for reader, stage in zip(readers, stages, strict=True):
            if not classes.keys() >= reader.sources.keys():
                raise RefusedProofError(f"nothing is said of one of {[*reader.sources]}")
            if reader.tree(classes.__getitem__, self.size) != stage["tree"]:
                raise RefusedProofError("its tree is not that of the pattern")
            if reader.engine == "fancy-regex":
                require_kept(stage["tree"])

    def refusal(self, left_char: str, right_char: str) -> str | None:
        """Why the cut between these two characters is not proved, or None."""
        left, right = (int(self._symbol_of[ord(char)]) for char in (left_char, right_char))
        return self._refusal(left, right)

    def cuts(self, text: str) -> IntArray:
        """Returns the places, code points, ascending, at which two characters prove a cut. The text
        has no lone surrogate."""
        found = [NO_INTS]
        for start in range(0, len(text), _BLOCK):
            codes = np.frombuffer(text[start : start + _BLOCK + 1].encode("utf-32-le"), "<u4")
            symbols = self._symbol_of[codes].astype(np.int64)
            pairs = symbols[:-1] * 256 + symbols[1:]
            sure = np.zeros(1 << 16, np.bool_)
            for pair in np.flatnonzero(np.bincount(pairs)).tolist():
                sure[pair] = self._refusal(*divmod(pair, 256)) is None
            found.append(np.flatnonzero(sure[pairs]) + start + 1)
        return np.concatenate(found)

    @cached_property
    def spaces(self) -> bool:
        """A cut before an ASCII space is proved behind any character other than white space."""
        others = np.ones(POINTS, np.bool_)
        others[[ord(char) for char in SPACES]] = False
        found = set(self._symbol_of[others].tolist()) - {self.size}
        space = int(self._symbol_of[ord(" ")])
        return all(self._refusal(c, space) is None for c in found)


def proved_pattern(
    ground: CheckContext, pattern: ShippedPattern | None, kind: str, value: str
) -> ProvedPattern:
    """Returns what is proved of the tokenizer's pattern: by the table of `pattern`, or by the proof
    of sha256 `value` that is stored beside the seams. Raises RefusedError."""
    facts = ground.facts
    if pattern is not None:
        found = proved_table(pattern.name, facts.engine, facts.patterns)
    else:
        written = ground.proofs.get(value) if kind == "proof" else None
        if written is None:
            raise RefusedError("proof", f"no proof of sha256 {value} is stored beside the seam")
        found = _handed_over(value, written, facts.engine, facts.patterns)
    if isinstance(found, str):
        raise RefusedError("proof", f"the proof of the pairs does not hold: {found}")
    return found


@lru_cache(maxsize=8)
def _handed_over(
    digest: str, proof: str, engine: str, patterns: tuple[str, ...]
) -> ProvedPattern | str:
    """Returns what a proof that is stored beside the seams proves, or why it proves nothing.
    The engine is asked about every code point."""
    if hashlib.sha256(proof.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        return "its sha256 is another"
    try:
        data = json.loads(proof)
        if not isinstance(data, dict):
            return "no proof of pairs"
        if [data.get("engine"), data.get("patterns")] != [engine, list(patterns)]:
            return "it is about other patterns, or another engine"
        readers = [PatternReader(pattern, engine) for pattern in patterns]
        size = _size(data)
        symbol_of, classes = _symbols(data, size), _classes(data, size)
        proved = ProvedPattern(readers, data.get("stages"), symbol_of, classes)
        for source in dict.fromkeys(source for reader in readers for source in reader.sources):
            holds = np.isin(symbol_of, classes[source])
            outside = np.flatnonzero((symbol_of < size) & ~holds)
            require_class(source, engine, np.flatnonzero(holds), outside)
    except RefusedProofError as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"no proof: {error}"
    return proved


@lru_cache(maxsize=8)
def proved_table(name: str, engine: str, patterns: tuple[str, ...]) -> ProvedPattern | str:
    """Returns what the table of a shipped pattern proves about the frozen code points, or why it
    proves nothing."""
    source = {"engine": engine, "patterns": list(patterns)}
    entry = next((e for e in load_pairs(name) if source in e["sources"]), None)
    if entry is None:
        return f"no pairs of {name!r} are stored for its patterns"
    symbol_of = np.full(POINTS, entry["size"], np.uint8)
    for low, high, atom in load_tables().ranges:
        symbol_of[low : high + 1] = entry["symbols"][atom]
    symbol_of[[*map(ord, entry["apart"])]] = [*entry["apart"].values()]
    proofs = entry["proofs"][entry["sources"].index(source)]
    try:
        readers = [PatternReader(pattern, engine) for pattern in patterns]
        trees = [reader.tree(entry["classes"].__getitem__, entry["size"]) for reader in readers]
        stages = [
            {**proof, "size": entry["size"], "tree": tree}
            for proof, tree in zip(proofs, trees, strict=True)
        ]
        return ProvedPattern(readers, stages, symbol_of, entry["classes"])
    except RefusedProofError as error:
        return str(error)


def _size(data: Mapping[str, object]) -> int:
    """Returns the number of symbols that the first stage names."""
    stages = data.get("stages")
    first = stages[0] if isinstance(stages, list) and stages else None
    size = first.get("size") if isinstance(first, dict) else None
    if type(size) is not int or not 0 < size <= _MOST_SYMBOLS:
        raise RefusedProofError("there is not one stage for each pattern")
    return size


def _symbols(data: Mapping[str, object], size: int) -> NDArray[np.uint8]:
    """Returns the symbol of each code point, `size` only for surrogates; (0x110000,)."""
    counts, symbols = _numbers(data.get("counts"), POINTS), _numbers(data.get("symbols"), size)
    if len(counts) != len(symbols) or sum(counts) != POINTS:
        raise RefusedProofError("not every code point has one symbol")
    found = np.repeat(np.array(symbols, np.uint8), counts)
    none = found == size
    if not none[_SURROGATES].all() or none.sum() != _SURROGATES.stop - _SURROGATES.start:
        raise RefusedProofError("a character has no symbol")
    return found


def _classes(data: Mapping[str, object], size: int) -> dict[str, list[int]]:
    found = data.get("classes")
    if not isinstance(found, dict):
        raise RefusedProofError("no classes")
    classes = {source: _numbers(symbols, size - 1) for source, symbols in found.items()}
    if any(x >= y for symbols in classes.values() for x, y in pairwise(symbols)):
        raise RefusedProofError("the symbols of a class do not ascend")
    return classes


def _numbers(data: object, most: int) -> list[int]:
    if isinstance(data, list) and len(data) <= POINTS:
        numbers = [number for number in data if type(number) is int and 0 <= number <= most]
        if len(numbers) == len(data):
            return numbers
    raise RefusedProofError("expected whole numbers")
