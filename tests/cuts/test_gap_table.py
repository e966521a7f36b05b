"""How far certified cuts are apart: the table of tests/data/gaps.json, and a bound."""

from __future__ import annotations

import json

import pytest

from tests.recipes.gap_table import FILE, gap_table, texts, written

BOUND = 40
"""Code points. The longest gaps are a long word, and Thai, which has no spaces."""
AT_SPACES, BOUND_AT_SPACES = {"llama_style", "metaspace_unigram"}, 80
"""Nothing splits what stands between two spaces, nor some indentation."""
TABLE = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_table_is_what_its_command_makes() -> None:
    made = written(gap_table())
    assert FILE.read_text(encoding="utf-8") == made, "run `python -m tests.recipes.gap_table`"


@pytest.mark.parametrize("tokenizer", TABLE)
def test_no_gap_is_longer_than_the_bound(tokenizer: str) -> None:
    for kind, text in texts().items():
        bound = BOUND
        if tokenizer in AT_SPACES:
            bound = max(BOUND_AT_SPACES, 1 + max(map(len, text.split(" "))))
        assert TABLE[tokenizer][kind]["greatest_gap"] <= bound, kind
