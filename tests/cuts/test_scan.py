"""The scan by `regex` finds the engines' pre-tokens, wherever it does not refuse."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.recipes.engines import MEMBERS
from tests.support.seams import part, serial
from tests.support.texts import texts
from tests.support.tokenizers_drawn import (
    PATTERNS,
    TIKTOKEN_FAMILIES,
    ByteLevelSpec,
    TiktokenSpec,
    build,
)
from tokpar.cuts.pretokens import Scanner, scanner_for
from tokpar.interfaces import facts_of
from tokpar.patterns.class_tables import load_atoms, load_pictographs

PICTOGRAPHS = "".join(chr(p) for low, high in load_pictographs() for p in range(low, high + 1))
CHARACTERS = "aZ1 \n\r\t'sSé中あ・。😀🏽\u200d\ufe0f3!/_- \u0301\u3000ก"


@cache
def huggingface(family: str) -> Any:
    return build(ByteLevelSpec(family))


def scanner_of(tokenizer: Any) -> Scanner:
    return scanner_for(facts_of(tokpar.load(tokenizer)))


@given(family=st.sampled_from(sorted(PATTERNS)), text=texts(max_size=300) | st.text(CHARACTERS))
@example(family="cl100k", text="a  \n \n")
@example(family="o200k", text="亚洲AVx")
def test_hugging_face_finds_the_same_pre_tokens(family: str, text: str) -> None:
    tokenizer = huggingface(family)
    scanner = scanner_of(tokenizer)
    if scanner.refusal is not None:
        return
    edges = scanner.edges(text)
    if edges is not None:
        pieces = tokenizer.pre_tokenizer.pre_tokenize_str(text)
        assert sorted({0, len(text), *(p for _, span in pieces for p in span)}) == edges.tolist()


@given(
    family=st.sampled_from(TIKTOKEN_FAMILIES),
    seed=st.integers(0, 20),
    text=texts(max_size=300) | st.text(CHARACTERS),
)
def test_tiktoken_finds_the_same_pre_tokens(family: str, seed: int, text: str) -> None:
    """It does not tell them, but what it makes of each alone must be what it makes of the text."""
    tokenizer = build(TiktokenSpec(family, seed, 60))
    edges = scanner_of(tokenizer).edges(text)
    if edges is None or not text:
        return
    places = edges.tolist()
    pieces = [text[i:j].encode() for i, j in pairwise(places)]
    alone = [id_ for piece in pieces for id_ in tokenizer._encode_single_piece(piece)]
    assert alone == serial(tokenizer, text)


def test_an_end_of_white_space_is_the_very_end() -> None:
    """`$` in `regex` is also before a last newline, in fancy-regex it is not."""
    scanner = scanner_of(part("cl100k_part"))
    for text in ("a \n", "a  \n", "a \n \n", " \n\n", "\n \n  ", "x\n "):
        edges = scanner.edges(text)
        assert edges is not None
        pieces = [text[i:j].encode() for i, j in pairwise(edges)]
        alone = [id_ for piece in pieces for id_ in part("cl100k_part")._encode_single_piece(piece)]
        assert alone == serial(part("cl100k_part"), text)


def test_without_a_regex_the_text_is_one_pre_token() -> None:
    facts = replace(facts_of(tokpar.load(part("default"))), scheme="whole", family=None)
    scanner = scanner_for(facts)
    assert scanner.refusal is None
    edges = scanner.edges("a b \U000125c4")
    assert edges is not None
    assert edges.tolist() == [0, 5]


@pytest.mark.parametrize("odd", ["\U000125c4", "\U00016139", "\u2e43", "\ud800"])
def test_a_character_on_which_engines_may_differ_is_refused(odd: str) -> None:
    assert scanner_of(part("cl100k_part")).edges(f"a {odd} b") is None
    assert scanner_of(part("cl100k_part")).edges("a b") is not None


def test_the_empty_text_has_one_edge() -> None:
    edges = scanner_of(part("cl100k_part")).edges("")
    assert edges is not None
    assert edges.tolist() == [0]


def test_a_tokenizer_that_cannot_be_scanned_is_refused_with_the_reason() -> None:
    facts = facts_of(tokpar.load(part("cl100k_part")))
    for changed, word in [
        ({"unprovable": "of no use"}, "of no use"),
        ({"prefix_space": True}, "changed text"),
        ({"scheme": "bert"}, "known regex"),
        ({"family": "nothing"}, "known regex"),
    ]:
        assert word in str(Scanner(replace(facts, **changed)).refusal)


def test_pictographs_lie_outside_the_frozen_set() -> None:
    frozen = {p for spans in load_atoms().values() for low, high in spans for p in (low, high)}
    assert frozen.isdisjoint(map(ord, PICTOGRAPHS))
    spans = sorted([*load_pictographs(), *(s for spans in load_atoms().values() for s in spans)])
    assert all(left[1] < right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize("engine", MEMBERS)
def test_every_engine_takes_pictographs_for_symbols_and_nothing_else(engine: str) -> None:
    members = MEMBERS[engine]
    assert members(r"\p{S}", PICTOGRAPHS) == set(PICTOGRAPHS)
    for other in (r"\p{L}", r"\p{M}", r"\p{N}", r"\p{P}", r"\s", r"\p{Z}", r"\p{C}"):
        assert members(other, PICTOGRAPHS) == set(), other
