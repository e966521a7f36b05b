"""The machine of a row of Splits as arrays: what finds the pre-tokens of a segment (theorem 51)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.decided_pattern import checked_machines, covers
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.types import Facts

HIT, DEAD = 1 << 31, 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """The machines of all Splits as one array (definition 39, theorem 51).

    A state is the index of its first number in `moves`, which has `symbols + 1` numbers for each
    state: one for each symbol, and one for the end of the text. A number has the next state in bits
    0 to 29, DEAD: no match can end after this symbol, and HIT: a match ends before this symbol.
    `begins`: the first state of each Split. `symbol_of`: uint8, the symbol of each code point."""

    symbol_of: NDArray[np.uint8]
    symbols: int
    moves: NDArray[np.uint32]
    begins: NDArray[np.int64]


def machine_of_all(facts: Facts) -> Machine | str:
    """Returns the machine with the symbols of all code points, as the pre-tokenizer gets them from
    the normalizer; or why there is none."""
    if facts.prefix_space:
        return "its pre-tokenizer ByteLevel puts a space before each text"
    if facts.scheme != "regex" or not facts.byte_level or facts.pre_tokenizers:
        return "its pre-tokenizer is not a row of Splits with ByteLevel at its end"
    try:
        alphabet, stages = checked_machines(facts)
    except UnsupportedPatternError as error:
        return f"its pattern is none that tokpar compiles: {error}"
    if facts.engine == "fancy-regex" and not all(map(covers, stages)):
        return "its pattern leaves out a part of some text, which tiktoken then drops"
    return build_machine(alphabet.symbol_of, alphabet.size, stages)


def build_machine(
    symbol_of: NDArray[np.uint8], size: int, stages: tuple[Automaton, ...]
) -> Machine:
    """Returns the machine of the automata `stages`, which share the symbols below `size`."""
    width, begins, tables = size + 1, [0], []
    for stage in stages:
        target = np.zeros((len(stage.target), width), dtype=np.uint32)
        target[:, :size] = begins[-1] + np.array(stage.target, dtype=np.uint32) * width
        dead = ~np.array(stage.live)[np.array(stage.target)]
        target[:, :size] += DEAD * dead.astype(np.uint32)
        target += HIT * np.array(stage.hit).astype(np.uint32)
        tables.append(target.ravel())
        begins.append(begins[-1] + target.size)
    return Machine(
        np.ascontiguousarray(symbol_of),
        size,
        np.concatenate(tables),
        np.array(begins[:-1], dtype=np.int64),
    )
