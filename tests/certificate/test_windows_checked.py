"""The small checker of windows accepts what was decided, and refuses what is planted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import at_most, cases
from tests.support.windows_brute import ask, asked
from tests.support.windows_drawn import (
    ATOMS,
    CL100K_TIKTOKEN,
    DEEPSEEK,
    DEEPSEEK_CODER,
    rows,
    split,
    windows_or_none,
)
from tokpar.certificate.pattern_machine import PairChecker, ProvedMachine
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.pair_rows import RowPairs
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError
from tokpar.patterns.shipped_patterns import CL100K, GPT2, O200K, QWEN2, TEKKEN
from tokpar.patterns.splits import SplitStage, decide_pairs, tree_of

PATTERNS = {
    "gpt2": SplitStage(GPT2, "regex"),
    "cl100k": SplitStage(CL100K, "regex"),
    "cl100k_tiktoken": SplitStage(CL100K_TIKTOKEN, "fancy-regex"),
    "qwen2": SplitStage(QWEN2, "regex"),
    "o200k": SplitStage(O200K, "regex"),
    "tekken": SplitStage(TEKKEN, "regex"),
    "gaps": SplitStage(r"\p{L}+(?!\s)|\p{N}{2}", "regex"),
    "nested": SplitStage(r"a(?:b*+aa)|b(?:(?:a*c)+d){1,2}|c(?:a|b*)?d|[\s\S]", "regex"),
    "lazy": SplitStage(r"a+?b|(?:ab|a)(?=1)|\s++a?", "regex"),
}


@cache
def windows_of(name: str) -> Pairs:
    return decide_pairs([PATTERNS[name]])


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def proof_of(windows: Pairs, split: SplitStage) -> Any:
    (stage,) = windows.stages
    return as_json(stage_proof(stage, tree_of(split, windows.alphabet)))


@cache
def checker_of(name: str) -> PairChecker:
    return PairChecker(proof_of(windows_of(name), PATTERNS[name]))


def differing(windows: Pairs, checker: PairChecker | RowPairs) -> list[Any]:
    """Pairs of symbols on which the checker and the decision differ."""
    pairs = product(range(windows.alphabet.size), repeat=2)
    return [pair for pair in pairs if (checker.refusal(*pair) is None) != windows.pairs[pair]]


@pytest.mark.parametrize("name", PATTERNS)
def test_the_checker_accepts_what_was_decided_and_no_more(name: str) -> None:
    windows, checker = windows_of(name), checker_of(name)
    assert differing(windows, checker) == []
    assert windows.pairs[:3, :3].sum() < 9


@settings(at_most(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_checker_agrees_on_drawn_patterns(data: st.DataObject) -> None:
    one = data.draw(split("regex"))
    windows = windows_or_none([one], ATOMS)
    checker = PairChecker(proof_of(windows, one))
    assert differing(windows, checker) == []


def rows_checker(windows: Pairs, splits: Sequence[SplitStage]) -> RowPairs:
    stages = zip(windows.stages, splits, strict=True)
    return RowPairs(
        [ProvedMachine(as_json(stage_proof(s, tree_of(p, windows.alphabet)))) for s, p in stages]
    )


@pytest.mark.parametrize("patterns", [DEEPSEEK, DEEPSEEK_CODER], ids=["deepseek", "deepseek_coder"])
def test_the_checker_of_rows_accepts_what_was_decided_and_no_more(patterns: Sequence[str]) -> None:
    splits = [SplitStage(pattern, "regex") for pattern in patterns]
    atoms = "a \t\n中1."
    windows = decide_pairs(splits, ask(atoms), asked(atoms))
    checker = rows_checker(windows, splits)
    assert differing(windows, checker) == []


@settings(at_most(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_checker_of_rows_agrees_on_drawn_rows(data: st.DataObject) -> None:
    splits = data.draw(rows("regex"))
    windows = windows_or_none(splits, ATOMS[:5])
    checker = rows_checker(windows, splits)
    assert differing(windows, checker) == []


def test_the_checker_of_rows_refuses_stages_of_other_symbols() -> None:
    small = SplitStage("a|[ ]", "regex")
    proof = proof_of(decide_pairs([small], ask("a "), asked("a ")), small)
    with pytest.raises(RefusedProofError, match="same symbols"):
        RowPairs(
            [ProvedMachine(proof), ProvedMachine(proof_of(windows_of("gpt2"), PATTERNS["gpt2"]))]
        )
    with pytest.raises(RefusedProofError, match="same symbols"):
        RowPairs([])
    assert RowPairs([ProvedMachine(proof), ProvedMachine(proof)]).refusal(0, 99) == "no pair"


def test_what_is_no_pair_is_refused() -> None:
    checker = checker_of("gpt2")
    for left, right in ((1, -1), (1, 99), (-1, 1), (99, 1)):
        assert checker.refusal(left, right) == "no pair"


@pytest.mark.parametrize("name", cases(PATTERNS, ["gpt2", "gaps", "lazy"]))
def test_a_live_state_called_dead_is_refused(name: str) -> None:
    proof = proof_of(windows_of(name), PATTERNS[name])
    alive = set(range(len(proof["words"]))) - set(proof["dead"])
    assert alive
    for x in alive:
        with pytest.raises(RefusedProofError, match="not dead"):
            PairChecker(proof | {"dead": [*proof["dead"], x]})


@pytest.mark.parametrize("name", cases(PATTERNS, ["gpt2", "gaps", "lazy"]))
def test_a_state_called_sure_is_refused(name: str) -> None:
    proof = proof_of(windows_of(name), PATTERNS[name])
    for x in set(range(len(proof["words"]))) - set(proof["sure"]):
        with pytest.raises(RefusedProofError, match="sure to match"):
            PairChecker(proof | {"sure": [*proof["sure"], x]})


@pytest.mark.parametrize("name", cases(PATTERNS, ["gpt2", "gaps", "lazy"]))
def test_a_state_that_is_left_out_is_refused(name: str) -> None:
    proof = proof_of(windows_of(name), PATTERNS[name])
    states = checker_of(name).states
    assert len(states) == len(proof["words"])
    for x in set(states):
        words = [word for word, y in zip(proof["words"], states, strict=True) if y != x]
        with pytest.raises(RefusedProofError):
            PairChecker(proof | {"words": words, "dead": [], "sure": []})


def test_fewer_marks_refuse_more_windows() -> None:
    """What is not marked is not believed: no state dead, no cut certain."""
    proof = proof_of(windows_of("gpt2"), PATTERNS["gpt2"])
    checker = PairChecker(proof | {"dead": []})
    symbols = range(proof["size"])
    assert all(checker.refusal(a, b) is not None for a, b in product(symbols, repeat=2))


SPOILT: dict[str, dict[str, Any]] = {
    "no size": {"size": 0},
    "a great size": {"size": 1000},
    "words of other symbols": {"words": [[], [99]]},
    "words that are numbers": {"words": [0]},
    "too few words": {"words": [[], []]},
    "the start is not first": {"words": [[0], []]},
    "no words": {"words": []},
    "a state beyond": {"dead": [9999]},
    "a state of another type": {"dead": [True]},
    "no tree": {"tree": ["all"]},
    "a set beyond": {"tree": ["set", [999]]},
    "a repeat of nothing": {"tree": ["repeat", ["look", [0]], 0, None, "greedy"]},
    "a possessive group": {"tree": ["repeat", ["row", [["set", [0]]]], 1, None, "possessive"]},
    "an empty match": {"tree": ["repeat", ["set", [0]], 0, None, "greedy"], "words": [[]]},
    "an unknown mode": {"tree": ["repeat", ["set", [0]], 1, None, "eager"]},
}


@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_proofs_are_refused(what: str) -> None:
    proof = proof_of(windows_of("gpt2"), PATTERNS["gpt2"])
    PairChecker(proof)
    with pytest.raises(RefusedProofError):
        PairChecker(proof | SPOILT[what])


def test_a_tree_that_is_too_deep_is_refused() -> None:
    tree: Any = ["set", [0]]
    for _ in range(300):
        tree = ["row", [tree]]
    with pytest.raises(RefusedProofError, match="deep"):
        PairChecker({"size": 1, "tree": tree, "words": [[]], "dead": [], "sure": []})


def test_a_proof_of_another_pattern_certifies_what_is_true_of_that_only() -> None:
    """The tree is the pattern: who makes the certificate has to compare them."""
    atoms = "a 1"
    one, other = SplitStage(r"\w+|\s+", "regex"), SplitStage(r"[\s\S]", "regex")
    windows = decide_pairs([one], ask(atoms), asked(atoms))
    checker = PairChecker(proof_of(windows, one))
    assert checker.refusal(0, 0) is not None
    single = decide_pairs([other], ask(atoms), asked(atoms))
    assert PairChecker(proof_of(single, other)).refusal(0, 0) is None


@pytest.mark.parametrize(
    "pattern", ["(?i:s)+", "(?i:f+i)", "(?i:(?:s|a)t)", "(?i:fl|x)", "(?i)s+t", "(?i:s)(?i:t)"]
)
def test_folds_to_one_character_are_refused(pattern: str) -> None:
    with pytest.raises(RefusedProofError, match="fold to one"):
        PatternReader(pattern, "oniguruma")
