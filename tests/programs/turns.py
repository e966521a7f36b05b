"""One row of the table: a program with its own tokenizer and with tokpar's, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """What one call of a program took, in seconds of processor time for all texts.

    `new_own`, `new_ours`: each text for the first time; `seen_own`, `seen_ours`: again, the least
    of `ROUNDS`.
    `difference`: empty if the program returned the same for all texts, otherwise a text and what it
    got."""

    call: str
    texts: int
    characters: int
    new_own: float
    new_ours: float
    seen_own: float
    seen_ours: float
    difference: str

    @property
    def new(self) -> float:
        """Returns how many times as fast new texts are with tokpar."""
        return self.new_own / self.new_ours

    @property
    def seen(self) -> float:
        """Returns how many times as fast seen texts are with tokpar."""
        return self.seen_own / self.seen_ours


def compare(
    call: str,
    own: Callable[[Any], Any],
    ours: Callable[[Any], Any],
    texts: Sequence[Any],
) -> Row:
    """Returns the row of a call: `own` and `ours` get the same `texts` in turn.

    Both get the first text before, so that no import and no table is counted. What they return is
    compared by `==`."""
    first, *texts = texts
    for run in (own, ours):
        run(first)
    difference = ""
    spent = [0.0, 0.0]
    for k, text in enumerate(texts):
        answers: list[Any] = [None, None]
        for side in (0, 1) if k % 2 else (1, 0):
            answers[side], seconds = _timed((own, ours)[side], text)
            spent[side] += seconds
        if answers[0] != answers[1] and not difference:
            difference = f"{str(text)[:60]!r}: {str(answers[0])[:200]} != {str(answers[1])[:200]}"
    again = [[0.0, 0.0] for _ in range(ROUNDS)]
    for totals in again:
        for text in texts:
            for side, run in enumerate((own, ours)):
                totals[side] += _timed(run, text)[1]
    least = [min(totals[side] for totals in again) for side in (0, 1)]
    characters = sum(map(_characters, texts))
    return Row(call, len(texts), characters, *spent, *least, difference)


def _timed(run: Callable[[Any], Any], text: Any) -> tuple[Any, float]:
    start = time.process_time()
    answer = run(text)
    return answer, max(time.process_time() - start, 1e-7)


def _characters(text: Any) -> int:
    return len(text) if isinstance(text, str) else sum(map(_characters, text))
