"""What a prompt shows of the objects of the package, and what help(tokpar) begins with."""

from __future__ import annotations

import pickle
import pydoc
import tracemalloc
from typing import Any

import pytest
import tiktoken

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import named
from tests.support.tokenizers_drawn import DATA

TEXT = "The quick brown fox jumps over the lazy dog. " * 2000


@needs_kernel
def test_an_encoding_counts_its_seams() -> None:
    encoding = tokpar.encode(TEXT, workers=2)
    assert repr(encoding) == f"<Encoding of 28,001 ids, {len(encoding.seams):,} seams, " + (
        "lossless, strategy 'auto'>"
    )
    assert len(encoding.seams) == len([*encoding.seams]) > 17_000
    kept = repr(pickle.loads(pickle.dumps(encoding)))
    assert kept == (
        "<Encoding of 28,001 ids, 0 seams and one at each certified space of 1 region, "
        "lossless, strategy 'auto'>"
    )


def test_an_encoding_without_seams() -> None:
    encoding = tokpar.encode("Hello world")
    assert repr(encoding) == "<Encoding of 2 ids, 0 seams, lossless, strategy 'auto'>"


def test_an_encoder_names_its_tokenizer_and_what_was_chosen() -> None:
    tokenizer = tokpar.load("default")
    assert repr(tokpar.Encoder(tokenizer, workers=2)) == (
        f"<Encoder of {tokenizer.name!r}, strategy='auto', workers=2>"
    )
    given = repr(tokpar.Encoder(tokenizer, strategy="cut", workers=1, chunk_chars=500))
    assert given == (f"<Encoder of {tokenizer.name!r}, strategy='cut', workers=1, chunk_chars=500>")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("bert", "<HuggingFaceTokenizer 'huggingface:WordPiece'>"),
        ("tiktoken", "<TiktokenTokenizer 'tiktoken:drawn'>"),
        ("file", "<PureTokenizer 'pure:default'>"),
    ],
)
def test_an_adapter_names_the_engine(given: str, shown: str) -> None:
    tokenizer: Any = {
        "bert": lambda: named("bert_part"),
        "tiktoken": lambda: tiktoken.Encoding(
            "drawn",
            pat_str=r"\w+|\W",
            mergeable_ranks={bytes([k]): k for k in range(256)},
            special_tokens={},
        ),
        "file": lambda: tokpar.load(DATA / "default.json", engine="pure"),
    }[given]()
    assert repr(tokpar.load(tokenizer)) == shown


@needs_kernel
def test_seams_are_counted_without_a_list_of_them() -> None:
    with tokpar.Encoder() as encoder:
        encoding = encoder.encode(TEXT * 20)
    tracemalloc.start()
    try:
        assert len(encoding.seams) > 350_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 24 << 20, "of a part of the text at a time, however long it is"


def test_help_begins_with_two_screens_that_name_every_function() -> None:
    shown = pydoc.plain(pydoc.render_doc(tokpar))
    first = shown[: shown.index("PACKAGE CONTENTS")]
    assert len(first.splitlines()) <= 60
    assert max(map(len, first.splitlines())) <= 100
    functions = {
        name for name in tokpar.__all__ if type(getattr(tokpar, name)).__name__ == "function"
    }
    assert {name for name in functions if f"tokpar.{name}(" not in first} <= {"plugins"}
