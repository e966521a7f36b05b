"""The encodings of a result of `tokpar.as_hf` from its ids: each attribute and method against the
engine's own `tokenizers.Encoding`, and which of them make the engine encode again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import at_most, divided
from tests.support.hf_sources import engine, fresh, original, transformers_tokenizer
from tests.support.hf_values import ENCODING, Raised, outcome
from tests.support.offsets_drawn import drawn_texts
from tests.support.offsets_drawn import tokenizers as tokenizers_drawn
from tests.support.tokenizers_drawn import contents, texts_with, token_texts

pytest.importorskip("transformers", reason="transformers is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

from tokpar.integrations.hf_encodings import EncodedCall, RowEncoding

pytestmark = pytest.mark.compiled_at_once

FROM_ROWS = ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask")
METHODS = ("char_to_token", "token_to_chars", "token_to_sequence", "token_to_word", "char_to_word")
ODD = (-1, 2**31, 2**32 + 3, 2**64, True, None, "1", 0.5)
BYTE_LEVEL = ("types", "roberta", "trimmed, prefix", "untrimmed", "left")
TEXT = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> "


@contextmanager
def no_second_encode() -> Iterator[None]:
    """A block in which the engine's own encodings cannot be made."""
    made = mock.PropertyMock(side_effect=AssertionError("the engine encodes again"))
    with mock.patch.object(EncodedCall, "own_encodings", made):
        yield


def numbers(own: Any, text: str) -> list[Any]:
    """All places of the text and all tokens, and a few behind them."""
    return [*range(max(len(text), len(own.ids)) + 2), *ODD]


def assert_same_answers(mine: Any, own: Any, text: str) -> None:
    """Methods are called of new stand-ins, because the first one that only the engine answers
    decides the later ones."""
    # of overlapping sequences, the engine takes any
    for name in METHODS if own.n_sequences == 1 else METHODS[:2]:
        for asked in numbers(own, text):
            new = RowEncoding(mine._call, mine._number)
            expected = outcome(lambda a=asked, m=name: getattr(own, m)(a))
            assert outcome(lambda a=asked, m=name, e=new: getattr(e, m)(a)) == expected, name
    for asked in range(min(3, len(text))):
        for sequence in (1, 2):
            found = mine.char_to_token(asked, sequence_index=sequence)
            assert found == own.char_to_token(asked, sequence)
    for name in (*FROM_ROWS, *ENCODING):
        assert getattr(mine, name) == getattr(own, name), name
    assert len(mine) == len(own)
    assert repr(mine) == repr(own)


settings = st.fixed_dictionaries(
    {"add_special_tokens": st.booleans()},
    optional={
        "padding": st.sampled_from([True, "max_length"]),
        "max_length": st.integers(1, 30),
        "padding_side": st.sampled_from(["left", "right"]),
        "pad_to_multiple_of": st.sampled_from([1, 7]),
        "truncation": st.just(True),
    },
)


@at_most(120)
@given(data=st.data(), options=settings, side=st.sampled_from(["left", "right"]))
def test_a_drawn_tokenizers_encodings_answer_as_the_engines_own(
    data: st.DataObject, options: dict[str, Any], side: str
) -> None:
    tokenizer = data.draw(tokenizers_drawn(), label="tokenizer")
    pad = min(tokenizer.get_vocab())
    own = transformers_tokenizer(tokenizer, pad_token=pad, truncation_side=side)
    texts = drawn_texts(data, own.backend_tokenizer)
    expected = outcome(lambda: own(texts, **options))
    assume(not isinstance(expected, Raised))
    mine = tokpar.as_hf(own, smallest_text=1)
    got, expected = mine(texts, **options), own(texts, **options)
    if type(got.encodings) is not list:  # else the engine's own call was the only way
        for one, other, text in zip(got.encodings, expected.encodings, texts, strict=True):
            assert_same_answers(one, other, text)


@pytest.mark.each_value
@pytest.mark.parametrize("name", [*BYTE_LEVEL, "template, trimmed", "bert_part"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_cut_and_padded_encodings_answer_as_the_engines_own(name: str, side: str) -> None:
    own, mine = original(name), tokpar.as_hf(original(name), smallest_text=1)
    texts = ["a b", TEXT[:28], " "]
    options = {"padding": True, "truncation": True, "max_length": 9, "padding_side": side}
    got, expected = mine(texts, **options), own(texts, **options)
    assert type(got.encodings) is not list, "the engine's own call was made"
    for one, other, text in zip(got.encodings, expected.encodings, texts, strict=True):
        assert one.tokens == other.tokens
        assert_same_answers(one, other, text)


@pytest.mark.parametrize("name", BYTE_LEVEL)
@divided(len(BYTE_LEVEL))
@given(data=st.data())
def test_rows_answer_without_a_second_encode(name: str, data: st.DataObject) -> None:
    tokenizer = engine(name)
    text = data.draw(texts_with(contents(tokenizer), 60, token_texts(tokenizer)).filter(len))
    own, mine = original(name), tokpar.as_hf(original(name), smallest_text=1)
    [other] = own(text).encodings
    with no_second_encode():
        [one] = mine(text).encodings
        for attribute in FROM_ROWS:
            assert getattr(one, attribute) == getattr(other, attribute), attribute
        for place in range(len(text) + 1):
            assert one.char_to_token(place) == other.char_to_token(place)
        for token, in_text in enumerate(other.sequence_ids):
            if in_text == 0 and not other.special_tokens_mask[token]:
                assert one.token_to_chars(token) == other.token_to_chars(token)
        assert mine.tokenize(text) == own.tokenize(text)
        assert len(one) == len(other)


@cache
def taking_spaces() -> Any:
    """A tokenizer with added tokens that take the spaces beside them into their names."""
    own = engine("untrimmed")
    own = Tokenizer.from_str(own.to_str())
    own.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<end>", rstrip=True)])
    return transformers_tokenizer(own)


@given(parts=st.lists(st.sampled_from([" ", "  ", "a", "<mask>", "<end>", "é", "\n"]), min_size=1))
def test_names_of_tokens_that_take_spaces_are_those_of_the_text(parts: list[str]) -> None:
    own = taking_spaces()
    mine, text = tokpar.as_hf(own, smallest_text=1), "".join(parts)
    assert mine.tokenize(text) == own.tokenize(text)


def test_the_name_of_a_token_that_is_found_in_normalized_text_is_normalized() -> None:
    tokenizer = Tokenizer.from_str(engine("untrimmed").to_str())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([AddedToken("A<B>C", normalized=True), AddedToken("X<Y>")])
    own = transformers_tokenizer(tokenizer)
    mine, text = tokpar.as_hf(own, smallest_text=1), "the A<B>C and a<b>c, x<y>X<Y>"
    assert mine.tokenize(text) == own.tokenize(text)


@pytest.mark.parametrize("name", ["bert_part", "left", "llama_style"])
def test_what_changes_an_encoding_changes_all_its_answers(name: str) -> None:
    own, mine = original(name), tokpar.as_hf(original(name), smallest_text=1)
    for change in (
        lambda encoding: encoding.truncate(4),
        lambda encoding: encoding.truncate(3, stride=1, direction="left"),
        lambda encoding: encoding.pad(99, pad_id=1, pad_token="other"),
        lambda encoding: encoding.set_sequence_id(1),
    ):
        one, other = mine(TEXT)[0], own(TEXT)[0]
        assert one.ids == other.ids
        assert change(one) == change(other)
        assert [getattr(one, name) for name in ENCODING] == [getattr(other, n) for n in ENCODING]
        assert_same_answers_of_one(one, other)


def assert_same_answers_of_one(one: Any, other: Any) -> None:
    for place in range(len(TEXT) + 2):
        assert one.char_to_token(place) == other.char_to_token(place)
        assert one.token_to_chars(place) == other.token_to_chars(place)


def test_a_model_that_is_trained_after_the_call_leaves_the_answers_to_the_engine() -> None:
    own = fresh("left")
    batch = tokpar.as_hf(own, smallest_text=1)(TEXT)
    adapter = batch[0]._call.adapter
    with mock.patch.object(
        type(adapter), "_require_unchanged", side_effect=tokpar.ChangedError("changed")
    ):
        assert batch.tokens() == original("left")(TEXT).tokens()
        assert batch[0].char_to_token(5) == original("left")(TEXT).char_to_token(5)


def test_a_column_that_only_the_engine_has_is_sought_once_for_all_texts() -> None:
    """The token of an unknown piece is its text. Each of the texts asks for its tokens."""
    transformers = pytest.importorskip("transformers")
    model = models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -1.0)], unk_id=0)
    own = Tokenizer(model)
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    texts = ["a aa", "a xa", "aaa"]
    expected = [encoding.tokens for encoding in own.encode_batch(texts)]
    ours = tokpar.as_hf(transformers.PreTrainedTokenizerFast(tokenizer_object=own))
    parts = EncodedCall._parts
    with mock.patch.object(EncodedCall, "_parts", autospec=True, side_effect=parts) as sought:
        for _ in range(2):
            found = ours(texts).encodings
            assert [encoding.tokens for encoding in found] == expected
    assert [call.args[1:] for call in sought.call_args_list].count(("tokens",)) == 2
