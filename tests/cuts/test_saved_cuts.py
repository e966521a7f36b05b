"""cl100k written as tokenizer.json: its spelling of the regex is known, so that text is cut."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_pure.formats import rank_vocabulary
from tokpar_train.save import tokenizer_json, write_tokenizer_json

import tokpar
from tests.support.paths import VOCAB
from tests.support.seams import assert_adapter_lossless, assert_lossless
from tokpar.files.formats import read_ranks
from tokpar.files.vocabulary import Vocabulary
from tokpar.interfaces import TokenizerAdapter
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.patterns.shipped_patterns import CL100K

pytestmark = pytest.mark.ids

PATTERN = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
RANKS = read_ranks(VOCAB / "cl100k_part.tiktoken")
PROSE = "I'LL say: don't  stop.\n \nIt's 1234567 \r\n\n\tand 中文, x = [0];  \n" * 12
texts = st.text(st.sampled_from("aASstlL'’01２ \t\n\r\x85\u3000.,/-é中カ😀"), max_size=40)


def vocabulary() -> Vocabulary:
    return rank_vocabulary("cl100k_part", RANKS, PATTERN, {})


@functools.cache
def native() -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "cl100k_part", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens={}
    )


@functools.cache
def saved() -> dict[str, Any]:
    return tokenizer_json(vocabulary())


@functools.cache
def in_hf() -> Tokenizer:
    return Tokenizer.from_str(json.dumps(saved()))


@pytest.fixture(scope="module")
def file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cl100k.json"
        write_tokenizer_json(vocabulary(), path)
        yield path


@pytest.fixture(scope="module")
def in_python(file: Path) -> TokenizerAdapter:
    return tokpar.load(file, engine="pure")


def written_pattern() -> str:
    pattern: str = saved()["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    return pattern


@pytest.mark.parametrize("engine", ["oniguruma", "regex", "fancy-regex"])
def test_what_is_written_is_a_spelling_of_tiktokens_pattern(engine: str) -> None:
    found = shipped_pattern(engine, (written_pattern(),))
    assert found is not None
    assert found.proof == ("pattern", "cl100k_tiktoken")


def test_both_spellings_have_the_same_pieces_on_all_short_texts_of_symbols() -> None:
    found = shipped_pattern("regex", (written_pattern(),))
    assert found is not None
    symbol_of = found.table.symbol_of
    chars = [chr(int((symbol_of == c).argmax())) for c in range(found.table.size)]
    theirs, ours = regex.compile(PATTERN), regex.compile(written_pattern())
    for size in range(1, 5):
        for word in product(chars, repeat=size):
            text = "".join(word)
            assert ours.findall(text) == theirs.findall(text), text


def test_the_older_cl100k_is_another_pattern() -> None:
    assert regex.findall(CL100K, "\n ") != regex.findall(written_pattern(), "\n ")


@pytest.mark.parametrize("engine", [None, "pure"], ids=["hf", "pure"])
def test_a_saved_cl100k_is_cut_into_several_chunks(file: Path, engine: str | None) -> None:
    chosen = {} if engine is None else {"engine": engine}
    adapter = tokpar.load(file, **chosen)
    encoding = tokpar.encode(PROSE, adapter, strategy="cut", executor="serial", chunk_chars=50)
    assert encoding.report.chunks > 10
    assert {seam.rule for seam in encoding.seams} == {"PAIR"}
    assert encoding.lossless
    assert encoding.ids.tolist() == native().encode_ordinary(PROSE)
    assert tokpar.check(encoding, PROSE, adapter).ok


@given(texts)
@example("a\n  ")
@example("\r ")
@example("1234 \n\n  x")
def test_every_strategy_gives_the_serial_ids_in_hf(text: str) -> None:
    assert_lossless(in_hf(), text, sizes=(1, 3))


@given(text=texts)
@example(text="a\n  ")
@example(text="\r ")
@example(text="1234 \n\n  x")
def test_every_strategy_gives_the_serial_ids_in_python(
    in_python: TokenizerAdapter, text: str
) -> None:
    assert_adapter_lossless(in_python, native().encode_ordinary(text), text, sizes=(1, 3))
