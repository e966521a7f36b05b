"""What is kept of a caller's `tokenizers.Tokenizer`, in each release: its snapshots die with it,
and each snapshot notices a training, whatever its settings."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import tokpar
from tests.conftest import at_most
from tests.support.lifetimes import reference_to
from tests.support.paths import DEFAULT, VOCAB
from tokpar.adapters.hf_kept import kept_of

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

WORDS = ["lower", "lowest", "newer", "newest", "wider", "widest", "low", "new", "wide", "west"]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"add_special_tokens": False},
    {"truncation": False},
    {"padding": False},
]


def train(own: Tokenizer, words: Sequence[str]) -> None:
    lines = [" ".join(words[k:] + words[:k]) for k in range(len(words)) for _ in range(1 + k)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    options = {"vocab_size": 266, "initial_alphabet": alphabet, "show_progress": False}
    own.train_from_iterator(lines, trainers.BpeTrainer(**options))


def byte_level(words: Sequence[str]) -> Tokenizer:
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    train(own, words)
    return own


orders = st.permutations(WORDS)


@at_most(60)
@given(
    first=orders,
    second=orders,
    before=st.sampled_from(SETTINGS),
    afterwards=st.lists(st.sampled_from(SETTINGS), min_size=1, max_size=3),
)
def test_words_that_the_engine_still_knows_from_before_a_training_keep_its_ids(
    first: list[str], second: list[str], before: dict[str, Any], afterwards: list[dict[str, Any]]
) -> None:
    own, text = byte_level(first), " ".join(WORDS)
    assert tokpar.load(own, **before).encode(text).tolist() == own.encode(text).ids
    train(own, second)
    expected = own.encode(text).ids
    for settings in afterwards:
        with tokpar.Encoder(tokpar.load(own, **settings)) as encoder:
            assert encoder.encode(text).ids.tolist() == expected


@pytest.mark.parametrize("name", ["default", "llama_style"])
def test_an_object_of_each_release_has_the_compiled_call_of_its_file(name: str) -> None:
    path = DEFAULT if name == "default" else VOCAB / f"{name}.json"
    own, file = Tokenizer.from_file(str(path)), tokpar.load(path)
    of_object = tokpar.load(own)
    assert file.later_call is not None
    assert file.later_call.call is not None
    assert of_object.later_call is not None
    assert of_object.later_call.call is not None
    assert tokpar.encode("a text", own).report.plan == "one compiled call"


def test_a_model_with_holes_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    own = Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    assert tokpar.encode("a text", own).ids.tolist() == own.encode("a text").ids
    assert capfd.readouterr() == ("", "")


def test_snapshots_are_gone_with_their_object() -> None:
    own = byte_level(WORDS)
    references = [reference_to(own), *(reference_to(tokpar.load(own, **s)) for s in SETTINGS)]
    gc.collect()
    assert all(reference() for reference in references)
    assert len(kept_of(own).snapshots) == len(SETTINGS)
    del own
    gc.collect()
    assert not any(reference() for reference in references)


def test_an_object_that_takes_no_attributes_counts_as_trained() -> None:
    assert kept_of(object()).was_trained
    assert not kept_of(byte_level(WORDS)).was_trained
