"""cl100k written as tokenizer.json: its spelling of the regex is known, so that text is cut."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tokpar_pure.formats import rank_vocabulary
from tokpar_train.save import tokenizer_json, write_tokenizer_json

import tokpar
from tests.support.paths import VOCAB
from tokpar.formats.formats import read_ranks
from tokpar.formats.vocabulary import Vocabulary
from tokpar.patterns.known_pattern import shipped_pattern

pytestmark = pytest.mark.ids

PATTERN = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
RANKS = read_ranks(VOCAB / "cl100k_part.tiktoken")
PROSE = "I'LL say: don't  stop.\n \nIt's 1234567 \r\n\n\tand 中文, x = [0];  \n" * 12


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


@pytest.fixture(scope="module")
def file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cl100k.json"
        write_tokenizer_json(vocabulary(), path)
        yield path


def written_pattern() -> str:
    pattern: str = saved()["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    return pattern


@pytest.mark.parametrize("engine", ["oniguruma", "regex", "fancy-regex"])
def test_what_is_written_is_a_spelling_of_tiktokens_pattern(engine: str) -> None:
    found = shipped_pattern(engine, (written_pattern(),))
    assert found is not None
    assert found.proof == ("pattern", "cl100k_tiktoken")


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
