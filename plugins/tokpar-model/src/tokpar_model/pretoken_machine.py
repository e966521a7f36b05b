"""The automaton of one pattern, as tables for many attempts at once (theorem 51, corollary 1).

It is the machine of theorem 40, closed over all symbols: no proof names its states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.pattern_machine import State, plain, read_tree, step
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError, require_kept
from tokpar_model.class_members import Partition, partition

HIT, DEAD, AGAIN = 1, 2, 4
_BLOCK = 1 << 20
_MOST_STATES = 2000


@dataclass(frozen=True, eq=False)
class PretokenMachine:
    """The moves of one pattern.

    `moves[x + c]` is, for symbol c in state x, the next state times 8, plus `HIT` if a match ends
    before c, plus `DEAD` if no match can end later. With `AGAIN` the next state is that of a new
    attempt which begins with c. States are multiples of `size` + 1; 0 is the start. c = `size`: the
    end of the text. `idle`: the symbols before which an attempt fails at once, if such a symbol
    also ends every other attempt like the end of the text; else no symbol. `gapless`: the symbols
    at which an attempt always matches, whatever follows."""

    pattern: str
    symbols: Partition
    moves: NDArray[np.int64]
    idle: NDArray[np.bool_]
    gapless: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """The number of symbols, and the symbol of the end of the text."""
        return self.symbols.size

    def symbols_in(self, text: str) -> NDArray[np.uint8]:
        """Returns the symbol of each character; `size` for one without a certain class."""
        table, found = self.symbols.symbol_of, np.empty(len(text), dtype=np.uint8)
        for k in range(0, len(text), _BLOCK):
            block = text[k : k + _BLOCK].encode("utf-32-le")
            found[k : k + _BLOCK] = table[np.frombuffer(block, "<u4")]
        return found

    def leaves_gaps(self, symbols: NDArray[np.uint8]) -> bool:
        """True if the matches may leave out some of a text of these symbols."""
        present = np.bincount(symbols, minlength=self.size)[: self.size]
        return bool(present[~self.gapless].any())


@lru_cache(maxsize=32)
def machine_of(pattern: str, engine: str) -> PretokenMachine:
    """Returns the machine of a pattern as `engine` reads it. Refused outside the gate."""
    try:
        reader = PatternReader(pattern, engine)
        if engine == "oniguruma" and reader.has_stacked:  # counted groups there (theorem 32)
            raise RefusedProofError("}+ or }? of Oniguruma")
        symbols = partition(tuple(reader.sources))
        spelled = reader.tree(symbols.classes.__getitem__, symbols.size)
        if engine == "fancy-regex":
            require_kept(spelled)
        states, hits = _reach_states((plain((read_tree(spelled, symbols.size, 0),)),), symbols.size)
    except (RefusedProofError, RecursionError) as error:
        raise RefusedError("pattern", f"pattern {pattern[:200]!r}: {error}") from error
    return _tables(pattern, symbols, states, hits)


def _reach_states(start: State, size: int) -> tuple[list[list[int]], list[list[bool]]]:
    """Returns the next states and the hits of all states that the start reaches."""
    numbers = {start: 0}
    todo, states, hits = [start], [], []
    while todo:
        state = todo.pop(0)
        found = [step(state, c) for c in range(size + 1)]
        for new, _ in found[:size]:
            if new not in numbers:
                numbers[new] = len(numbers)
                todo.append(new)
        require(len(numbers) <= _MOST_STATES, "pattern", "the pattern has too many states")
        states.append([numbers[new] for new, _ in found[:size]])
        hits.append([hit for _, hit in found])
    require(not any(hits[0]), "pattern", "the pattern matches the empty text")
    return states, hits


def _tables(
    pattern: str, symbols: Partition, states: list[list[int]], hits: list[list[bool]]
) -> PretokenMachine:
    hit, to = np.array(hits, dtype=np.bool_), np.array(states, dtype=np.int64)
    alive = np.asarray(hit.any(axis=1))
    while True:
        more = np.asarray(alive | alive[to].any(axis=1))
        if np.array_equal(more, alive):
            break
        alive = more
    dead = np.append(~alive[to], np.ones((len(to), 1), dtype=np.bool_), axis=1)
    again = hit & dead & ~dead[0]
    following = np.append(to, np.zeros((len(to), 1), dtype=np.int64), axis=1) * (symbols.size + 1)
    following = np.where(again, following[0], np.where(dead, 0, following))
    moves = following * 8 + hit * HIT + dead * DEAD + again * AGAIN
    idle = dead[0, :-1]
    ends = dead[:, :-1][:, idle].all() and (hit[:, :-1][:, idle] == hit[:, -1:]).all()
    idle = np.append(idle & bool(ends), False)
    sure = np.array(hit[:, -1])
    while True:
        fewer: NDArray[np.bool_] = sure & (hit[:, :-1] | sure[to]).all(axis=1)
        if np.array_equal(fewer, sure):
            break
        sure = fewer
    return PretokenMachine(pattern, symbols, moves.reshape(-1), idle, sure[to[0]])
