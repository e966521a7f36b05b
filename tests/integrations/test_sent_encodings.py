"""Encodings that are pickled: the receiver has the engine's own, and nothing is encoded again."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Encoding, Tokenizer

import tokpar
from tests.conftest import at_most
from tests.support.hf_sources import engine as source
from tests.support.hf_values import Raised, outcome, plain
from tests.support.offsets_drawn import drawn_texts, tokenizers
from tests.support.tokenizers_drawn import named_tokenizers, plain_copy
from tokpar.integrations import tokenizers_functions
from tokpar.integrations.hf_encodings import EncodedCall
from tokpar.integrations.sent_encodings import SentEncoding

pytestmark = pytest.mark.compiled_at_once

TEXT = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> "
NAMES = ("default", "deepseek_part", "llama_style", "roberta", "trimmed, prefix", "types")


@pytest.fixture(autouse=True)
def _short_texts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers_functions, "SHORTEST", 0)
    monkeypatch.setattr(tokenizers_functions, "SHORTEST_BATCH", 0)


def engine(name: str) -> Tokenizer:
    return plain_copy(named_tokenizers().get(name) or source(name))


def state_of(encoding: Any) -> object:
    return json.loads(encoding.__getstate__())


def sent(encoding: Any) -> Any:
    """What another process gets; the engine is not asked."""
    made = mock.PropertyMock(side_effect=AssertionError("the engine encodes again"))
    with mock.patch.object(EncodedCall, "own_encodings", made):
        return pickle.loads(pickle.dumps(encoding))


@pytest.mark.parametrize("method", ["encode_batch", "encode_batch_fast"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", NAMES)
def test_a_sent_encoding_has_the_state_of_the_engines_own(
    name: str, side: str, method: str
) -> None:
    own = tokpar.as_tokenizers(engine(name))
    texts = [TEXT, "a b", "The quick brown fox jumps over"]
    for most, pads in ((None, False), (7, False), (None, True), (7, True)):
        own.no_truncation() if most is None else own.enable_truncation(most, direction=side)
        own.enable_padding(direction=side, pad_id=3) if pads else own.no_padding()
        for add in (True, False):
            expected = getattr(Tokenizer, method)(own, texts, add_special_tokens=add)
            found = [*map(sent, getattr(own, method)(texts, add_special_tokens=add))]
            assert {type(each) for each in found} == {SentEncoding}
            assert [each.ids for each in found] == [each.ids for each in expected]
            assert [*map(state_of, found)] == [*map(state_of, expected)]
            assert plain(found) == plain(expected)


@at_most(60)
@given(data=st.data(), most=st.none() | st.integers(1, 9), pads=st.booleans())
def test_a_drawn_tokenizers_encodings_arrive_as_the_engines_own(
    data: st.DataObject, most: int | None, pads: bool
) -> None:
    own = data.draw(tokenizers(), label="tokenizer")
    assume(not isinstance(outcome(lambda: tokpar.as_tokenizers(own)), Raised))
    if most is not None:
        own.enable_truncation(most, direction=data.draw(st.sampled_from(["left", "right"])))
    if pads:
        own.enable_padding(length=data.draw(st.sampled_from([None, 12])), pad_to_multiple_of=5)
    texts = drawn_texts(data, own)
    expected = outcome(lambda: Tokenizer.encode_batch(own, texts))
    assume(not isinstance(expected, Raised))
    for mine, theirs in zip(
        own.encode_batch(texts), Tokenizer.encode_batch(own, texts), strict=True
    ):
        assert state_of(pickle.loads(pickle.dumps(mine))) == state_of(theirs)


def test_a_batch_of_transformers_is_sent_by_values() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    own = transformers.PreTrainedTokenizerFast(
        tokenizer_object=engine("roberta"), pad_token="<pad>"
    )
    mine = tokpar.as_hf(own, smallest_text=1)
    for options in ({}, {"truncation": True, "max_length": 9, "padding": True}):
        got = sent(mine([TEXT, "a b"], **options))
        expected = pickle.loads(pickle.dumps(own([TEXT, "a b"], **options)))
        assert plain(got.encodings) == plain(expected.encodings)
        assert got.data == expected.data


def test_a_sent_encoding_is_sent_on_changed_and_copied_as_the_engines_own() -> None:
    own = tokpar.as_tokenizers(engine("default"))
    first, theirs = sent(own.encode(TEXT)), Tokenizer.encode(own, TEXT)
    assert isinstance(first, Encoding)
    assert state_of(sent(first)) == state_of(theirs)
    for way in (copy.copy, copy.deepcopy):
        assert type(way(first)) is type(way(own.encode(TEXT))) is Encoding
    for encoding in (first, theirs):
        encoding.truncate(5)
        encoding.pad(9)
    assert plain(first) == plain(theirs) == plain(pickle.loads(pickle.dumps(first)))
    assert len(first) == len(first.ids) == 9
