"""Level `model` accepts exactly the engine's ids of a byte-level BPE tokenizer (theorem 32)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_model import model_findings
from tokpar_pure.adapter import load as load_pure

from tests.conftest import needs_below_one
from tests.recipes.model_by_hand import one_world
from tests.support.model_worlds import (
    LETTERS,
    Ids,
    added,
    bpe_config,
    forged,
    numbered,
    proved,
    spelled,
)
from tests.support.paths import VOCAB
from tests.support.texts import texts
from tests.support.tokenizers_drawn import named_tokenizers, tiktoken_encodings
from tokpar.adapters.hf_version import load as load_hf
from tokpar.adapters.tiktoken import load as load_tiktoken

pytestmark = needs_below_one
Bytes = Mapping[int, bytes]


def tilings(text: bytes, tokens: Bytes) -> Iterator[Ids]:
    """All rows of tokens that spell a text."""
    if not text:
        yield []
    for id_, data in tokens.items():
        if data and text.startswith(data):
            yield from ([id_, *rest] for rest in tilings(text[len(data) :], tokens))


TABLES = {
    "plain": [["a", "b"], ["ab", "a"], ["b", "b"]],
    "improper": [["aa", "aa"], ["aa", "b"], ["a", "a"]],
    "one that merging does not make": [["a", "b"], ["a", "a"], ["aa", "b"]],
    "twice": [["a", "b"], ["b", "a"], ["a", "b"]],
    "of a loose token": [["ba", "a"], ["a", "b"]],
    "same token twice": [["a", "ab"], ["a", "a"], ["aa", "b"], ["a", "b"]],
}


@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize("merges", TABLES.values(), ids=list(TABLES))
def test_of_all_tilings_of_short_texts_only_the_engine_s_ids_are_accepted(
    merges: list[list[str]], ignore_merges: bool
) -> None:
    tokens = numbered("a", "b", *(t for pair in merges for t in (*pair, "".join(pair))), "bba")
    config = bpe_config(tokens, merges, ignore_merges=ignore_merges)
    engine = Tokenizer.from_str(json.dumps(config))
    for size in range(5):
        for text in map("".join, product("ab", repeat=size)):
            ids = engine.encode(text).ids
            rows = [*tilings(text.encode(), spelled(config))]
            assert [row for row in rows if proved(config, text, row).ok] == [ids]


@pytest.mark.parametrize("more", [("ab", "aba"), ("aa", "ba", "aab"), ("bb", "abb", "abba", "ab")])
def test_of_all_tilings_only_tiktoken_s_ids_are_accepted(more: tuple[str, ...]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token.encode(): 256 + k for k, token in enumerate(more)}
    engine = tiktoken.Encoding(
        "small", pat_str="a?b+|[^b]", mergeable_ranks=ranks, special_tokens={"aa": 300}
    )
    adapter = load_tiktoken(engine, allowed_special={"aa"})
    assert adapter is not None
    tokens = {id_: token for token, id_ in ranks.items()} | {300: b"aa"}
    for size in range(5):
        for text in map("".join, product("ab", repeat=size)):
            ids = engine.encode(text, allowed_special="all")
            rows = [*tilings(text.encode(), tokens)]
            assert [row for row in rows if model_findings(adapter, text, row).ok] == [ids]


@given(st.integers(0, 1 << 32))
def test_drawn_files_have_no_wrong_verdict(seed: int) -> None:
    one_world(random.Random(seed), Counter(), texts=3)


@given(tiktoken_encodings(), texts(), st.integers(0, 1 << 32))
def test_drawn_encodings_have_no_wrong_verdict(
    encoding: tiktoken.Encoding, text: str, seed: int
) -> None:
    adapter = load_tiktoken(encoding, allowed_special="all")
    assert adapter is not None
    ids = adapter.encode(text).tolist()
    proof = model_findings(adapter, text, ids)
    assert proof.ok or proof.refusal, proof
    tokens = {id_: token for token, id_ in encoding._mergeable_ranks.items()}
    for other in forged(random.Random(seed), ids, tokens):
        assert other == ids or not model_findings(adapter, text, other).ok


TEXT = (
    "The café at 12345 O'Clock:\n\n\tdef f(x):\n        return x[1:]  # 中文 и ещё\n"
    "  They'LL say \"don't\"...  😀 naïve   spaces   \n\n\n====----==== 3.14159 <|endoftext|> ΑΒΓ\n"
)


OUTSIDE = {"llama_style": "normalizer", "metaspace_unigram": "model"}


@pytest.mark.parametrize("name", sorted(named_tokenizers()))
def test_ids_of_real_vocabularies_are_proved_and_forged_ones_are_not(name: str) -> None:
    source = named_tokenizers()[name]
    adapter = load_hf(source) or load_tiktoken(source)
    assert adapter is not None
    part = TEXT.replace("😀", "") if name == "bert_part" else TEXT
    for text in (part, part * 30):
        ids = adapter.encode(text).tolist()
        proof = model_findings(adapter, text, ids)
        outside = OUTSIDE.get(name)
        assert (proof.ok, proof.refusal and proof.refusal[0]) == (outside is None, outside)
        tokens = {id_: adapter.token_bytes(id_) or b"" for id_ in {*ids, *range(2000)}}
        for other in forged(random.Random(name), ids, tokens):
            assert other == ids or not model_findings(adapter, text, other).ok


def test_the_pure_tokenizer_s_ids_are_proved_from_its_vocabulary() -> None:
    adapter = load_pure(VOCAB / "cl100k_part.tiktoken", name="cl100k_base")
    assert adapter is not None
    ids = adapter.encode(TEXT).tolist()
    assert model_findings(adapter, TEXT, ids).ok
    assert not model_findings(adapter, TEXT, [*ids[:-1], ids[-1] - 1]).ok


def test_the_proof_names_the_tables_and_what_it_assumes() -> None:
    proof = proved(bpe_config(numbered("a", "b")), "ab", np.array([0, 1], dtype=np.uint32))
    assert proof.ok
    assert len(proof.assumptions) == 2
    assert "sha256" in proof.assumptions[0]
    assert "character classes" in proof.assumptions[1]


def test_added_tokens_are_found_in_two_rounds_as_the_engine_finds_them() -> None:
    """Tokens that are searched in normalized text come second, even where they begin earlier."""
    tokens = [added("ab", 256, normalized=True), added("bb", 257)]
    config = bpe_config(numbered(*LETTERS), tokens=tokens)
    for text in map("".join, product("ab", repeat=5)):
        ids = Tokenizer.from_str(json.dumps(config)).encode(text).ids
        every = {**spelled(config), 256: b"ab", 257: b"bb"}
        rows = [*tilings(text.encode(), every)]
        assert [row for row in rows if proved(config, text, row).ok] == [ids]


def test_an_engine_that_does_not_match_special_tokens_has_none() -> None:
    config = bpe_config(numbered(*LETTERS), tokens=[added("ab", 256, special=True)])
    engine = Tokenizer.from_str(json.dumps(config))
    engine.encode_special_tokens = True
    adapter = load_hf(engine)
    assert adapter is not None
    ids = engine.encode("xaby").ids
    assert len(ids) == 4
    assert model_findings(adapter, "xaby", ids).ok
    assert not model_findings(adapter, "xaby", [ids[0], 256, ids[-1]]).ok


@pytest.mark.parametrize(("char", "letter"), [("\u017f", "s"), ("\u212a", "k")])
def test_ids_of_a_folded_letter_are_not_judged(char: str, letter: str) -> None:
    """The engine takes "'" and the letter as one pre-token. No other class of the pattern is
    undecided on it, so the two pieces of a machine without folding would pass."""
    whole = f"'{char}".encode()
    ranks = {bytes([b]): b for b in range(256)}
    ranks |= {whole[: 2 + k]: 256 + k for k in range(len(whole) - 1)}
    encoding = tiktoken.Encoding(
        "folded", pat_str=rf"'(?i:{letter})|[^']|'", mergeable_ranks=ranks, special_tokens={}
    )
    adapter = load_tiktoken(encoding)
    assert adapter is not None
    text = f"'{char}"
    right = adapter.encode(text)
    assert len(right) == 1
    for ids in (right, list(whole)):
        proof = model_findings(adapter, text, ids)
        assert proof.refusal is not None
        assert proof.refusal[0] == "class"
    plain = f"'{letter}"
    assert model_findings(adapter, plain, adapter.encode(plain)).ok
