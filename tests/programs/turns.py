"""One row of the table: a program with its own tokenizer and with tokpar's, in turn."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROUNDS = 3
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Row:
    """What one call of a program took, in seconds for all texts: of processor time, unless
    `compare` got another clock.

    `new_own`, `new_ours`: each text for the first time; `seen_own`, `seen_ours`: again, the least
    of some rounds.
    `difference`: empty if the program returned the same for all texts, otherwise a text and what it
    got. `note`: what the row says beside it."""

    call: str
    texts: int
    characters: int
    new_own: float
    new_ours: float
    seen_own: float
    seen_ours: float
    difference: str
    note: str = ""

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
    clock: Callable[[], float] | None = None,
    rounds: int = ROUNDS,
) -> Row:
    """Returns the row of a call: `own` and `ours` get the same `texts` in turn.

    `clock` returns seconds, by default those of `processor_time`. Seen texts are timed `rounds`
    times; with 0 the row has the seconds of new texts twice. Both get the first text before, so
    that no import and no table is counted. What they return is compared by `==`."""
    first, *texts = texts
    clock = clock or processor_time
    for run in (own, ours):
        run(first)
    difference = ""
    spent = [0.0, 0.0]
    for k, text in enumerate(texts):
        answers: list[Any] = [None, None]
        for side in (0, 1) if k % 2 else (1, 0):
            answers[side], seconds = _timed((own, ours)[side], text, clock)
            spent[side] += seconds
        if answers[0] != answers[1] and not difference:
            difference = f"{str(text)[:60]!r}: {str(answers[0])[:200]} != {str(answers[1])[:200]}"
    again = [[0.0, 0.0] for _ in range(rounds)]
    for totals in again:
        for text in texts:
            for side, run in enumerate((own, ours)):
                totals[side] += _timed(run, text, clock)[1]
    least = [min(totals[side] for totals in again or [spent]) for side in (0, 1)]
    characters = sum(map(_characters, texts))
    return Row(call, len(texts), characters, *spent, *least, difference)


def processor_time() -> float:
    """Returns the seconds of this process, and of the processes that it started and that have
    ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def processor_time_of_tree() -> float:
    """Returns the seconds of this process and of all below it, those that still run, too, in steps
    of the system's tick (10 ms). Linux only."""
    processes = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        processes[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    here = {os.getpid()}
    while more := {each for each, (parent, _) in processes.items() if parent in here} - here:
        here |= more
    return sum(processes[each][1] for each in here) / TICKS


def _timed(run: Callable[[Any], Any], text: Any, clock: Callable[[], float]) -> tuple[Any, float]:
    start = clock()
    answer = run(text)
    return answer, max(clock() - start, 1e-7)


def _characters(text: Any) -> int:
    if isinstance(text, dict):
        text = [*text.values()]
    if isinstance(text, (list, tuple)):
        return sum(map(_characters, text))
    if isinstance(text, bytes):
        return len(text.decode("utf-8", "ignore"))
    return len(text) if isinstance(text, str) else 0
