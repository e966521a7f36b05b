"""What a prompt shows of the objects of the package, and what help(tokpar) begins with."""

from __future__ import annotations

import pickle

import tokpar
from tests.conftest import needs_kernel

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
