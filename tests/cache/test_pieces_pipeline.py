"""Whole tokenizers whose new segments the kernel encodes: the ids of the object's own serial call,
what is counted, and what happens when the engine is seen to have other ids."""

from __future__ import annotations

import importlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Tokenizer, normalizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import named, own_call
from tests.support.kernel_caches import ALL, small_memory
from tests.support.kernel_edges import segments
from tests.support.tiktoken_parts import encoding
from tests.support.tokenizers_drawn import (
    DATA,
    VOCAB,
    build,
    byte_level_specs,
    contents,
    plain_copy,
    texts_with,
)
from tokpar import kernel_modules
from tokpar.adapters import hf_v0
from tokpar.arrays import IdArray
from tokpar.cache import learning
from tokpar.cache.engine_pretokens import EnginePieces
from tokpar.cache.generations import Generation
from tokpar.cache.new_segments import Pieces
from tokpar.errors import MismatchError, OptionError
from tokpar.types import Facts, Rows

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.tables_at_once]

ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog over 1234 foxes.\n" * 60
CHINESE = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜"
NO_SYMBOL = "\u0378\U000e0080\ufffe"
"""Code points that no version of Unicode has."""


def default() -> Tokenizer:
    return Tokenizer.from_file(str(DATA / "default.json"))


def same_ids(encoder: tokpar.Encoder, tokenizer: Tokenizer, rows: list[str]) -> None:
    expected = [tokenizer.encode(row).ids for row in rows]
    assert [each.ids.tolist() for each in encoder.encode_batch(rows)] == expected


@contextmanager
def left_to_the_engine() -> Iterator[None]:
    with patch("tokpar.cache.new_segments.pieces_for", lambda *given: None):
        yield


DRAWN = byte_level_specs(finishing=False)
PIPELINE = st.text("ab é中1.\n\0", max_size=40) | st.text(f"ab {NO_SYMBOL}e\u0301", max_size=30)


@given(spec=DRAWN, data=st.data(), counting=st.sampled_from([ALL, ALL, 3, 0]))
def test_drawn_tokenizers_have_the_serial_ids_with_and_without_pieces(
    spec: Any, data: st.DataObject, counting: int
) -> None:
    """Cold and warm, in the smallest memory, in waves of one or two texts, hashes all equal."""
    tokenizer = build(spec)
    some = texts_with(contents(tokenizer)[:5], 60) | PIPELINE
    rows = data.draw(st.lists(some, min_size=2, max_size=6), label="rows")
    expected = [own_call(tokenizer, row) for row in rows]
    own = [Tokenizer.from_str(tokenizer.to_str()) for _ in "12"]
    counted = []
    for each, pieces in zip(own, (True, False), strict=True):
        adapter: Any = tokpar.load(each)
        if adapter._segment_cache is not None:
            adapter._segment_cache = small_memory(
                adapter, kernel_modules.SEGMENTS, counting, wave=60
            )
        with tokpar.Encoder(adapter, workers=2) as encoder:
            for _ in range(2):
                if pieces:
                    found = encoder.encode_batch(rows)
                else:
                    with left_to_the_engine():
                        found = encoder.encode_batch(rows)
                assert [encoding.ids.tolist() for encoding in found] == expected
        counted.append(0 if adapter._segment_cache is None else adapter._segment_cache.state.pieces)
    assert counted[1] == 0


@pytest.mark.each_value
@pytest.mark.parametrize("normalizer", [None, "NFC", "Lowercase", "NFD"])
@pytest.mark.parametrize("name", ["default", "deepseek_part"])
def test_odd_texts_have_the_serial_ids(name: str, normalizer: str | None) -> None:
    """Endless pre-tokens, NUL, code points without a symbol, letters that a normalizer changes, and
    added tokens between all of these."""
    path = DATA / "default.json" if name == "default" else VOCAB / "deepseek_part.json"
    tokenizer = Tokenizer.from_file(str(path))
    if normalizer is not None:
        tokenizer.normalizer = getattr(normalizers, normalizer)()
    if name == "default":  # of the other one, no copy has the ids of added tokens
        tokens = [("<x>", False), ("ox", normalizer in ("Lowercase", "NFD"))]
        tokenizer.add_tokens([NativeToken(text, normalized=flag) for text, flag in tokens])
    rows = [
        ENGLISH,
        "word " + "a" * 30_000 + " word",
        " " * 9_000 + "x" + " \n" * 5_000,
        "12345 " * 900 + "7" * 5_000,
        f"a\0b \0 {NO_SYMBOL} c " * 300,
        "caf\u00e9 cafe\u0301 \u212b A\u030a " * 300,
        "<x> ox foxes <x>ox <x" * 300,
        CHINESE * 90 + " " + CHINESE * 3,
        "=-" * 2_000 + " .\u3000!? " * 200,
        "",
        " ",
        "a",
    ]
    adapter: Any = tokpar.load(tokenizer)
    with tokpar.Encoder(adapter, workers=2) as encoder:
        for some in (rows, rows[::-1], rows):
            same_ids(encoder, tokenizer, some)
    pieces = 0 if adapter._segment_cache is None else adapter._segment_cache.state.pieces
    # nothing is looked up where added tokens are searched in the normalized text
    assert (pieces > 0) == (normalizer is None or (name, normalizer) == ("default", "NFC"))


def test_an_added_token_is_never_inside_of_a_piece() -> None:
    """ " foxes" is one pre-token, and the token "ox" is taken out before there are any."""
    tokenizer = default()
    rows = ["red foxes jump over brown foxes"] * 40 + ["red fxes jump"] * 40
    same_ids(tokpar.Encoder(tokenizer), tokenizer, rows)
    tokenizer.add_tokens(["ox"])
    same_ids(tokpar.Encoder(tokenizer), tokenizer, rows)
    assert tokenizer.token_to_id("ox") in tokpar.encode_batch(rows, tokenizer)[0].ids
    tokenizer.normalizer = normalizers.Lowercase()
    rows = [row.replace("fox", "FOX") for row in rows]
    same_ids(tokpar.Encoder(tokenizer), tokenizer, rows)


def test_a_text_with_a_lone_surrogate_is_refused_as_by_the_engine_and_hurts_no_other() -> None:
    tokenizer, adapter = default(), tokpar.load(default())
    rows = [ENGLISH, "a \ud800 b" * 900, ENGLISH]
    with tokpar.Encoder(adapter) as encoder:
        same_ids(encoder, tokenizer, [ENGLISH] * 2)
        for call in (lambda: tokenizer.encode(rows[1]), lambda: encoder.encode_batch(rows)):
            with pytest.raises(Exception, match=r"surrogate|str"):
                call()
        same_ids(encoder, tokenizer, [ENGLISH] * 2)


def test_a_segment_that_needs_too_much_room_is_left_to_the_engine() -> None:
    tokenizer = default()
    adapter: Any = tokpar.load(tokenizer)
    with patch.object(learning, "LONGEST", 1000), tokpar.Encoder(adapter) as encoder:
        same_ids(encoder, tokenizer, ["a " + "b" * 2000 + " c"] * 3)
        assert adapter._segment_cache.state.pieces == 2
        same_ids(encoder, tokenizer, ["a " + "b" * 20 + " c"] * 3)
        assert adapter._segment_cache.state.pieces > 2


def test_many_threads_have_the_serial_ids_cold_and_warm() -> None:
    tokenizer = Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    adapter: Any = tokpar.load(tokenizer)
    adapter._segment_cache = small_memory(adapter, kernel_modules.SEGMENTS, ALL, wave=2000)
    draw = random.Random(3)
    words = [
        f"{draw.choice('aB.é中1')}{draw.randrange(9999)}{draw.choice('xyz')}" for _ in range(500)
    ]
    variants = [" ".join(draw.choices(words, k=900)) for _ in range(8)]
    expected = [tokenizer.encode(text).ids for text in variants]
    wrong: list[int] = []

    def work(first: int) -> None:
        for k in range(12):
            at = (first + k) % 8
            if encoder.encode(variants[at]).ids.tolist() != expected[at]:
                wrong.append(at)

    with tokpar.Encoder(adapter, workers=2) as encoder:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert adapter._segment_cache.state.pieces > 0


# ------------------------------------------------------------------------------- what is counted


def test_a_text_that_comes_again_merges_nothing() -> None:
    tokenizer = default()
    adapter: Any = tokpar.load(tokenizer)
    counted = []
    with tokpar.Encoder(adapter) as encoder:
        for row in (ENGLISH, ENGLISH, ENGLISH, ENGLISH.replace("fox", "foxox"), ENGLISH):
            before = adapter._segment_cache.state
            assert encoder.encode(row).ids.tolist() == tokenizer.encode(row).ids
            after = adapter._segment_cache.state
            counted.append((after.pieces - before.pieces, after.merged - before.merged))
    assert counted[0][0] > counted[0][1] > 0
    assert counted[1][1] == 0  # a segment is kept when it is met again
    assert counted[2] == counted[4] == (0, 0)
    assert counted[3][1] > 0


@pytest.mark.parametrize("name", ["default", "deepseek_part"])
def test_known_documents_stay_known_with_new_ones_between(name: str) -> None:
    """English known, a Chinese document that was never seen between each two: no byte of English
    is looked up in vain, by counters."""
    tokenizer = plain_copy(named(name))
    adapter: Any = tokpar.load(tokenizer)
    draw = random.Random(11)
    english = [ENGLISH.replace("dog", f"dog{k}") for k in range(6)]
    chinese = ["".join(draw.choices(CHINESE, k=3000)) + "，" for _ in range(6)]
    new = []
    with tokpar.Encoder(adapter) as encoder:
        for row in english * 3:
            encoder.encode(row)
        for known, unknown in zip(english, chinese, strict=True):
            assert encoder.encode(unknown).ids.tolist() == tokenizer.encode(unknown).ids
            before = adapter._segment_cache.state
            assert encoder.encode(known).ids.tolist() == tokenizer.encode(known).ids
            after = adapter._segment_cache.state
            assert after.looked > before.looked
            new.append((after.missed - before.missed, after.merged - before.merged))
        mixed = [row for pair in zip(english, chinese, strict=True) for row in pair]
        before = adapter._segment_cache.state
        same_ids(encoder, tokenizer, mixed)
        new.append((0, adapter._segment_cache.state.missed - before.missed - len(chinese)))
    assert new[:-1] == [(0, 0)] * 6
    assert new[-1][1] <= 0


# ------------------------------------------------------------------------------- lies


class Lying:
    """The engine's model, which has other ids for one piece."""

    def __init__(self, tokenize: Callable[[bytes], IdArray], piece: bytes) -> None:
        self.tokenize, self.piece, self.asked = tokenize, piece, 0

    def __call__(self, piece: bytes) -> IdArray:
        self.asked += 1
        ids = self.tokenize(piece)
        return np.append(ids, ids[:1]) if piece == self.piece else ids


def lie(adapter: Any, piece: bytes, mask: int = 0) -> list[Lying]:
    """The adapter's pieces are compared with an engine that lies about one."""
    made: list[Lying] = []
    honest = adapter.made_pieces

    def make(seeds: Any) -> Pieces:
        pieces = honest(seeds)
        made.append(Lying(pieces._tokenize, piece))
        return Pieces(pieces._machine, pieces._merges, made[0], seeds, mask)

    adapter.made_pieces = make
    return made


CALLS: dict[str, Callable[[tokpar.Encoder, str], object]] = {
    "one": lambda encoder, text: encoder.encode(text),
    "one long one": lambda encoder, text: encoder.encode(text * 40),
    "a batch": lambda encoder, text: encoder.encode_batch([text] * 3),
    "short ones": lambda encoder, text: encoder.encode_batch([text[:90]] * 90),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_engine_with_other_ids_is_noticed_and_pieces_stay_off(
    call: Callable[[tokpar.Encoder, str], object],
) -> None:
    """What was learnt before is not believed either: all is asked of the engine again."""
    tokenizer = default()
    adapter: Any = tokpar.load(tokenizer)
    made = lie(adapter, b" jabberwock")
    with tokpar.Encoder(adapter) as encoder:
        same_ids(encoder, tokenizer, [ENGLISH] * 3)
        known = adapter._segment_cache.state
        assert known.pieces > 0
        assert made[0].asked == known.merged > 0
        with pytest.raises(MismatchError, match=r"for the piece b' jabberwock', where the merges"):
            call(encoder, "the jabberwock " + ENGLISH)
        asked = made[0].asked
        for rows in ([ENGLISH] * 3, ["the jabberwock " + ENGLISH] * 3):
            same_ids(encoder, tokenizer, rows)
        after = adapter._segment_cache.state
        assert (after.pieces, after.merged) == (known.pieces, known.merged)
        assert after.missed > known.missed
        assert len(made) == 1
        assert made[0].asked == asked


def test_one_in_some_pieces_is_compared_while_texts_are_encoded() -> None:
    adapter: Any = tokpar.load(default())
    made = lie(adapter, b"", mask=15)
    words = [f"w{k}q{k * 7919}" for k in range(4000)]
    with tokpar.Encoder(adapter) as encoder:
        encoder.encode(" ".join(words))
    merged = adapter._segment_cache.state.merged
    assert merged > 500
    assert merged / 40 < made[0].asked < merged / 8


@pytest.mark.parametrize("lies", ["tokens", "other pieces", "none"])
def test_tables_are_compared_with_the_engine_when_they_are_made(
    lies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", "")
    adapter: Any = tokpar.load(default())
    pieces = adapter.made_pieces(np.array([1, 2, 2**64 - 1], dtype=np.uint64))
    own = hf_v0._tokenize
    honest = partial(own, adapter._chunks.model)
    tokens = set(pieces._merges.tokens.bytes_of(range(len(pieces._merges.tokens.ids))))

    def tokenize(piece: bytes) -> IdArray:
        ids: IdArray = honest(piece)
        return ids[:0] if lies != "none" and (piece in tokens) == (lies == "tokens") else ids

    pieces._tokenize = tokenize
    found = pieces.difference(7)
    assert (found is None) == (lies == "none")
    assert found is None or (found in tokens) == (lies == "tokens")
    with patch("tokpar.adapters.hf_v0._tokenize", lambda model, piece: tokenize(piece)):
        other = adapter.made_pieces(np.array([1, 2, 2**64 - 1], dtype=np.uint64))
    assert (other is None) == (lies != "none")


class Panic(BaseException):
    """As what Rust throws."""


@pytest.mark.parametrize("error", [Panic("no memory"), RuntimeError("no memory")])
def test_an_engine_that_fails_on_a_piece_is_one_with_other_ids(error: BaseException) -> None:
    """When tables are made there are none; at run time it is an error that names the piece."""
    tokenizer = default()
    adapter: Any = tokpar.load(tokenizer)

    def fail(*given: object) -> IdArray:
        raise error

    with patch("tokpar.adapters.hf_v0._tokenize", fail):
        assert adapter.made_pieces(np.array([1, 2, 2**64 - 1], dtype=np.uint64)) is None
    made = lie(adapter, b"")
    with tokpar.Encoder(adapter) as encoder:
        same_ids(encoder, tokenizer, [ENGLISH] * 3)
        made[0].tokenize = fail
        with pytest.raises(MismatchError, match=r"no memory.* for the piece b' jabberwock'"):
            encoder.encode("the jabberwock " + ENGLISH)
        same_ids(encoder, tokenizer, ["the jabberwock " + ENGLISH] * 3)


def test_facts_without_a_row_of_splits_have_no_pieces() -> None:
    from tokpar.cache.machine_tables import machine_for

    for name in ("bert_part", "llama_style", "metaspace_unigram"):
        adapter: Any = tokpar.load(Tokenizer.from_file(str(VOCAB / f"{name}.json")))
        assert machine_for(adapter.facts) == "its pre-tokenizer is no row of Splits before bytes"
        made = adapter.made_pieces(np.array([1, 2, 3], dtype=np.uint64))
        assert isinstance(made, EnginePieces) if name == "bert_part" else made is None
    assert isinstance(machine_for(Facts(engine="e", model="BPE")), str)


@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
def test_the_engine_encodes_each_new_piece_too_where_that_is_asked_for(kind: str) -> None:
    source: Any = {"file": str(DATA / "default.json"), "object": default()}.get(kind)
    source = encoding() if source is None else source
    text = " ".join(f"w{k}q{k * 7919}" for k in range(4000))
    asked: list[bytes] = []
    name = "tiktoken" if kind == "tiktoken" else "hf_v0"
    module = importlib.import_module(f"tokpar.adapters.{name}")
    own = module._tokenize

    def tokenized(engine: Any, piece: bytes) -> IdArray:
        asked.append(piece)
        ids: IdArray = own(engine, piece)
        return ids

    for check, least in (("sampled", 0), ("always", 200)):
        adapter: Any = tokpar.load(source, engine_check=check)
        with patch.object(module, "_tokenize", tokenized), tokpar.Encoder(adapter) as encoder:
            adapter.made_pieces(adapter._segment_cache.seeds)  # the comparison when tables are made
            asked.clear()
            adapter._segment_cache._learner.pieces(adapter.made_pieces, 0)
            asked.clear()
            assert encoder.encode(text).ids.tolist() == adapter.encode_whole(text).tolist()
        merged = adapter._segment_cache.state.merged
        assert merged > 200
        assert least <= len(asked) <= max(least and merged, merged // 20)


@pytest.mark.parametrize("wrong", ["never", True, None, 1])
def test_an_engine_check_of_another_kind_is_refused(wrong: Any) -> None:
    for source in (default(), encoding()):
        with pytest.raises(OptionError, match='engine_check must be "sampled" or "always", got'):
            tokpar.load(source, engine_check=wrong)


@pytest.mark.parametrize("error", [RuntimeError("no memory"), KeyboardInterrupt()])
def test_words_on_which_the_engine_fails_are_left_to_it_in_whole_segments(
    error: BaseException,
) -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(VOCAB / "bert_part.json")))
    pieces = adapter.made_pieces(np.array([1, 2, 2**64 - 1], dtype=np.uint64))
    new = segments(["the fox", " fox, the"] * 4)
    tables = Generation.empty(16), Generation.empty(16)

    def fails(texts: Sequence[str]) -> Rows:
        raise error

    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            pieces.solve(new, tables, fails)
    else:
        assert pieces.solve(new, tables, fails).fresh.stops.tolist() == [-1] * 8
    own = partial(adapter.encode_many, spans=False)
    fresh = pieces.solve(new, tables, own).fresh
    found = [fresh.ids[i:j].tolist() for i, j in zip(fresh.firsts, fresh.stops, strict=True)]
    assert found == [adapter.encode(each).tolist() for each in ["the fox", " fox, the"] * 4]
