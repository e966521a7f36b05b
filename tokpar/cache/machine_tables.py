"""The machine of a row of Splits as arrays: what finds the pre-tokens of a segment (theorem 51)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.patterns.automaton import Automaton
from tokpar.patterns.decided_pattern import checked_machines, covers
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.types import Facts

HIT, DEAD = 1 << 31, 1 << 30  # as in `_pretokens`


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """See `_pretokens`. `symbol_of`: uint8, for each code point; `symbols` for those that a
    normalizer may change: nothing is known of a segment with one of them."""

    symbol_of: NDArray[np.uint8]
    symbols: int
    moves: NDArray[np.uint32]
    begins: NDArray[np.int64]
    idle: NDArray[np.uint8]

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.symbol_of, self.symbols, self.moves, self.begins, self.idle


def machine_for(facts: Facts) -> Machine | str:
    """Returns the machine of these facts, or why there is none. The facts keep the machine."""
    return facts.derive(_machine)


def _machine(facts: Facts) -> Machine | str:
    if facts.scheme != "regex" or not facts.byte_level or facts.prefix_space:
        return "its pre-tokenizer is no row of Splits before bytes"
    guard = inert_for(facts)
    if guard.refusal is not None:
        return guard.refusal
    try:
        alphabet, stages = checked_machines(facts)
    except UnsupportedPatternError as error:
        return str(error)
    if facts.engine == "fancy-regex" and not all(map(covers, stages)):
        return "tiktoken drops what its pattern does not match"
    symbol_of = alphabet.symbol_of
    if guard.chars is not None:
        symbol_of = np.where(guard.chars.has, symbol_of, np.uint8(alphabet.size))
    return build_machine(symbol_of, alphabet.size, stages)


def build_machine(
    symbol_of: NDArray[np.uint8], size: int, stages: tuple[Automaton, ...]
) -> Machine:
    """Returns the machine of the automata `stages`, which share the symbols below `size`."""
    width, begins, tables, idle = size + 1, [0], [], []
    for stage in stages:
        target = np.zeros((len(stage.target), width), dtype=np.uint32)
        target[:, :size] = begins[-1] + np.array(stage.target, dtype=np.uint32) * width
        dead = ~np.array(stage.live)[np.array(stage.target)]
        target[:, :size] += DEAD * dead.astype(np.uint32)
        target += HIT * np.array(stage.hit).astype(np.uint32)
        tables.append(target.ravel())
        unused = np.zeros(256, dtype=np.uint8)
        unused[:128] = np.append(dead[0], False)[symbol_of[:128]]
        idle.append(unused)
        begins.append(begins[-1] + target.size)
    return Machine(
        np.ascontiguousarray(symbol_of),
        size,
        np.concatenate(tables),
        np.array(begins[:-1], dtype=np.int64),
        np.concatenate(idle),
    )
