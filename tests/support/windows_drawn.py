"""Patterns, real and drawn, whose windows are decided and compared with the engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from tests.conftest import at_most
from tests.recipes.known import CL100K_TIKTOKEN, DEEPSEEK_STAGES
from tests.support.patterns_drawn import CATEGORIES, patterns
from tests.support.windows_brute import BoolArray, Brute, ask, asked
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.shipped_patterns import CL100K, GPT2, O200K, QWEN2, TEKKEN
from tokpar.patterns.splits import SplitStage, decide_pairs

ENGINES = ("regex", "oniguruma", "fancy-regex")
DEEPSEEK = DEEPSEEK_STAGES
DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥]+", r"\p{N}")
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


def decided(splits: Sequence[SplitStage], atoms: str) -> Pairs:
    return decide_pairs(splits, ask(atoms), asked(atoms))


def certified(windows: Pairs, atoms: str) -> BoolArray:
    """Shape (texts of two characters,), numbered as by `Brute`."""
    symbols = np.array(windows.alphabet.symbols(atoms))
    return windows.pairs[symbols[:, None], symbols].ravel()


def check_certified(windows: Pairs, brute: Brute) -> int:
    """No certified pair is refuted by a text; how many pairs were certified."""
    sure, texts = certified(windows, brute.atoms), brute.texts(2)
    wrong = np.flatnonzero(sure & brute.refuted(1, 1))
    assert [texts[i] for i in wrong.tolist()] == []
    return int(sure.sum())


def check_witnesses(windows: Pairs, brute: Brute) -> int:
    """Every other pair has a text that breaks it."""
    sure, texts = certified(windows, brute.atoms), brute.texts(2)
    others = np.flatnonzero(~sure)
    few = 4 if brute.splits[0].engine == "fancy-regex" else 40
    checked = {*np.flatnonzero(~sure & ~brute.refuted(1, 1)).tolist()}
    checked |= {*others[:: max(1, len(texts) // few)].tolist()}
    for i in checked:
        check_witness(windows, brute, texts[i][0], texts[i][1])
    return len(others)


def check_witness(windows: Pairs, brute: Brute, left: str, right: str) -> None:
    found = windows.witness(left, right)
    assert found is not None, (left, right)
    before, behind = found
    assert brute.broken(before + left + right + behind, len(before + left)), (left, right, found)


@st.composite
def split(draw: st.DrawFn, engine: str, covering: bool | None = None) -> SplitStage:
    pattern = draw(patterns(kinds=("", "", "", "+", "?"), covering=covering)).alternatives
    if engine != "regex" and draw(st.booleans()):
        pattern = pattern.replace(r"(?!\S)", "$")
    return SplitStage(pattern, engine)


@st.composite
def rows(draw: st.DrawFn, engine: str) -> list[SplitStage]:
    return [draw(split(engine, covering=False)) for _ in range(draw(st.integers(2, 3)))]


def windows_or_none(splits: Sequence[SplitStage], atoms: str) -> Pairs:
    try:
        return decided(splits, atoms)
    except UnsupportedPatternError:
        assume(False)
        raise


ATOMS = "".join(CATEGORIES)
RELAXED = settings(at_most(100), suppress_health_check=list(HealthCheck))
