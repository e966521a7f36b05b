"""Byte-level files of all shapes, against ``engine="pure"``: bytes that are no tokens (StarCoder),
stages behind ByteLevel (Falcon), marked ends of words (CLIP), sets in sets (BLOOM)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_incremental.adapter import CharacterFile, PrefixFile, PrefixTokenizer

import tokpar
from tests.support.byte_level_files import (
    BLOOM,
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
    split,
)
from tokpar.errors import FileFormatError, OptionError

pytestmark = pytest.mark.ids


@given(configs(), st.text("ab é1½²ñ.,中\U00040000<>/w\n", max_size=40))
@example(NEIGHBOURS, "a\U00040000")
@example(lacking("b", merges=("a c",)), "abc")
@example(config_of(LETTERS, [], [byte_level(), DIGITS]), "1²½a")
def test_the_ids_are_those_of_the_pure_engine(config: Config, text: str) -> None:
    exact = loaded(config, "pure")
    ids = exact.encode(text)
    try:
        adapter = loaded(config, "incremental")
    except FileFormatError as error:  # a merge of the unknown token, or of what looks like an end
        if "model merges" not in str(error):
            raise
        return
    assert adapter.encode(text).tolist() == ids.tolist()
    assert adapter.locate(ids, text).tolist() == exact.locate(ids, text).tolist()


def test_tokens_do_not_tile_a_text_where_a_byte_may_be_dropped() -> None:
    facts = loaded(lacking(HIDDEN), "incremental").facts
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
