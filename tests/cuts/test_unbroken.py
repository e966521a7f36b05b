"""Texts of which the classes of their characters tell that they are one pre-token."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import at_most, cases, is_quick
from tests.recipes.unbroken import unbroken, unbroken_sets
from tests.support.inside_pretokens import encoded, rules
from tests.support.seams import part
from tests.support.tokenizers_drawn import ByteLevelSpec, build
from tests.support.windows_brute import Brute
from tests.support.windows_drawn import (
    ATOMS,
    CASES,
    ENGINES,
    IN_QUICK,
    REAL,
    decided,
    split,
    windows_or_none,
)
from tests.support.windows_drawn import rows as drawn_rows
from tokpar.cuts.pretokens import Scanner
from tokpar.interfaces import facts_of
from tokpar.loading import load
from tokpar.patterns.automaton import automaton
from tokpar.patterns.class_tables import load_families, load_windows
from tokpar.patterns.pattern_reader import read_pattern
from tokpar.patterns.splits import SplitStage
from tokpar.patterns.time_budget import Budget
from tokpar.patterns.window_search import Windows

FAMILIES = [name for name, family in load_families().items() if family.sources]
PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default")
NASTY = "aAsLé中\u0301\u3042\u3099😀🤠 \n\t\r.'/1٣\u2e43\U000125c4ⅷǅ\x01\u200d\u00a0"


# ------------------------------------------------------------------------------ which texts


@pytest.mark.parametrize("family", cases(FAMILIES, FAMILIES[:3]))
def test_what_is_stored_follows_from_the_patterns(family: str) -> None:
    for entry in load_windows(family):
        for source in entry["sources"]:
            readers = [read_pattern(p, source["engine"]) for p in source["patterns"]]
            trees = [r.tree(entry["classes"].__getitem__, entry["size"]) for r in readers]
            stages = [automaton(tree, entry["size"], Budget(60)) for tree in trees]
            found = [[symbols, lasts] for symbols, lasts in unbroken_sets(stages)]
            assert found == entry["unbroken"]
            assert len(found) > 2


def check_unbroken(windows: Windows, brute: Brute) -> int:
    """Each text that is told to be one piece is; how many are told to be."""
    symbols = dict(zip(brute.atoms, windows.alphabet.symbols(brute.atoms), strict=True))
    told, sets = 0, unbroken_sets(windows.decision.stages)
    for n in range(1, brute.longest + 1):
        for text, mask in zip(brute.texts(n), brute.masks[n].tolist(), strict=True):
            read = {symbols[char] for char in text}
            one = any(read.issubset(s) and symbols[text[-1]] in lasts for s, lasts in sets)
            assert mask == 1 | 1 << n or not one, text
            told += one
    return told


def check_others_are_broken(windows: Windows, brute: Brute) -> None:
    """Of what is not told to be one piece some text is not."""
    symbols = dict(zip(brute.atoms, windows.alphabet.symbols(brute.atoms), strict=True))
    stages = windows.decision.stages
    for n in range(1, len(brute.atoms) + 1):
        for chars in combinations(brute.atoms, n):
            for last in chars:
                if unbroken(stages, frozenset(symbols[c] for c in chars), symbols[last]):
                    continue
                assert any(
                    mask != 1 | 1 << length
                    for length in range(1, brute.longest + 1)
                    for text, mask in zip(brute.texts(length), brute.masks[length], strict=True)
                    if text[-1] == last and set(text) <= set(chars)
                ), (chars, last)


@pytest.mark.parametrize(("name", "engine"), cases(CASES, IN_QUICK))
def test_unbroken_texts_of_real_patterns_are_one_piece(name: str, engine: str) -> None:
    sources, atoms = REAL[name]
    splits = [SplitStage(pattern, engine) for pattern in sources]
    brute = Brute(splits, atoms, 4 if is_quick() else 5)
    windows = decided(splits, atoms)
    assert check_unbroken(windows, brute) > 10
    check_others_are_broken(windows, brute)


@pytest.mark.parametrize("engine", ENGINES)
@settings(at_most(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_unbroken_texts_of_drawn_patterns_are_one_piece(engine: str, data: st.DataObject) -> None:
    covering = data.draw(st.booleans()) or engine == "fancy-regex"
    splits = [data.draw(split(engine, covering))]
    if engine != "fancy-regex" and data.draw(st.booleans()):
        splits = data.draw(drawn_rows(engine))
    atoms = "".join(data.draw(st.permutations(ATOMS))[:5])
    check_unbroken(windows_or_none(splits, atoms), Brute(splits, atoms, 4))


# -------------------------------------------------------------------- each hypothesis is needed


def told(patterns: tuple[str, ...], atoms: str, last: str) -> bool:
    """Texts over all these characters are told to be one piece if they end with `last`."""
    windows = decided([SplitStage(pattern, "regex") for pattern in patterns], atoms)
    (number,) = windows.alphabet.symbols(last)
    chars = frozenset(windows.alphabet.symbols(atoms))
    return unbroken(windows.decision.stages, chars, number)


def pieces(patterns: tuple[str, ...], text: str) -> int:
    brute = Brute([SplitStage(p, "regex") for p in patterns], "".join(sorted(set(text))), len(text))
    return bin(brute.edges(text)).count("1") - 1


def test_unbroken_texts_need_their_last_character() -> None:
    o200k, _ = REAL["o200k"]
    assert told(o200k, " \n", "\n")
    assert pieces(o200k, " \n \n") == 1
    assert not told(o200k, " \n", " ")
    assert pieces(o200k, "\n ") == 2


def test_unbroken_texts_need_all_splits_of_a_row() -> None:
    assert told(("[a1]+",), "a1", "a")
    assert not told(("1", "[a1]+"), "a1", "a")
    assert pieces(("1", "[a1]+"), "a1a") == 3


def test_unbroken_texts_need_the_states_behind_all_texts() -> None:
    """Each of its characters alone, and twice, is one piece."""
    pattern = (r"a(?=1)|[a1]+",)
    assert pieces(pattern, "aa") == pieces(pattern, "11") == 1
    assert told(pattern, "a", "a")
    assert told(pattern, "1", "1")
    assert not told(pattern, "a1", "1")
    assert pieces(pattern, "a1") == 2


# ---------------------------------------------------------------------------------- the scanner


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    """Of a few characters, most of them alike; another one at some place."""
    chars = draw(st.lists(st.sampled_from(NASTY), min_size=1, max_size=4))
    length, seed = draw(st.integers(60, 200)), draw(st.integers(0, 99))
    text = "".join(random.Random(seed).choices(chars, k=length))
    place, odd = draw(st.integers(0, length)), draw(st.sampled_from(["", *NASTY]))
    return text[:place] + odd + text[place:]


@pytest.mark.ids
@pytest.mark.parametrize("name", PARTS)
@settings(at_most(2000))
@given(text=long_texts())
def test_the_scanner_finds_what_the_regex_finds(name: str, text: str) -> None:
    facts = facts_of(load(part(name)))
    alone = Scanner(facts)
    vars(alone)["_read"] = None
    by_regex, found = alone.edges(text), Scanner(facts).edges(text)
    assert (found is None) == (by_regex is None)
    assert found is None or by_regex is None or np.array_equal(found, by_regex)


@pytest.mark.parametrize(
    ("text", "last"), [(" \n" * 99, " "), ("A中" * 99, "A"), ("\u0301A" * 99 + "中", "A")]
)
def test_the_scanner_looks_at_how_a_text_ends(text: str, last: str) -> None:
    scanner = Scanner(facts_of(load(part("o200k_part"))))
    ends = scanner.edges(text.rstrip("A"))
    assert ends is not None
    assert len(ends) == 2
    ends = scanner.edges(text + last)
    assert ends is not None
    assert len(ends) > 2


@pytest.mark.parametrize("name", PARTS)
def test_of_texts_of_one_class_the_regex_is_not_asked(name: str) -> None:
    scanner = Scanner(facts_of(load(part(name))))
    vars(scanner)["_patterns"] = ()  # then every text would be one pre-token
    texts = ["a" * 99, "A" * 99, "中" * 99, "😀" * 99, "\n" * 99, " " * 99, ".!" * 50]
    assert all(scanner._is_surely_one(text) for text in texts)
    assert not any(scanner._is_surely_one(text + "1") for text in texts)
    assert not scanner._is_surely_one("12345" * 20) or name == "default"
    assert not scanner._is_surely_one("a" * 99 + "\U000125c4")
    assert not scanner._is_surely_one("")


# -------------------------------------------------------------------------------------- the ids

ODD = ("", "1", "<|endoftext|>", "\U000125c4", "A", " \n ", "'s")
IN_RUNS = [(name, odd) for odd in ODD for name in PARTS]
"""In quick every third pair: each vocabulary and each odd text is in one."""


@pytest.mark.ids
@pytest.mark.parametrize(("name", "odd"), cases(IN_RUNS, IN_RUNS[::3]))
def test_runs_with_something_in_them_have_the_ids_of_the_serial_call(name: str, odd: str) -> None:
    for run in ("a\u0301" * 900, "A" * 1500, " \n" * 900, "中é" * 900, "😀!" * 900):
        texts = (run + odd + run, odd + run, run + odd)
        for text in cases(texts, [texts[len(run + odd) % 3]]):
            encoded(part(name), text, 64)


@pytest.mark.parametrize("forms", [("NFC",), ("NFD",), ("Lowercase",), ("NFKC", "Lowercase")])
def test_runs_that_a_normalizer_changes_have_the_ids_of_the_serial_call(
    forms: tuple[str, ...],
) -> None:
    tokenizer = build(ByteLevelSpec("gpt2", seed=3, merges=40, normalizers=forms))
    for run in ("e\u0301" * 900, "É" * 1500, "ab" * 900, "中" * 1500, "\u1100\u1161" * 900):
        encoded(tokenizer, run, 64)
    assert rules(encoded(tokenizer, "ab" * 900, 64)) & {"K4", "K5"}
