"""A kept `Encoder` follows a tokenizer whose model is exchanged, or trained again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import tokpar
from tests.support.tokenizers_drawn import byte_characters
from tokpar.adapters import hf_source
from tokpar.adapters.hf_source import same_model

pytestmark = pytest.mark.tables_at_once

ALPHABET = {char: byte for byte, char in enumerate(byte_characters())}
TEXT = "abc cab bca " * 350


def bpe(*merges: tuple[str, str]) -> models.BPE:
    """Ids of its tokens do not depend on the order of the merges."""
    made = sorted(left + right for left, right in merges)
    return models.BPE(ALPHABET | {token: 256 + i for i, token in enumerate(made)}, list(merges))


def tokenizer_of(model: Any) -> Tokenizer:
    own = Tokenizer(model)
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return own


FORWARD = ("a", "b"), ("b", "c"), ("c", "a")
BACKWARD = FORWARD[::-1]


@pytest.mark.each_value
@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("strategy", ["auto", "cut", "recursive", "serial"])
def test_a_kept_encoder_follows_an_exchanged_model_of_the_same_tokens(
    strategy: str, readable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_source, "_pointers_tell", lambda: readable)
    own = tokenizer_of(bpe(*FORWARD))
    with tokpar.Encoder(own, strategy=strategy) as encoder:
        for merges in (FORWARD, BACKWARD, FORWARD[1:] + FORWARD[:1]):
            own.model = bpe(*merges)
            expected = own.encode(TEXT).ids
            assert encoder.encode(TEXT).ids.tolist() == expected
            assert [each.ids.tolist() for each in encoder.encode_batch([TEXT])] == [expected]
    assert tokenizer_of(bpe(*FORWARD)).encode(TEXT).ids != own.encode(TEXT).ids


@given(st.lists(st.permutations(FORWARD), min_size=2, max_size=5))
def test_whatever_models_follow_each_other(orders: list[list[tuple[str, str]]]) -> None:
    own = tokenizer_of(bpe(*orders[0]))
    with tokpar.Encoder(own, executor="serial") as encoder:
        for order in orders:
            own.model = bpe(*order)
            assert encoder.encode(TEXT).ids.tolist() == own.encode(TEXT).ids


def test_what_was_learned_of_the_object_is_not_used_for_another_model() -> None:
    own = tokenizer_of(bpe(*FORWARD))
    tokpar.encode(TEXT, own)
    own.model = bpe(*BACKWARD)
    assert tokpar.encode(TEXT, own).ids.tolist() == own.encode(TEXT).ids


def test_an_object_of_one_model_is_known_again_and_of_another_not() -> None:
    own = tokenizer_of(bpe(*FORWARD))
    kept, shared = own.model, Tokenizer(own.model)
    assert hf_source._pointers_tell()
    assert same_model(own.model, kept)
    assert same_model(own.model, shared.model)
    assert not same_model(own.model, bpe(*FORWARD))
    own.model = bpe(*FORWARD)
    assert not same_model(own.model, kept)


def test_a_tokenizer_that_is_not_changed_is_not_read_again() -> None:
    adapter = tokpar.load(tokenizer_of(bpe(*FORWARD)))
    assert adapter.refresh() is adapter  # type: ignore[attr-defined]


def test_a_kept_encoder_follows_a_model_that_is_trained_again_in_place() -> None:
    own = tokenizer_of(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = "the cat sat on the mat and the dog sat on the log "
    own.train_from_iterator([words * 20], trainer)
    with tokpar.Encoder(own) as encoder:
        assert encoder.encode(words * 200).ids.tolist() == own.encode(words * 200).ids
        own.train_from_iterator([words[::-1] * 20], trainer)
        own.model._clear_cache()  # the library forgets to, and panics on what it finds there
        assert encoder.encode(words * 200).ids.tolist() == own.encode(words * 200).ids
