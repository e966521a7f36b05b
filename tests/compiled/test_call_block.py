"""Blocks of segments of a BPE over bytes: texts of many short words, as the engine encodes them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.call_answers import call_of
from tests.support.calls_drawn import ATOMS, DRAWN, GPT2
from tokpar.formats.vocabulary import letters_of

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
SIZES = (*range(1, 10), 14, 15, 16, 17, 23, 24, 25, 26, 40, 63, 64, 65, 200, 511, 513)
"""Bytes of words on both sides of each bound of call_block.h and call_lanes.h."""


def draw_words(draw: random.Random, count: int) -> str:
    """Words of a small pool, so that each comes again in the same block and in later ones."""
    letters = draw.sample(ATOMS, draw.choice([2, 4, len(ATOMS)]))
    sizes = [draw.choice(SIZES if draw.random() < 0.2 else SIZES[:9]) for _ in range(40)]
    words = ["".join(draw.choices(letters, k=size)) for size in sizes]
    gaps = draw.choice([[" "], [" ", ", ", "\n", "  (", ".'", ""]])
    return "".join(draw.choice(words) + draw.choice(gaps) for _ in range(count))


@pytest.mark.parametrize("kind", ["bytes", "missing bytes"])
@at_most(200)
@given(seed=st.integers(0, 1 << 60))
def test_blocks_have_the_engine_s_ids_and_places(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = DRAWN[kind](draw)
    call = call_of(tokenizer)
    for text in [draw_words(draw, draw.choice([3, 300, 900])) for _ in range(3)] * 2:
        expected = tokenizer.encode(text, add_special_tokens=False)
        ids, places = call and call.encode_plain(text), call and call.places(text)
        assert ids is None or ids.tolist() == expected.ids
        if places is not None:
            assert places.ids.tolist() == expected.ids
            assert [*map(tuple, places.spans.tolist())] == expected.offsets
            assert places.words.tolist() == expected.word_ids


def chain_tokenizer(pattern: str = GPT2, unreachable: tuple[str, ...] = ()) -> Tokenizer:
    """What merges in a word depends on what was merged before. `unreachable`: tokens that no merge
    makes, which the model takes whole."""
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)}
    pairs = "b a,a b,ab ab,ba b,Ġ c,c c,abab c"
    merges = [tuple(pair.split()) for pair in pairs.split(",")]
    vocab |= {x + y: 300 + k for k, (x, y) in enumerate(merges)}
    vocab |= {token: 400 + k for k, token in enumerate(unreachable)}
    tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=bool(unreachable)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated", False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def test_words_that_are_merged_side_by_side_have_the_engine_s_ids() -> None:
    draw = random.Random(76)
    tokenizer = chain_tokenizer()
    for _ in range(40):
        call = call_of(tokenizer)
        words = ["".join(draw.choices("abc", k=draw.randrange(1, 26))) for _ in range(300)]
        text = " ".join(words)
        assert call.encode_plain(text).tolist() == tokenizer.encode(text).ids


def test_ids_of_several_pre_tokens_are_no_ids_of_a_word() -> None:
    """A segment of several pre-tokens keeps their places when the front answers it."""
    tokenizer = chain_tokenizer()
    call = call_of(tokenizer)
    text = "x (ab) y (ab)'s (ab) " * 200
    expected = tokenizer.encode(text)
    for _ in range(2):
        assert call.encode_plain(text).tolist() == expected.ids
        found = call.places(text)
        assert [*map(tuple, found.spans.tolist())] == expected.offsets
        assert found.words.tolist() == expected.word_ids


def test_a_word_that_begins_as_a_known_one_has_its_own_ids() -> None:
    """The front compares 15 bytes: a longer word must not pass for the one that it begins with."""
    tokens = tuple("Ġ" + "x" * size for size in (6, 7, 8, 13, 14))
    tokenizer = chain_tokenizer(unreachable=tokens)
    call = call_of(tokenizer)
    draw = random.Random(15)
    words = [" " + "x" * size for size in range(5, 26)]
    for _ in range(20):
        text = "".join(draw.choices(words, k=700))
        assert call.encode_plain(text).tolist() == tokenizer.encode(text).ids


def test_a_token_behind_another_pre_token_of_its_segment_stays_whole() -> None:
    tokenizer = chain_tokenizer(unreachable=("xyz", "zabx"))
    call = call_of(tokenizer)
    text = "'sxyz 'szabx xyz 'tzabx'rexyz"
    assert 400 in tokenizer.encode(text).ids
    assert call.encode_plain(text).tolist() == tokenizer.encode(text).ids


def test_a_pre_token_that_looks_ahead_is_no_segment() -> None:
    """ "ab" before a space is a pre-token, as a text of its own it is two."""
    tokenizer = chain_tokenizer(r"[a-z]+(?=\s)|.")
    call = call_of(tokenizer)
    draw = random.Random(51)
    for _ in range(60):
        text = "".join(draw.choices(["ab", "abab", "ba", "c", " ", "\n", ",", "é", "1"], k=600))
        assert call.encode_plain(text).tolist() == tokenizer.encode(text).ids


def test_parts_of_one_place_ask_for_the_same_learned_words() -> None:
    """Threads that share a batch or a text again find what was learned of each part of it."""
    tokenizer = chain_tokenizer()
    call = call_of(tokenizer)
    texts = ["ab c " * 100 + str(k) for k in range(800)]
    rows = [tokenizer.encode(text).ids for text in texts]
    asked = RecordingCall(call._call)
    call._call = asked
    found, _ = call.rows(texts, 2)
    assert [found[k].tolist() for k in range(800)] == rows
    assert sorted(asked.homes) == [0, 0, 0, 0, 1, 1, 1, 1]
    asked.homes.clear()
    ids, _ = call.encode_long(" ".join(texts), 2)
    assert ids.tolist() == tokenizer.encode(" ".join(texts)).ids
    assert sorted(asked.homes) == [0, 1]
    for home in (0, 5, 1 << 40):
        ids = asked.encode_part(texts[0], 0, len(texts[0]), home)
        assert np.frombuffer(ids, np.uint32).tolist() == rows[0]
    with pytest.raises(ValueError, match="fit"):
        asked.encode_part(texts[0], 0, 1, -1)
    with pytest.raises(ValueError, match="fit"):
        asked.encode_rows(("a", "b"), -1)


def test_a_long_text_that_comes_again_has_the_engine_s_ids() -> None:
    """Runs end where words end, in all parts of a text, whichever of its runs are looked up."""
    tokenizer = chain_tokenizer()
    call = call_of(tokenizer)
    draw = random.Random(64)
    words = ["".join(draw.choices("abc", k=draw.randrange(1, 40))) for _ in range(20_000)]
    for text in (" ".join(words), " ".join(words[9000:] + words[:9000])):
        expected = tokenizer.encode(text).ids
        for _ in range(4):
            assert call.encode_plain(text).tolist() == expected


class RecordingCall:
    """Notes which learned words are asked for."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.homes: list[int] = []

    def encode_part(self, text: str, start: int, stop: int, home: int) -> Any:
        self.homes.append(home)
        return self._call.encode_part(text, start, stop, home)

    def encode_rows(self, texts: tuple[str, ...], home: int) -> Any:
        self.homes.append(home)
        return self._call.encode_rows(texts, home)
