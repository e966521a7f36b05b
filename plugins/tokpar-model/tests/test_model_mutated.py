"""A mutated file, or an array of ids that is none, is refused or found wrong, and never crashes."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_model import file_findings

from tests.conftest import needs_below_one
from tests.recipes.model_by_hand import mutated_world
from tests.support.model_worlds import LETTERS, added, bpe_config, numbered, proved, word_config

pytestmark = needs_below_one
CONFIG = bpe_config(
    numbered(*LETTERS, "ab", "aab"), [["a", "b"], ["a", "ab"]], [r"\p{L}+|\s"], [added("<s>", 258)]
)


@given(st.integers(0, 1 << 32))
def test_a_mutated_file_never_crashes_the_check(seed: int) -> None:
    mutated_world(random.Random(seed))


IDS: dict[str, Any] = {
    "negative": [-1],
    "huge": [1 << 70],
    "too great": [1 << 32],
    "of 64 bits": np.array([1 << 63], dtype=np.uint64),
    "float": [1.0],
    "nan": np.array([float("nan")]),
    "text": "97",
    "texts": ["97"],
    "bytes": b"a",
    "none": None,
    "pairs": [[97, 98]],
    "ragged": [[1], [1, 2]],
    "bool": [True],
    "object": [object()],
    "dict": {97: 97},
    "scalar": 97,
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("config", [CONFIG, word_config("a")], ids=["BPE", "WordPiece"])
def test_ids_that_are_none_are_a_finding(config: Any, name: str) -> None:
    proof = proved(config, "a", IDS[name])
    assert proof.findings
    assert proof.findings[0].kind == "ids"


@pytest.mark.parametrize(
    "file",
    ["", "[]", "1", "{", '{"model": 1}', '{"a": 1, "a": 2}', "[" * 100_000, "{}", '{"model": {}}'],
)
def test_json_that_is_no_file_is_refused(file: str) -> None:
    refused = file_findings(file, "a", [0]).refusal
    assert refused is not None


@pytest.mark.parametrize(
    ("place", "value", "kind"),
    [
        ("vocab", {"a": 1.5}, "vocabulary"),
        ("vocab", {"a": -1}, "vocabulary"),
        ("vocab", {"a": True}, "vocabulary"),
        ("vocab", {"a": 1 << 40}, "vocabulary"),
        ("vocab", {}, "vocabulary"),
        ("vocab", [["a", 0]], "file"),
        ("vocab", None, "file"),
        ("merges", [["a", "zz"]], "merges"),
        ("merges", [["ab", "ab"]], "merges"),
        ("merges", [["a"]], "merges"),
        ("merges", ["a b", ["a", "b"]], "merges"),
        ("merges", [["a", "b"], "a b"], "merges"),
        ("merges", "ab", "file"),
        ("merges", [[1, 2]], "merges"),
        ("ignore_merges", "yes", "file"),
        ("dropout", "much", "dropout"),
        ("type", ["BPE"], "model"),
        ("type", 5, "model"),
    ],
)
def test_a_model_with_wrong_parts_is_refused_by_name(place: str, value: Any, kind: str) -> None:
    config = {**CONFIG, "model": {**CONFIG["model"], place: value}}
    refused = proved(config, "ab", [97]).refusal
    assert refused is not None
    assert refused[0] == kind


def test_merges_that_lead_in_a_circle_end() -> None:
    """With the empty token, "a" and "" make "a" again: nothing ever stands as the empty token."""
    tokens = {**numbered(*LETTERS), "": 256}
    config = bpe_config(tokens, [["a", ""], ["", "a"], ["", ""]])
    ids = Tokenizer.from_str(json.dumps(config)).encode("aa").ids
    assert proved(config, "aa", ids).ok
