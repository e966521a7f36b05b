"""Added tokens whose history no copy repeats, and tokenizers that fail where they are tried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.tokenizers_drawn import is_panic
from tokpar.interfaces import facts_of

NORMALIZERS: dict[str, list[Any]] = {
    "none": [],
    "prepended": [normalizers.Prepend("▁")],
    "dummy": [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")],
    "lower": [normalizers.Lowercase()],
}
VOCABULARY = {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "x": 4, " ": 5, ">": 6}


def spm(*added: AddedToken, normalizer: str = "prepended") -> Tokenizer:
    own = Tokenizer(models.BPE(VOCABULARY, [], unk_token="<unk>"))
    own.normalizer = normalizers.Sequence(NORMALIZERS[normalizer])
    for token in added:
        own.add_tokens([token])
    own.encode_special_tokens = True
    return own


SPECIAL = AddedToken(">", special=True, normalized=True)
PLAIN = AddedToken(">", special=False, normalized=True)


def assert_as_the_own_batch(own: Tokenizer, texts: list[str]) -> None:
    try:
        expected = [each.ids for each in own.encode_batch(texts)]
    except BaseException as error:
        if not is_panic(error):
            raise
        return  # two tokens that strip each other
    with tokpar.Encoder(own, executor="serial") as encoder:
        assert [each.ids.tolist() for each in encoder.encode_batch(texts)] == expected
    for text, ids in zip(texts, expected, strict=True):
        with tokpar.Encoder(own, strategy="cut", chunk_chars=1, executor="serial") as encoder:
            assert encoder.encode(text).ids.tolist() == ids


def test_a_token_that_was_special_before_is_left_out_where_special_ones_are_text() -> None:
    own = spm(SPECIAL, PLAIN)
    assert own.encode(">").ids == [1, 6] != spm(PLAIN).encode(">").ids
    assert_as_the_own_batch(own, [">", "> a", "a > b", "a"])
    assert "altered" in str(facts_of(tokpar.load(own)).unprovable)


def test_a_token_that_never_was_special_is_known_to_be_found() -> None:
    for normalizer in NORMALIZERS:
        why = str(facts_of(tokpar.load(spm(PLAIN, normalizer=normalizer))).unprovable)
        assert "altered" not in why, normalizer


def added() -> st.SearchStrategy[AddedToken]:
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    return st.builds(
        lambda content, which: AddedToken(content, **{flag: flag in which for flag in flags}),
        st.sampled_from([">", ">", "a", "b>", "A"]),
        st.sets(st.sampled_from(flags)),
    )


@given(
    st.lists(added(), min_size=1, max_size=4),
    st.sampled_from(sorted(NORMALIZERS)),
    st.lists(st.text("ab >xA", max_size=8), min_size=1, max_size=4),
    st.booleans(),
)
def test_whatever_was_added_the_ids_are_those_of_the_own_batch(
    tokens: list[AddedToken], normalizer: str, texts: list[str], encode_special_tokens: bool
) -> None:
    own = spm(*tokens, normalizer=normalizer)
    own.encode_special_tokens = encode_special_tokens
    assert_as_the_own_batch(own, texts)


def without_unknown() -> Tokenizer:
    own = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.normalizer = normalizers.BertNormalizer()
    own.add_special_tokens(["<s>"])
    return own


def test_a_model_without_its_unknown_token_is_loaded_and_encodes_what_it_knows() -> None:
    own, text = without_unknown(), "a b <s> a " * 600
    with pytest.raises(Exception, match="UNK"):
        own.encode("x")
    for strategy in ("auto", "cut", "recursive", "serial"):
        encoding = tokpar.encode(text, own, strategy=strategy)
        assert encoding.ids.tolist() == own.encode(text).ids
        assert tokpar.check(encoding, text, tokpar.load(own)).ok


def truncating(most: int, **settings: Any) -> Tokenizer:
    own = Tokenizer(models.WordLevel({"a": 0, "x": 1, "[UNK]": 2}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.normalizer = normalizers.BertNormalizer()
    own.add_special_tokens(["<s>"])
    own.enable_truncation(most, **settings)
    return own


@pytest.mark.parametrize("most", [1, 2, 3, 8])
def test_a_second_text_that_is_to_be_cut_is_no_hindrance(most: int) -> None:
    """The own call fails only where something would be cut."""
    own = truncating(most, strategy="only_second")
    with tokpar.Encoder(own, strategy="cut", chunk_chars=1) as encoder:
        for text in ("a", "a a", "a <s> a"):
            try:
                expected = own.encode(text).ids
            except Exception as error:
                with pytest.raises(Exception, match=str(error)):
                    encoder.encode(text)
                continue
            encoding = encoder.encode(text)
            assert encoding.ids.tolist() == expected
            for full in (False, True):
                assert tokpar.check(encoding, text, tokpar.load(own), full=full).ok


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_right_encoding_is_checked_where_the_stride_leaves_nothing(most: int) -> None:
    own, text = truncating(8), " ".join("a" * most)
    own.enable_truncation(most, stride=most)
    with tokpar.Encoder(own, strategy="cut", chunk_chars=1) as encoder:
        encoding = encoder.encode(text)
    assert encoding.ids.tolist() == own.encode(text).ids
    assert tokpar.check(encoding, text, tokpar.load(own)).ok
