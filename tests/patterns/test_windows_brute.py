"""Windows against the engines: all texts over a few characters, real and drawn patterns."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.conftest import at_most, cases, drawn, is_quick
from tests.support.patterns_drawn import CATEGORIES, patterns
from tests.support.windows_brute import BoolArray, Brute, ask, asked, edges_of
from tokpar.facts.families import CL100K, GPT2, O200K, QWEN2, TEKKEN
from tokpar.patterns.class_tables import load_families
from tokpar.patterns.expression import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_windows
from tokpar.patterns.window_search import Windows

ENGINES = ("regex", "oniguruma", "fancy-regex")
CL100K_TIKTOKEN = next(
    source.patterns[0]
    for source in load_families()["cl100k_tiktoken"].sources
    if source.engine == "fancy-regex"
)
DEEPSEEK = load_families()["deepseek"].sources[0].patterns
DEEPSEEK_CODER = (
    r"[\r\n]",
    r"\s?\p{L}+",
    r"\s?\p{P}+",
    r"[一-龥]+",
    r"\p{N}",
)
REAL: dict[str, tuple[tuple[str, ...], str]] = {
    "gpt2": ((GPT2,), "a 's1\n"),
    "cl100k": ((CL100K,), "a \ns'1"),
    "cl100k_tiktoken": ((CL100K_TIKTOKEN,), "a \n.'s"),
    "qwen2": ((QWEN2,), "a \n.1'"),
    "o200k": ((O200K,), "aA \n/中"),
    "tekken": ((TEKKEN,), "aA \n/1"),
    "deepseek": (DEEPSEEK, "a \t中1."),
    "deepseek_coder": (DEEPSEEK_CODER, "a \n中1."),
}
NOT_EVERYWHERE = {"deepseek": {"fancy-regex"}, "deepseek_coder": {"fancy-regex"}}
NOT_EVERYWHERE["cl100k_tiktoken"] = {"regex"}
CASES = [
    (name, engine)
    for name in REAL
    for engine in ENGINES
    if engine not in NOT_EVERYWHERE.get(name, ())
]
IN_QUICK = [(name, engine) for name, engine in CASES if engine == "regex" or "100" in name]


def decided(splits: Sequence[SplitStage], atoms: str) -> Windows:
    return decide_windows(splits, ask(atoms), asked(atoms))


def certified(windows: Windows, atoms: str, left: int, right: int) -> BoolArray:
    """Shape (texts of left + right characters,), numbered as by `Brute`."""
    tables = windows.tables
    symbols = np.array(windows.alphabet.symbols(atoms))
    here = np.zeros(1, np.int32)
    for _ in range(left):
        here = tables.left[here[:, None], symbols].ravel()
    threats = tables.cut[here[:, None], symbols].ravel()
    for _ in range(right - 1):
        threats = tables.right[threats[:, None], symbols].ravel()
    return tables.certain[threats]


def check_certified(windows: Windows, brute: Brute) -> int:
    """No certified window of any width is refuted by a text; how many windows were certified."""
    count = 0
    for left in range(1, brute.longest):
        for right in range(1, brute.longest - left + 1):
            sure = certified(windows, brute.atoms, left, right)
            wrong = np.flatnonzero(sure & brute.refuted(left, right))
            texts = brute.texts(left + right)
            assert [(texts[i][:left], texts[i][left:]) for i in wrong.tolist()] == []
            count += int(sure.sum())
    return count


def check_witnesses(windows: Windows, brute: Brute, widest: int = 3) -> int:
    """Every other window of up to `widest` characters has a text that breaks it."""
    count = 0
    for left, right in ((1, 1), (1, 2), (2, 1)):
        if left + right > widest:
            continue
        sure = certified(windows, brute.atoms, left, right)
        refuted = brute.refuted(left, right)
        texts = brute.texts(left + right)
        for i in np.flatnonzero(~sure & ~refuted).tolist():
            check_witness(windows, brute, texts[i][:left], texts[i][left:])
        few = 4 if brute.splits[0].engine == "fancy-regex" else 40
        for i in np.flatnonzero(~sure)[:: max(1, len(texts) // few)].tolist():
            check_witness(windows, brute, texts[i][:left], texts[i][left:])
        count += int((~sure).sum())
    return count


def check_witness(windows: Windows, brute: Brute, left: str, right: str) -> None:
    found = windows.witness(left, right)
    assert found is not None, (left, right)
    before, behind = found
    assert brute.broken(before + left + right + behind, len(before + left)), (left, right, found)


@pytest.mark.parametrize(("name", "engine"), cases(CASES, IN_QUICK))
def test_windows_of_real_patterns_are_exactly_the_safe_ones(name: str, engine: str) -> None:
    sources, atoms = REAL[name]
    splits = [SplitStage(pattern, engine) for pattern in sources]
    brute = Brute(splits, atoms, 4 if is_quick() else 6)
    windows = decided(splits, atoms)
    assert check_certified(windows, brute) > 100
    if name != "deepseek_coder":
        assert check_witnesses(windows, brute) > 10


@st.composite
def split(draw: st.DrawFn, engine: str, covering: bool | None = None) -> SplitStage:
    pattern = draw(patterns(kinds=("", "", "", "+", "?"), covering=covering)).alternatives
    if engine != "regex" and draw(st.booleans()):
        pattern = pattern.replace(r"(?!\S)", "$")
    return SplitStage(pattern, engine)


@st.composite
def rows(draw: st.DrawFn, engine: str) -> list[SplitStage]:
    return [draw(split(engine, covering=False)) for _ in range(draw(st.integers(2, 3)))]


def windows_or_none(splits: Sequence[SplitStage], atoms: str) -> Windows:
    try:
        return decided(splits, atoms)
    except UnsupportedPatternError:
        assume(False)
        raise


ATOMS = "".join(CATEGORIES)
RELAXED = settings(at_most(100), suppress_health_check=list(HealthCheck))


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
