"""Whole corpora through the full vocabularies, when the environment names them.

TOKPAR_VOCAB and TOKPAR_CORPORA are directories; see conftest.py. Takes minutes: run by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.benchmarks.texts import read_texts, standard_library
from tests.support.optional_data import directory, full_vocabularies

FILES = ["deepseek.json", "bert.json", "cl100k_base.tiktoken", "o200k_base.tiktoken"]
SMALL: dict[str, Any] = {"chunk_chars": 512, "overlap_chars": 64}
WAYS: list[tuple[str, dict[str, Any]]] = [
    *((s, {"chunk_chars": size}) for s in ("cut", "auto") for size in (64, 512, 4096)),
    *((s, {}) for s in ("cut", "auto", "lopt", "recursive", "blocks")),
    ("lopt", SMALL),
    ("lopt", {**SMALL, "on_failure": "restart"}),
    ("blocks", SMALL),
    ("recursive", {"depth": 7}),
]


@pytest.fixture(scope="module")
def everything(request: pytest.FixtureRequest) -> list[str]:
    """All texts of all corpora, then the standard library as one text."""
    folder = directory("TOKPAR_CORPORA")
    texts = [text for path in sorted(folder.glob("*.jsonl")) for text in read_texts(path)]
    return [*texts, standard_library()]


def loaded(path: Path) -> tuple[Any, Callable[[str], list[int]]]:
    """An adapter and the own call of the tokenizer it stands for."""
    if path.suffix == ".json":
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokpar.load(tokenizer), lambda text: tokenizer.encode_batch_fast([text])[0].ids
    adapter = tokpar.load(path, disallowed_special=())
    return adapter, lambda text: adapter.encoding.encode_ordinary(text)


@pytest.mark.parametrize("file", [file for file in FILES if file in full_vocabularies()])
def test_corpora_are_lossless_at_every_chunk_size(
    file: str, full_vocab: Callable[[str], Path], everything: list[str]
) -> None:
    adapter, own = loaded(full_vocab(file))
    encoders = [tokpar.Encoder(adapter, strategy=strategy, **options) for strategy, options in WAYS]
    seams = 0
    for text in everything:
        expected = own(text)
        for encoder in encoders:
            encoding = encoder.encode(text)
            assert encoding.ids.tolist() == expected
            assert encoding.lossless
            seams += len(encoding.seams)
    assert seams > 100_000
    print(f"{file}: {len(everything)} texts, {seams:,} seams, all equal")


def test_stored_truncation_and_padding_are_applied_once(full_vocab: Callable[[str], Path]) -> None:
    path = full_vocab("bert.json")
    own = Tokenizer.from_file(str(path))
    adapter = tokpar.load(path)
    for text in ("", "short text", "word " * 5000):
        encoding = tokpar.encode(text, adapter, strategy="cut", chunk_chars=64)
        assert encoding.ids.tolist() == own.encode(text).ids
        assert len(encoding.ids) == 128
