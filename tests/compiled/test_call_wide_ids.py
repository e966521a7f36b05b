"""The compiled call of tokenizers whose ids lie far apart: an id is measured where it is used."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.call_answers import call_of
from tests.support.calls_drawn import DRAWN, GPT2, draw_text
from tests.support.wide_ids import draw_wide_file, draw_wide_ranks
from tokpar.compiled import call_tables, compiled_build
from tokpar.compiled.merges import GateError
from tokpar.decoding import text_table
from tokpar.formats.vocabulary import letters_of
from tokpar.process.interrupts import raise_foreign

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
SEEDS = st.integers(0, 1 << 60)
WIDE = 1 << 21


def own(encode: Callable[[], Any]) -> Any:
    """What the engine gives, or None where it panics."""
    try:
        return encode()
    except BaseException as error:
        raise_foreign(error)
        return None


@pytest.mark.parametrize("kind", DRAWN)
@at_most(100)
@given(seed=SEEDS)
def test_files_with_ids_far_apart_have_the_engine_s_ids_and_places(
    kind: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    draw = random.Random(seed)
    written, parts = draw_wide_file(draw, kind)
    tokenizer = Tokenizer.from_str(written)
    path = tmp_path_factory.getbasetemp() / f"{kind}.json"
    path.write_text(written)
    call = call_of(str(path))
    texts = [draw_text(draw, parts) for _ in range(20)] if call else []
    for text in texts * 2:  # again, from what was learned
        encoding = own(lambda text=text: tokenizer.encode(text, add_special_tokens=False))
        found, places = call.encode_plain(text), call.places(text)
        assert found is None or found.tolist() == encoding.ids, text
        if places is not None:
            assert places.ids.tolist() == encoding.ids, text
            assert [*map(tuple, places.spans.tolist())] == encoding.offsets, text


@at_most(100)
@given(seed=SEEDS)
def test_ranks_far_apart_have_tiktoken_s_ids(seed: int) -> None:
    draw = random.Random(seed)
    ranks, pattern, parts = draw_wide_ranks(draw)
    encoding = tiktoken.Encoding("wide", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    call = call_of(encoding)
    for text in [draw_text(draw, parts) for _ in range(20 if call else 0)] * 2:
        found = call.encode_plain(text)
        assert found is None or found.tolist() == encoding.encode_ordinary(text), text


def file_with(vocab: dict[str, int], merges: list[list[str]]) -> str:
    """A byte-level file: `vocab` beside the bytes, which have their numbers as ids unless `vocab`
    says otherwise."""
    letters = {letters_of(bytes([byte])): byte for byte in range(256)}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "vocab": letters | vocab}
    model |= {"merges": merges, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model |= {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    stage = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    parts = {"normalizer": None, "pre_tokenizer": stage, "post_processor": None, "decoder": stage}
    empty = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": []}
    return json.dumps(empty | parts | {"model": model})


@pytest.mark.parametrize("wide", [WIDE - 1, WIDE, WIDE + ord("b"), (1 << 28) + ord("b")])
def test_a_byte_in_no_merge_keeps_its_id_and_the_compiled_call(wide: int, tmp_path: Path) -> None:
    """An id of 2**21 + the id of "b" makes the key of "a" and "b" of "a" and itself."""
    path = tmp_path / "tokenizer.json"
    path.write_text(file_with({"ab": 256, "q": wide}, [["a", "b"]]))
    tokenizer, call = Tokenizer.from_file(str(path)), call_of(str(path))
    for text in ("aq", "the aquarium", "qq qa", "ab" * 30 + "aq" * 30, "中aq" * 50):
        own_encoding, places = tokenizer.encode(text), call.places(text)
        assert call.encode(text).tolist() == places.ids.tolist() == own_encoding.ids
        assert [*map(tuple, places.spans.tolist())] == own_encoding.offsets


def test_what_a_merge_makes_may_have_a_wide_id_and_where_its_parts_have_the_engine_is_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(file_with({"ab": WIDE + 7}, [["a", "b"]]))
    expected = Tokenizer.from_file(str(path)).encode("abba abab").ids
    assert call_of(str(path)).encode("abba abab").tolist() == expected
    for part, by_file in ((WIDE - 2, True), (WIDE - 1, False), (WIDE, False)):
        path.write_text(file_with({"ab": 256, "b": part}, [["a", "b"]]))
        assert call_of(str(path)).asks_engine != by_file


def test_two_ids_of_21_set_bits_do_not_meet_a_free_slot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their key is that of a free slot. The filter of pairs lets all through, as a hash may."""
    made = call_tables.pair_arrays

    def unfiltered(*columns: Any) -> Any:
        arrays = made(*columns)
        return arrays | {"may_be": np.full_like(arrays["may_be"], ~np.uint64(0))}

    monkeypatch.setattr(call_tables, "pair_arrays", unfiltered)
    path = tmp_path / "tokenizer.json"
    path.write_text(file_with({"ab": 256, "q": WIDE - 1}, [["a", "b"]]))
    found = call_of(str(path)).encode("qqq qab" * 9)
    assert found.tolist() == Tokenizer.from_file(str(path)).encode("qqq qab" * 9).ids


def test_added_tokens_have_no_more_bytes_than_the_tree_of_them_has_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The number of a node has 24 bits in the key of an edge."""
    token = 0, 0, False
    monkeypatch.setattr(call_tables, "_NODE_BITS", 4)
    call_tables._added_arrays({"<seven>": token, "<eight!>": token})
    with pytest.raises(GateError, match="its added tokens have"):
        call_tables._added_arrays({"<seven>": token, "<eight!>": token, "x": token})


@pytest.mark.parametrize("bits", [8, 12])
def test_tokens_have_no_more_bytes_than_a_place_may_be(
    bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """256 bytes and "ab" have 258 bytes together."""
    monkeypatch.setattr(call_tables, "_PLACE_BITS", bits)
    path = tmp_path / "tokenizer.json"
    path.write_text(file_with({"ab": 256}, [["a", "b"]]))
    adapter: Any = tokpar.load(str(path))
    assert adapter.later_call.call.asks_engine == (bits == 8)


def source_with(kind: str, wide: int) -> Any:
    """A small file or encoding; the id of one token that no merge has is `wide`."""
    if kind == "ranks":
        ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"q": wide}
        return tiktoken.Encoding("one", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
    written = json.loads(DRAWN[kind](random.Random(7)).to_str())
    vocab, merges = written["model"]["vocab"], written["model"].get("merges", [])
    parts = {part for merge in merges for part in merge}
    vocab[next(token for token in reversed(vocab) if token not in parts)] = wide
    return json.dumps(written)


@pytest.mark.parametrize("wide", [1 << 20, 1 << 21, 1 << 26, (1 << 31) - 1])
@pytest.mark.parametrize("kind", [*DRAWN, "ranks"])
def test_no_table_has_an_item_for_each_id_that_is_no_token(
    kind: str, wide: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, true_call = [], compiled_build.checked_call
    monkeypatch.setenv("TOKPAR_CACHE", "")
    monkeypatch.setattr(
        compiled_build,
        "checked_call",
        lambda parts, arrays, count: made.append(arrays) or true_call(parts, arrays, count),
    )
    for id_ in (500, wide):
        source = source_with(kind, id_)
        if kind != "ranks":
            (tmp_path / "tokenizer.json").write_text(source)
            source = str(tmp_path / "tokenizer.json")
        adapter: Any = tokpar.load(source)
        assert adapter.later_call.call is not None
        table = text_table.table_of(adapter.decoding_parts(False))
        if table is not None:
            made[-1] = made[-1] | {"first": table[0].first, "later": table[0].later}
    small, large = (sum(each.nbytes for each in arrays.values()) for arrays in made)
    assert large < small + (4 << 20)
