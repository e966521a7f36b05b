"""The pairs of a text by tables: what each pair says, and what the engine makes of the text."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from tests.conftest import at_most, cases
from tests.support.pair_places import pair_places
from tests.support.texts import texts
from tests.support.windows_drawn import DEEPSEEK, DEEPSEEK_CODER
from tokpar.arrays import has_surrogate
from tokpar.patterns.known_pattern import PairTable
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.shipped_patterns import CL100K, GPT2, O200K, QWEN2
from tokpar.patterns.splits import SplitStage, decide_pairs

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
def windows_of(name: str) -> Pairs:
    return decide_pairs([SplitStage(pattern, "oniguruma") for pattern in PATTERNS[name]])


@cache
def finder_of(name: str) -> PairTable:
    alphabet = windows_of(name).alphabet
    return PairTable.of(alphabet.symbol_of, alphabet.size, windows_of(name).pairs, False)


@cache
def engine(name: str) -> Any:
    splits = [pre_tokenizers.Split(Regex(p), "isolated") for p in PATTERNS[name]]
    return pre_tokenizers.Sequence(splits)


def edges(name: str, text: str) -> set[int]:
    pieces = engine(name).pre_tokenize_str(text) if text else ()
    return {0, *(stop for _, (_, stop) in pieces)}


def drawn_texts(size: int = 60) -> st.SearchStrategy[str]:
    """Without surrogates, which the engine does not take."""
    return (texts(max_size=3 * size) | st.text(ODD, max_size=size)).filter(
        lambda text: not has_surrogate(text)
    )


each_pattern = pytest.mark.parametrize("name", cases(PATTERNS, ["cl100k", "gaps", "deepseek"]))


@each_pattern
@at_most(100)
@given(text=st.text(ODD, max_size=30))
def test_tables_find_what_the_pairs_say(name: str, text: str) -> None:
    certifies = windows_of(name).certifies
    expected = [p for p in range(1, len(text)) if certifies(text[p - 1], text[p])]
    assert pair_places(finder_of(name), text) == expected


@each_pattern
@at_most(100)
@given(before=drawn_texts(20), text=drawn_texts(), after=drawn_texts(20))
def test_a_pair_is_an_edge_of_pre_tokens_whatever_stands_around_it(
    name: str, before: str, text: str, after: str
) -> None:
    """Of the engine's own pre-tokens, in the whole and in each part that ends at the place."""
    found = {len(before) + p for p in pair_places(finder_of(name), text)}
    whole = before + text + after
    assert found <= edges(name, whole)
    for p in found:
        assert edges(name, whole[:p]) | {p + q for q in edges(name, whole[p:])} == edges(
            name, whole
        )


@each_pattern
@at_most(100)
@given(text=drawn_texts())
def test_cuts_may_be_made_at_once(name: str, text: str) -> None:
    """All of them (theorem 43): a pair has one character on the right."""
    together = {0}
    for low, high in pairwise([0, *pair_places(finder_of(name), text), len(text)]):
        together |= {low + q for q in edges(name, text[low:high])}
    assert together == edges(name, text)
