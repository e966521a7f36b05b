"""Decide whether two patterns have the same matches in every text, by the product of their
automata."""

from __future__ import annotations

from collections import deque

from tokpar.patterns.decided_pattern import checked_machines
from tokpar.types import Facts

_State = tuple[int, int, bool]
"""A state of each automaton, and True if the last match so far ends at another place in one of
them than in the other."""


def different_text(pattern_a: str, pattern_b: str, engine: str) -> str | None:
    """Returns a shortest text at whose start the patterns match differently, or None if there is
    no such text.

    A pattern that an automaton decides looks at nothing to the left of a match. So if there is no
    such text, the matches are the same at every place of every text. Raises
    UnsupportedPatternError."""
    facts = Facts(engine=engine, model="BPE", patterns=(pattern_a, pattern_b))
    symbols, (a, b) = checked_machines(facts)
    size = symbols.size
    words: dict[_State, tuple[int, ...]] = {(0, 0, False): ()}
    queue = deque(words)
    while queue:
        state = queue.popleft()
        x, y, differ = state
        for c in range(size + 1):  # the last one is the end of the text
            hits = a.hit[x][c], b.hit[y][c]
            after = hits[0] != hits[1] or (differ and not all(hits))
            if c == size:
                if after:
                    return "".join(symbols.examples[symbol] for symbol in words[state])
                continue
            moved = a.target[x][c], b.target[y][c], after
            if moved not in words:
                words[moved] = (*words[state], c)
                queue.append(moved)
    return None
