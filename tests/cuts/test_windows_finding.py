"""All cuts of a text by tables: what each window says, and what the engine makes of the text."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from tests.conftest import at_most, cases
from tests.support.texts import texts
from tests.support.window_cuts import all_cuts, window_cuts
from tests.support.windows_drawn import DEEPSEEK, DEEPSEEK_CODER
from tokpar.cuts import all_cuts as all_cuts_module
from tokpar.cuts.all_cuts import every_window
from tokpar.cuts.window_tables import WindowFinder, window_finder
from tokpar.facts.families import CL100K, GPT2, O200K, QWEN2
from tokpar.patterns.splits import SplitStage, decide_windows
from tokpar.patterns.stored_windows import DecidedWindows
from tokpar.patterns.window_search import Windows

PATTERNS = {
    "gpt2": (GPT2,),
    "cl100k": (CL100K,),
    "qwen2": (QWEN2,),
    "o200k": (O200K,),
    "gaps": (r"\p{L}+(?!\s)|\p{N}{2}",),
    "deepseek": DEEPSEEK,
    "deepseek_coder": DEEPSEEK_CODER,
}
ODD = "aZ1 \n\r\t'sSé中あ・。😀\u200d\ufe0f3!/_- \u0301\u3000ก\U000125c4"


@cache
def windows_of(name: str) -> Windows:
    return decide_windows([SplitStage(pattern, "oniguruma") for pattern in PATTERNS[name]])


def finder_for_windows(windows: Windows) -> WindowFinder:
    alphabet = windows.alphabet
    decided = DecidedWindows(alphabet.symbol_of, alphabet.size, windows.tables, ("windows", ""))
    return window_finder(decided)


@cache
def finder_of(name: str) -> WindowFinder:
    return finder_for_windows(windows_of(name))


@cache
def engine(name: str) -> Any:
    splits = [pre_tokenizers.Split(Regex(p), "isolated") for p in PATTERNS[name]]
    return pre_tokenizers.Sequence(splits)


def edges(name: str, text: str) -> set[int]:
    pieces = engine(name).pre_tokenize_str(text) if text else ()
    return {0, *(stop for _, (_, stop) in pieces)}


def naive(name: str, text: str, left: int, right: int) -> list[int]:
    """Each place by itself, each width by itself."""
    window = windows_of(name).window
    return [
        p
        for p in range(1, len(text))
        if any(
            window(text[p - i : p], text[p : p + j])
            for i in range(1, min(left, p) + 1)
            for j in range(1, min(right, len(text) - p) + 1)
        )
    ]


@pytest.mark.parametrize("name", cases(PATTERNS, ["cl100k", "gaps", "deepseek"]))
@at_most(100)
@given(text=st.text(ODD, max_size=30), left=st.integers(1, 4), right=st.integers(1, 4))
def test_tables_find_what_the_windows_say(name: str, text: str, left: int, right: int) -> None:
    found = window_cuts(finder_of(name), text, left, right)
    assert found.tolist() == naive(name, text, left, right)


@pytest.mark.parametrize("name", cases(PATTERNS, ["cl100k", "gaps", "deepseek"]))
@at_most(100)
@given(text=texts(max_size=200) | st.text(ODD, max_size=60), before=st.sampled_from((0, 70)))
def test_every_cut_at_once_is_what_windows_and_anchors_say(
    name: str, text: str, before: int
) -> None:
    """Also where an anchor is further away than is read for many at once, of one or of many."""
    far = text[:1] * before + text
    for whole in (text, far, f"{far} a" * 10):
        assert np.array_equal(
            every_window(finder_of(name), whole, 8), all_cuts(finder_of(name), whole)
        )


@pytest.mark.parametrize("name", ["cl100k", "o200k", "gpt2"])
@pytest.mark.parametrize("block", [1, 2, 3, 64])
def test_every_cut_at_once_does_not_depend_on_blocks(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "We're 12345 'tis\n\n  don'T §§ 20 " * 3
    whole = every_window(finder_of(name), text, 8)
    monkeypatch.setattr(all_cuts_module, "_BLOCK", block)
    assert np.array_equal(every_window(finder_of(name), text, 8), whole)
    assert np.array_equal(whole, all_cuts(finder_of(name), text))
    assert len(whole) > 20


@pytest.mark.parametrize("name", cases(PATTERNS, ["cl100k", "gaps", "deepseek"]))
@at_most(100)
@given(text=texts(max_size=200) | st.text(ODD, max_size=60))
def test_every_cut_that_is_found_is_lossless(name: str, text: str) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    whole = edges(name, text)
    for p in all_cuts(finder_of(name), text).tolist():
        assert edges(name, text[:p]) | {p + q for q in edges(name, text[p:])} == whole


@pytest.mark.parametrize("name", cases(PATTERNS, ["cl100k", "gaps", "deepseek"]))
@at_most(100)
@given(text=texts(max_size=200) | st.text(ODD, max_size=60))
def test_cuts_may_be_made_at_once(name: str, text: str) -> None:
    """Behind one Split all of them (Theorem 43), behind a row those that look at one character on
    the right."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    places = all_cuts(finder_of(name), text, right=1 if len(PATTERNS[name]) > 1 else 8)
    together = {0}
    for low, high in pairwise([0, *places.tolist(), len(text)]):
        together |= {low + q for q in edges(name, text[low:high])}
    assert together == edges(name, text)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "deepseek"])
def test_anchored_windows_find_nearly_all_lossless_cuts(name: str) -> None:
    text = "def f(x_1):\n    return x + 12345678  # 'll see\n\n\n" * 3
    whole = edges(name, text)
    lossless = {
        p
        for p in range(1, len(text))
        if edges(name, text[:p]) | {p + q for q in edges(name, text[p:])} == whole
    }
    found = set(all_cuts(finder_of(name), text).tolist())
    assert found <= lossless
    assert len(found) > 0.95 * len(lossless)


def test_digits_in_threes_are_anchored_windows() -> None:
    """Theorem 22 is a special case: every third place behind the beginning of a run."""
    text = "a" + "7" * 500 + "b"
    assert window_cuts(finder_of("cl100k"), text).tolist() == [1, 4, 7, 501]
    assert all_cuts(finder_of("cl100k"), text).tolist() == [1, *range(4, 501, 3), 501]


def test_an_anchor_does_not_look_behind_the_place() -> None:
    """The cut at 1 is certified by the x at 2, which the cut at 2 leaves out (Theorem 44)."""
    finder = finder_for_windows(decide_windows([SplitStage(r"\s+(?!\S)|\s+|\S", "regex")]))
    for left, right in ((1, 2), (1, 8), (2, 2), (8, 8)):
        assert all_cuts(finder, "  x", left, right).tolist() == [1]


def test_a_window_of_digits_is_never_certified() -> None:
    assert not windows_of("cl100k").window("7" * 300, "7" * 300)


@pytest.mark.parametrize("text", ["", "a", "ab", "a b", " ", "\n\n"])
def test_texts_shorter_than_a_window_have_no_wrong_cuts(text: str) -> None:
    found = all_cuts(finder_of("gpt2"), text)
    assert found.tolist() == [p for p in range(1, len(text)) if text == "a b" and p == 1]


def test_a_surrogate_has_no_cut_beside_it() -> None:
    assert all_cuts(finder_of("gpt2"), "a b\ud800 c").tolist() == [1]


@pytest.mark.parametrize("name", ["cl100k", "deepseek"])
def test_a_text_longer_than_a_block_is_cut_as_its_beginning(name: str) -> None:
    """Blocks meet without a trace: a text that repeats is cut alike everywhere."""
    unit = "It's 12345 o'clock;\n\n  中文, x_1 =\t'a'  # 7777\r\n"
    count = 600
    found = all_cuts(finder_of(name), unit * count)
    inner = found[(found >= len(unit)) & (found < (count - 1) * len(unit))]
    first = inner[inner < 2 * len(unit)] - len(unit)
    every = np.concatenate([first + k * len(unit) for k in range(1, count - 1)])
    assert np.array_equal(inner, every)
