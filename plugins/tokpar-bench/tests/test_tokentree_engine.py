"""TokenTree against the definition of longest match, and behind its adapter."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_bench.tokentree_engine import TokenTree, TreeTokenizer
from tokpar_conformance import check_tokenizer
from tokpar_pure.adapter import PureTokenizer
from tokpar_pure.formats import rank_vocabulary
from tokpar_pure.tokenizer import exact_model

import tokpar
from tests.conftest import cases, drawn
from tests.support.paths import DEFAULT, VOCAB
from tests.support.rewritten_patterns import CHANGED
from tests.support.special_prefixes import BOTH, NAMED
from tokpar.cli import main
from tokpar.errors import FileFormatError, OptionError
from tokpar.formats.vocabulary import Vocabulary

DEEPSEEK = VOCAB / "deepseek_part.json"
CL100K = VOCAB / "cl100k_part.tiktoken"
PATTERN = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
ENDOFTEXT = "<|endoftext|>"
ANYTHING = r"[\s\S]+"
BYTES = {bytes([byte]): byte for byte in range(256)}
NAMES = ("deepseek_part", "cl100k_part", "default")

tokens = st.lists(st.binary(min_size=2, max_size=9) | st.text("abé中", min_size=2).map(str.encode))
pieces = st.text("abcé中", max_size=90) | st.text(max_size=40)


def ranks_of(drawn: list[bytes]) -> dict[bytes, int]:
    return BYTES | {token: 256 + i for i, token in enumerate(dict.fromkeys(drawn))}


def vocabulary_of(drawn: list[bytes], pattern: str = ANYTHING) -> Vocabulary:
    return rank_vocabulary("drawn", ranks_of(drawn), pattern, {"<s>": 9000})


def longest_match(ranks: dict[bytes, int], piece: bytes) -> list[int]:
    """The definition."""
    ids = []
    while piece:
        token = max((token for token in ranks if piece.startswith(token)), key=len)
        ids.append(ranks[token])
        piece = piece[len(token) :]
    return ids


@cache
def tree(name: str) -> TreeTokenizer:
    if name == "default":
        adapter = tokpar.load(engine="tokentree")
    elif name == "deepseek_part":
        adapter = tokpar.load(DEEPSEEK, engine="tokentree")
    else:
        adapter = tokpar.load(
            CL100K, engine="tokentree", pat_str=PATTERN, special_tokens={ENDOFTEXT: 300_000}
        )
    assert isinstance(adapter, TreeTokenizer)
    return adapter


# The model


@given(tokens, pieces)
@example([b"abcd", b"bc"], "abcabcd")
@example([b"aaa", b"aaaaaa"], "a" * 200)
@example([b"abcdef"], "abcde")
@example([b"ab"], "")
@example([b"\xc3\xa9\xe4", b"\xb8"], "é中")
def test_a_piece_is_cut_at_the_longest_token_each_time(drawn: list[bytes], piece: str) -> None:
    ranks = ranks_of(drawn)
    expected = longest_match(ranks, piece.encode())
    model = TokenTree(ranks)
    assert list(model.encode(piece)) == expected
    assert model.encode_all([piece, piece]) == expected * 2
    assert [span[0] for span in model.spans(piece)] == expected


def test_spans_are_the_characters_that_a_token_touches() -> None:
    model = TokenTree(ranks_of([b"a\xc3", b"\xa9b"]))
    assert model.spans("aéb") == [(256, 0, 2), (257, 1, 3)]


def test_a_long_pre_token_is_cut_in_linear_time() -> None:
    """Quadratic would be minutes."""
    model = TokenTree(ranks_of([b"a" * n for n in range(2, 65)]))
    assert model.encode("a" * 640_000) == (256 + 62,) * 10_000


def test_longest_match_is_not_what_merging_makes() -> None:
    """BPE merges "bc" first, TokenTree takes "ab"."""
    vocabulary = vocabulary_of([b"bc", b"ab"])
    assert exact_model(vocabulary).encode("abc") == (97, 256)
    assert TokenTree(vocabulary.tokens).encode("abc") == (257, 99)


# The adapter


def test_errors_are_those_of_the_exact_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="bert_part"):
        tokpar.load(VOCAB / "bert_part.json", engine="tokentree")
    with pytest.raises(OptionError, match="pass pat_str"):
        tokpar.load(CL100K, engine="tokentree")
    words = tmp_path / "vocab.txt"
    words.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    with pytest.raises(FileFormatError, match=r"vocab\.txt: normalizer BertNormalizer is not"):
        tokpar.load(words, engine="tokentree")
    with pytest.raises(FileNotFoundError):
        tokpar.load(tmp_path / "none.json", engine="tokentree")
    with pytest.raises(OptionError, match="lone surrogate at position 1"):
        tree("cl100k_part").encode("a\ud800")
    settings: dict[str, Any] = {"engine": "tokentree", "special_tokens": {}}
    for pattern in CHANGED:
        with pytest.raises(OptionError, match=r"fancy-regex may take .* engine='tiktoken'"):
            tokpar.load(CL100K, pat_str=pattern, **settings)
    with pytest.raises(OptionError, match=NAMED):
        tokpar.load(CL100K, pat_str=PATTERN, **settings | {"special_tokens": BOTH})


@pytest.mark.parametrize("name", NAMES)
def test_its_facts_allow_cuts_between_pre_tokens_only(name: str) -> None:
    facts, exact = tree(name).facts, PureTokenizer(tree(name).vocabulary()).facts
    assert facts is tree(name).facts
    assert facts.model == "TokenTree"
    assert facts.tokens is None
    assert (facts.engine, facts.patterns, facts.unprovable) == ("regex", exact.patterns, None)
    assert facts.longest_token == exact.longest_token


@pytest.mark.parametrize("path", cases([DEEPSEEK, DEFAULT], [DEFAULT]), ids=lambda path: path.stem)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_it_conforms(path: Path) -> None:
    check_tokenizer(tokpar.load(path, engine="tokentree"), examples=drawn(15))


@pytest.mark.parametrize("path", [DEEPSEEK, DEFAULT], ids=lambda path: path.stem)
def test_conform_says_that_the_ids_are_not_those_of_bpe(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--tokenizer", str(path), "--json", "--fail-fast", "--examples", "0")
    assert main(["conform", "tokentree", *options]) == 1
    got = json.loads(capsys.readouterr().out)
    assert (got["conforms"], got["failed"]) == (False, ["reference"])
