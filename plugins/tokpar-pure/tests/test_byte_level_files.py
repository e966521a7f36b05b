"""Byte-level files of all shapes, read by ``engine="pure"``, against their own library: bytes that
are no tokens (StarCoder), stages behind ByteLevel (Falcon), marked ends of words (CLIP), sets in
sets (BLOOM)."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import below_one
from tests.support.byte_level_files import (
    DIGITS,
    HIDDEN,
    LETTERS,
    NEIGHBOURS,
    Config,
    byte_level,
    config_of,
    configs,
    lacking,
    loaded,
    native_ids,
)
from tokpar.formats.vocabulary import letters_of

pytestmark = pytest.mark.ids


@given(configs(), st.text("ab é1½²ñ.,中\U00040000<>/w\n", max_size=40))
@example(NEIGHBOURS, "a\U00040000")
@example(lacking("b", merges=("a c",)), "abc")
@example(config_of(LETTERS, [], [byte_level(), DIGITS]), "1²½a")
def test_the_ids_are_those_of_the_library(config: Config, text: str) -> None:
    native = native_ids(config, text)
    assert native in (None, loaded(config, "pure").encode(text).tolist())


def test_a_whole_pre_token_is_looked_up_before_bytes_are_dropped() -> None:
    config = lacking(HIDDEN)
    vocab = config["model"]["vocab"]
    vocab |= {"ab": 300, letters_of("\U00040000".encode()): 301}
    config["model"]["ignore_merges"] = True
    exact = loaded(config, "pure")
    for text, tokens in {"ab": [300], "\U00040000": [301], "a\U00040000": [*"aĢĢĢ"]}.items():
        assert exact.encode(text).tolist() == [vocab.get(token, token) for token in tokens]
    native = below_one().Tokenizer.from_str(json.dumps(config))
    assert native.encode("\U00040000").ids == [301]
