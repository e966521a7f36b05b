"""Byte-level files of all shapes, read by ``engine="pure"`` and ``engine="incremental"``, against
their own library: bytes that are no tokens (StarCoder), stages behind ByteLevel (Falcon), marked
ends of words (CLIP), sets in sets (BLOOM)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_incremental.adapter import CharacterFile, PrefixFile, PrefixTokenizer

import tokpar
from tests.conftest import below_one
from tests.support.byte_level_files import (
    BLOOM,
    DIGITS,
    HIDDEN,
    LETTERS,
    Config,
    byte_level,
    config_of,
    configs,
    split,
)
from tokpar.errors import FileFormatError, OptionError
from tokpar.facts.hf_facts import facts_with_tokens
from tokpar.pure.vocabulary import letters_of

pytestmark = pytest.mark.ids


def loaded(config: Config, engine: str) -> Any:
    with file_of(config) as path:
        return tokpar.load(path, engine=engine)


@contextmanager
def file_of(config: Config) -> Iterator[str]:
    with TemporaryDirectory() as directory:
        path = Path(directory, "drawn.json")
        path.write_text(json.dumps(config), encoding="utf-8")
        yield str(path)


BELOW_ONE = find_spec("tokenizers.models") is not None


def native_ids(config: Config, text: str) -> list[int] | None:
    """None for files that 1.x refuses, or of which it may make other ids than 0.23: marked ends."""
    if not BELOW_ONE and config["model"].get("end_of_word_suffix"):
        return None
    with file_of(config) as path:
        try:
            native = Tokenizer.from_file(path)
            return [*native.encode(text, add_special_tokens=False).ids]
        except ValueError:
            if BELOW_ONE:
                raise
            return None


def lacking(*gone: str, merges: tuple[str, ...] = ()) -> Config:
    """Bytes without some, and merges "a b"."""
    pairs = [pair.split(" ") for pair in merges]
    kept = [letter for letter in LETTERS if letter not in gone]
    vocab = dict.fromkeys([*kept, *("".join(pair) for pair in pairs)])
    return config_of([*vocab], pairs, [byte_level(use_regex=False)])


NEIGHBOURS = lacking(HIDDEN, merges=("a Ģ",))
"""A byte that is dropped stands between those that merge."""


@given(configs(), st.text("ab é1½²ñ.,中\U00040000<>/w\n", max_size=40))
@example(NEIGHBOURS, "a\U00040000")
@example(lacking("b", merges=("a c",)), "abc")
@example(config_of(LETTERS, [], [byte_level(), DIGITS]), "1²½a")
def test_both_engines_have_the_ids_of_the_library(config: Config, text: str) -> None:
    exact = loaded(config, "pure")
    ids = exact.encode(text)
    native = native_ids(config, text)
    assert native is None or ids.tolist() == native
    try:
        adapter = loaded(config, "incremental")
    except FileFormatError as error:  # a merge of the unknown token, or of what looks like an end
        if "model merges" not in str(error):
            raise
        return
    assert adapter.encode(text).tolist() == ids.tolist()
    assert adapter.locate(ids, text).tolist() == exact.locate(ids, text).tolist()


def test_a_byte_without_a_token_makes_neighbours_of_those_around_it() -> None:
    vocab, text = NEIGHBOURS["model"]["vocab"], "a\U00040000b"
    expected = [vocab[token] for token in ("aĢ", "Ģ", "Ģ", "b")]
    for engine in ("pure", "incremental"):
        assert loaded(NEIGHBOURS, engine).encode(text).tolist() == expected
    native = below_one().Tokenizer.from_str(json.dumps(NEIGHBOURS))
    assert native.encode(text).ids == expected


def test_a_whole_pre_token_is_looked_up_before_bytes_are_dropped() -> None:
    config = lacking(HIDDEN)
    vocab = config["model"]["vocab"]
    vocab |= {"ab": 300, letters_of("\U00040000".encode()): 301}
    config["model"]["ignore_merges"] = True
    exact, adapter = loaded(config, "pure"), loaded(config, "incremental")
    for text, tokens in {"ab": [300], "\U00040000": [301], "a\U00040000": [*"aĢĢĢ"]}.items():
        expected = [vocab.get(token, token) for token in tokens]
        assert exact.encode(text).tolist() == adapter.encode(text).tolist() == expected
    native = below_one().Tokenizer.from_str(json.dumps(config))
    assert native.encode("\U00040000").ids == [301]


def test_tokens_do_not_tile_a_text_where_a_byte_may_be_dropped() -> None:
    whole, config = lacking(), lacking(HIDDEN)
    assert facts_with_tokens(whole).tiles
    for engine in ("pure", "incremental"):
        facts = loaded(config, engine).facts
        assert not facts.tiles
        assert facts.sizes is None


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (lacking(), PrefixTokenizer),
        (lacking() | {"normalizer": {"type": "NFC"}}, PrefixFile),
        (lacking("\u00c0"), PrefixTokenizer),
        (lacking(HIDDEN), CharacterFile),
        (config_of(LETTERS, [], [byte_level(), DIGITS]), CharacterFile),
        (config_of(LETTERS, [], [byte_level()], end_of_word_suffix="</w>"), CharacterFile),
        (config_of(LETTERS, [], [split(BLOOM), byte_level(use_regex=False)]), PrefixTokenizer),
    ],
)
def test_bytes_are_read_as_bytes_where_each_is_a_token(config: Config, kind: type) -> None:
    adapter = loaded(config, "incremental")
    assert type(adapter) is kind
    again, arguments = adapter.spec()
    text = "Naïve 中文, 12½ \U00040000"
    assert again(**arguments).encode(text).tolist() == adapter.encode(text).tolist()
    native = native_ids(config, text)
    assert native in (None, adapter.encode(text).tolist())


def test_a_proper_order_is_refused_where_a_byte_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "lacking.json"
    path.write_text(json.dumps(lacking(HIDDEN)), encoding="utf-8")
    with pytest.raises(OptionError, match="properize is for BPE of bytes, each of which"):
        tokpar.load(path, engine="incremental", properize=True)
