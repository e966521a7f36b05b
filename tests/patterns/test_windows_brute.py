"""Windows against the engines: all texts over a few characters, real and drawn patterns."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import cases, drawn, is_quick
from tests.support.windows_brute import Brute, edges_of
from tests.support.windows_drawn import (
    ATOMS,
    CASES,
    ENGINES,
    IN_QUICK,
    REAL,
    RELAXED,
    check_certified,
    check_witnesses,
    decided,
    rows,
    split,
    windows_or_none,
)
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage


@pytest.mark.parametrize(("name", "engine"), cases(CASES, IN_QUICK))
def test_windows_of_real_patterns_are_exactly_the_safe_ones(name: str, engine: str) -> None:
    sources, atoms = REAL[name]
    splits = [SplitStage(pattern, engine) for pattern in sources]
    brute = Brute(splits, atoms, 4 if is_quick() else 6)
    windows = decided(splits, atoms)
    assert check_certified(windows, brute) > 3
    if name != "deepseek_coder":
        assert check_witnesses(windows, brute) > 5


@pytest.mark.parametrize("engine", ENGINES)
@RELAXED
@given(data=st.data())
def test_certified_cuts_of_drawn_patterns_are_lossless(engine: str, data: st.DataObject) -> None:
    covering = data.draw(st.booleans()) or engine == "fancy-regex"
    splits = [data.draw(split(engine, covering))]
    windows = windows_or_none(splits, ATOMS)
    brute = Brute(splits, ATOMS, 4 if engine == "regex" or not is_quick() else 3)
    check_certified(windows, brute)
    if covering and (engine != "fancy-regex" or not is_quick()):  # many encodings to build
        check_witnesses(windows, brute)


@pytest.mark.parametrize("engine", ENGINES)
@settings(RELAXED, max_examples=drawn(15))
@given(data=st.data())
def test_windows_of_drawn_patterns_are_exactly_the_safe_ones(
    engine: str, data: st.DataObject
) -> None:
    """All texts of up to six characters, over four of those that patterns tell apart."""
    atoms = "".join(data.draw(st.permutations(ATOMS))[:4])
    splits = [data.draw(split(engine, covering=True))]
    windows = windows_or_none(splits, atoms)
    brute = Brute(splits, atoms, 6)
    check_certified(windows, brute)
    check_witnesses(windows, brute)


ROWS = [
    ("ab?(?=a)|(?:bc[^a])+", "[bc](?!b)"),
    ("bc*(?=b)", "(?:cab)+b(?=c)|c*c+(?!c)"),
    ("ca(?!a)|aa(?=a)", "(?:abab)+b+(?=c)", "[^a](?!b)"),
    ("(?:aa[^a])+(?=b)", "(?:a )+|(?:[bc]bc)+ ?(?=b)", "a?c+"),
]
"""A stage that begins where a match of an earlier stage ends or does not."""


@pytest.mark.parametrize("sources", ROWS)
def test_certified_cuts_of_rows_in_which_stages_leave_gaps_are_lossless(
    sources: tuple[str, ...],
) -> None:
    splits = [SplitStage(pattern, "oniguruma") for pattern in sources]
    assert check_certified(decided(splits, "ab c"), Brute(splits, "ab c", 6)) > 0


@pytest.mark.parametrize("engine", ["regex", "oniguruma"])
@RELAXED
@given(data=st.data())
def test_certified_cuts_of_drawn_rows_are_lossless(engine: str, data: st.DataObject) -> None:
    splits = data.draw(rows(engine))
    windows = windows_or_none(splits, ATOMS[:5])
    check_certified(windows, Brute(splits, ATOMS[:5], 4))


@pytest.mark.parametrize("engine", ENGINES)
def test_patterns_with_one_changed_character_are_decided_or_refused(engine: str) -> None:
    """What is near a real pattern, so also what the parser might take for something else."""
    random = Random(engine)
    names = [n for n, own in CASES if own == engine and not n.startswith("deepseek")]
    decided_at_all = 0
    for _ in range(drawn(60)):
        sources, atoms = REAL[random.choice(names)]
        splits = [SplitStage(changed(sources[0], random), engine)]
        if not accepted(splits, atoms):
            continue
        try:
            windows = decided(splits, atoms)
        except UnsupportedPatternError:
            continue
        brute = Brute(splits, atoms, 3 if engine == "fancy-regex" else 4)
        check_certified(windows, brute)
        decided_at_all += 1
    assert decided_at_all > 3


def accepted(splits: Sequence[SplitStage], atoms: str) -> bool:
    """The engine takes the pattern, and every text over the atoms has pieces."""
    try:
        edges = edges_of(splits, list(atoms))
        return all(edges(char) == 3 for char in atoms)
    except Exception:  # each engine has errors of its own
        return False


def changed(pattern: str, random: Random) -> str:
    """One character left out, put in or put in place of another."""
    p = random.randrange(len(pattern))
    put = random.choice(["", *"+*?|()[]^$1{},\\sSpPNLd '!=:i.-"])
    return pattern[:p] + put + pattern[p + random.randrange(2) :]
