"""Patterns, real and drawn, whose windows are decided and compared with the engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from tests.conftest import at_most
from tests.support.patterns_drawn import CATEGORIES, patterns
from tests.support.windows_brute import BoolArray, Brute, ask, asked
from tokpar.facts.families import CL100K, GPT2, O200K, QWEN2, TEKKEN
from tokpar.patterns.class_tables import load_families
from tokpar.patterns.pattern_reader import UnsupportedPatternError
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
