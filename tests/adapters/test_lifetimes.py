"""A tokenizer that was loaded, used and dropped leaves nothing behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken
from tokenizers import Tokenizer

import tokpar
from tests.support.lifetimes import reference_to
from tests.support.paths import VOCAB
from tests.support.seams import part
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.cuts.normalizer_invariant import inert_for

TEXT = "Some words, 1234567 of them, and " + "aaaabbbbcdcd" * 300 + " at the end of it. " * 300


def copied(name: str) -> tiktoken.Encoding:
    own = part(name)
    return tiktoken.Encoding(
        "again",
        pat_str=own._pat_str,
        mergeable_ranks=own._mergeable_ranks,
        special_tokens=own._special_tokens,
    )


SOURCES: dict[str, Callable[[], Any]] = {
    "file of huggingface": lambda: tokpar.load(VOCAB / "deepseek_part.json"),
    "bert": lambda: tokpar.load(VOCAB / "bert_part.json"),
    "object of huggingface": lambda: tokpar.load(
        Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    ),
    "object of tiktoken": lambda: tokpar.load(copied("cl100k_part"), allowed_special="all"),
    "pure file": lambda: tokpar.load(VOCAB / "deepseek_part.json", engine="pure"),
}


def used(make: Callable[[], Any]) -> list[weakref.ref[Any]]:
    """Everything is done once with a tokenizer; what then should be gone."""
    adapter = make()
    facts = facts_of(adapter)
    for strategy in ("auto", "cut", "recursive", "blocks", "lopt"):
        with tokpar.Encoder(adapter, strategy=strategy) as encoder:
            encoding = encoder.encode(TEXT)
            encoder.encode_batch([TEXT, "x"])
            encoder.encode(TEXT[:10])
        assert len(encoding.spans) == len(encoding.ids)
        assert tokpar.check(encoding, TEXT, adapter).ok
    tokpar.encode(TEXT, adapter)
    assert sum(1 for _ in tokpar.stream([TEXT[:50], TEXT[50:]], adapter)) > 0
    alive = [adapter, facts, finder_for(facts), inert_for(facts), encoder]
    engines = ("_chunks", "engine", "encoding", "_tokenizer")
    alive += [getattr(adapter, name) for name in engines if hasattr(adapter, name)]
    return [reference_to(each) for each in alive]


@pytest.mark.compiled_at_once  # a thread that makes tables has the tokenizer
@pytest.mark.parametrize("name", SOURCES)
def test_nothing_of_a_tokenizer_that_was_used_and_dropped_stays(name: str) -> None:
    references = used(SOURCES[name])
    gc.collect()  # the adapter, and with it the object that `load` keeps what it learned for,
    gc.collect()  # and then that
    assert [reference() for reference in references if reference() is not None] == []
