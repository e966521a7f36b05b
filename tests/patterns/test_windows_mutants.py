"""Mistakes that one could make in deciding windows; the brute force sees each of them."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tests.support.second_threats import SecondDecision
from tests.support.windows_brute import Brute
from tests.support.windows_drawn import check_certified, check_witnesses, decided
from tokpar.patterns import automaton
from tokpar.patterns.splits import SplitStage
from tokpar.patterns.time_budget import Budget
from tokpar.regexes import pair_rows

ROW = (r"\S{1,2}", r"a+|[\s\S]")


@dataclass(frozen=True)
class Mistake:
    """`instead` stands where `right` stood in a method; a row of patterns shows it."""

    owner: type
    method: str
    right: str
    instead: str
    patterns: tuple[str, ...]
    atoms: str = "aA 1"
    longest: int = 5


ROWS = pair_rows.RowPairs
MISTAKES: dict[str, Mistake] = {
    "END test": Mistake(
        ROWS, "first", "if edge != stage.hit[x][self.size]:", "if False:",
        (r"\s+(?!\S)|[\s\S]",),
    ),
    "longer match": Mistake(
        ROWS, "first", "if y in stage.dead else found | {", "if True else found | {",
        (r"a 1|[\s\S]",),
    ),
    "inner start": Mistake(
        ROWS, "_moves", "for first in range(len(lineages) + 1)", "for first in (len(lineages),)",
        (r"a*11|\s+(?!\S)a{1,2}|[\s\S]", r"(?!\S) \s+|(?!1)A|[\s\S]"),
    ),
    "gap": Mistake(
        ROWS, "_unmatched_threats", "if y in self.stages[i].sure else", "if True else",
        (r"a1|A",),
    ),
    "clean": Mistake(
        ROWS, "_unclean", "if good and (x == y or settled):", "if True:",
        ROW,
    ),
    "END of a stage": Mistake(
        ROWS, "_may_end", "if not outer_pieces:", "if True:",
        (r"1+a+|A+(?!a)", r"A\S"),
    ),
    "possessive": Mistake(
        automaton._Program, "repeat", 'if mode == "possessive":', "if False:",
        (r"a++A?a|[\s\S]",),
    ),
    "lazy": Mistake(
        automaton._Program, "fork", 'if mode == "lazy"', "if False",
        (r"a+?|[\s\S]",),
    ),
    "start": Mistake(
        ROWS, "__init__", "reachable_items(BEGIN, self.moves, self.size)",
        "reachable_items(BEGIN, self.moves, self.size) - {BEGIN}",
        (r"aAa*|[^a]a*|a+",),
    ),
    "obligations forgotten": Mistake(
        ROWS, "_begin_stages", "if x not in self.stages[i].dead}", "if False}",
        (r"\s+a{1,2}(?=A)|[^1](?=A)", r" |1(?!a)|A+1"),
    ),
    "obligations kept too long": Mistake(
        ROWS, "holds_at_end", "self.stages[i].hit[x][self.size]", "True",
        (r"A+", r"a+a{1,2}"),
    ),
}  # fmt: skip


def check(mistake: Mistake) -> None:
    splits = [SplitStage(pattern, "regex") for pattern in mistake.patterns]
    windows = decided(splits, mistake.atoms)
    brute = Brute(splits, mistake.atoms, mistake.longest)
    check_certified(windows, brute)
    second = SecondDecision(windows.stages, Budget(60))
    for c, d in product(range(windows.alphabet.size), repeat=2):
        assert windows.pairs[c, d] == second.holds((c,), (d,))
    if len(splits) == 1 and mistake.patterns[0].endswith(r"[\s\S]"):
        check_witnesses(windows, brute)


def mistaken(mistake: Mistake) -> Callable[..., Any]:
    """The method with the mistake in it."""
    source = textwrap.dedent(inspect.getsource(getattr(mistake.owner, mistake.method)))
    assert source.count(mistake.right) == 1
    scope = dict(vars(sys.modules[mistake.owner.__module__]))
    exec(source.replace(mistake.right, mistake.instead), scope)
    method: Callable[..., Any] = scope[mistake.method]
    return method


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake = MISTAKES[name]
    check(mistake)
    monkeypatch.setattr(mistake.owner, mistake.method, mistaken(mistake))
    with pytest.raises(AssertionError):
        check(mistake)
