"""Added tokens whose history no copy repeats, and tokenizers that fail where they are tried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.support.tokenizers_drawn import is_panic
from tokpar.adapters.hf_added import find_together
from tokpar.adapters.hf_copy import _added_tokens_differ, private_copy
from tokpar.interfaces import facts_of

pytestmark = pytest.mark.tables_at_once

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
            for level in ("seams", "ids"):
                assert tokpar.check(encoding, text, tokpar.load(own), level=level).ok


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_right_encoding_is_checked_where_the_stride_leaves_nothing(most: int) -> None:
    own, text = truncating(8), " ".join("a" * most)
    own.enable_truncation(most, stride=most)
    with tokpar.Encoder(own, strategy="cut", chunk_chars=1) as encoder:
        encoding = encoder.encode(text)
    assert encoding.ids.tolist() == own.encode(text).ids
    assert tokpar.check(encoding, text, tokpar.load(own)).ok


# ------------------------------------------------- a normalizer that is changed in place

CASES = {"[U]": 0, "a": 1, "b": 2, "x": 3, "A": 4, "é": 5, "É": 6, "▁": 7, "e": 8, "_": 9}


def lowering(*added: AddedToken, model: Any = None) -> Tokenizer:
    """Words between white space; its normalizer makes them lower case until that is changed."""
    own = Tokenizer(model or models.BPE(CASES, [], unk_token="[U]"))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own.add_tokens(list(added))
    return own


def test_the_engine_searches_for_what_a_normalizer_wrote_before_it_was_changed_in_place() -> None:
    """Without this the tests below would show nothing; setting a normalizer and adding a
    token ends it: from 0.23 on the one, below it the other."""
    own = lowering(AddedToken("b", normalized=True), AddedToken("A", normalized=True))
    own.normalizer.lowercase = False
    assert own.encode("a A").ids == [4, 4]
    own.normalizer = own.normalizer
    own.add_tokens([AddedToken("<s>")])
    assert own.encode("a A").ids == [1, 4]


@pytest.mark.parametrize("kept", [True, False])
def test_an_added_token_that_the_model_gives_its_id_is_not_taken_for_found(kept: bool) -> None:
    """The copy searched for "A", the engine still for "a"; the model has the same id for "A"."""
    own, text = lowering(AddedToken("A", normalized=True)), "a A x " * 3000
    with tokpar.Encoder(own) as encoder:
        if kept:
            assert encoder.encode(text).ids.tolist() == own.encode(text).ids
        own.normalizer.lowercase = False
        expected = own.encode(text).ids
        assert expected[:3] == [4, 4, 3]
        assert encoder.encode(text).ids.tolist() == expected
        assert [each.ids.tolist() for each in encoder.encode_batch([text, "a"])] == [expected, [4]]
    encoding = tokpar.encode(text, own)
    assert encoding.ids.tolist() == expected
    assert "changed in place" in encoding.report.why


def test_a_token_that_was_searched_in_normalized_text_before_is_seen_to_be_still() -> None:
    """Releases below 0.23 search for it in both texts then."""
    added = (AddedToken("A", normalized=True), AddedToken("A", normalized=False))
    own, text = lowering(*added), "a A x " * 3000
    assert tokpar.encode(text, own).ids.tolist() == own.encode(text).ids
    assert_as_the_own_batch(own, ["a", "A x", "xax"])


def test_a_token_that_is_seen_to_be_found_is_no_hindrance() -> None:
    for model in (models.BPE(CASES, [], unk_token="[U]"), models.WordLevel({"x": 0}, "<none>")):
        for content in ("xx", "A", "é"):
            own = lowering(AddedToken(f"<{content}>", normalized=True), model=model)
            assert _added_tokens_differ(own, private_copy(own), False) is None


def test_white_space_that_a_token_strips_hides_in_which_form_it_is_searched() -> None:
    """ "a " was "a" while white space was stripped; both are found in "a " and not in "ax"."""
    own = Tokenizer(models.BPE(CASES, [], unk_token="[U]"))
    own.normalizer = normalizers.Sequence([normalizers.Strip(left=False, right=True)])
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own.add_tokens([AddedToken("<s> ", normalized=True, rstrip=True)])
    own.normalizer[0] = normalizers.NFC()
    assert own.encode("<s>x").ids == [10, 3]
    assert_as_the_own_batch(own, ["<s>x", "<s> x", "a <s> x"])
    text = "a <s>x " * 3000
    assert tokpar.encode(text, own).ids.tolist() == own.encode(text).ids


def lower_case(own: Tokenizer, on: bool) -> None:
    own.normalizer[0].lowercase = on


def without_accents(own: Tokenizer, on: bool) -> None:
    own.normalizer[0].strip_accents = on


def other_first(own: Tokenizer, on: bool) -> None:
    own.normalizer[0] = normalizers.BertNormalizer() if on else normalizers.NFC()


def other_last(own: Tokenizer, on: bool) -> None:
    own.normalizer[1] = normalizers.Replace("a", "b") if on else normalizers.NFD()


def set_anew(own: Tokenizer, on: bool) -> None:
    own.normalizer = own.normalizer


def one_more(own: Tokenizer, on: bool) -> None:
    own.add_tokens([AddedToken("<x>" if on else "<y>", normalized=on)])


CHANGES = (lower_case, lower_case, without_accents, other_first, other_last, set_anew, one_more)
MODELS: tuple[Any, ...] = (
    lambda: models.BPE(CASES, [], unk_token="[U]"),
    lambda: models.BPE(CASES | {"ab": 10, "AB": 11}, [("a", "b")], unk_token="[U]"),
    lambda: models.WordLevel(CASES | {"ab": 10, "Ab": 11}, unk_token="[U]"),
    lambda: models.WordPiece(CASES | {"##b": 10, "##A": 11}, unk_token="[U]"),
    lambda: models.Unigram([(token, -1.0 - i) for token, i in CASES.items()], 0, False),
)


def cased() -> st.SearchStrategy[AddedToken]:
    flags = ("lstrip", "rstrip", "single_word")
    return st.builds(
        lambda content, normalized, which: AddedToken(
            content, normalized=normalized, **{flag: flag in which for flag in flags}
        ),
        st.sampled_from(["A", "A", "É", "a", "Ab", "ab", "b", "x", "A ", " b", "<A>"]),
        st.sampled_from([True, True, True, False]),
        st.one_of(st.just(set[str]()), st.sets(st.sampled_from(flags))),
    )


def spelt() -> st.SearchStrategy[str]:
    parts = st.sampled_from(["A ", "a ", "b", "Ab ", "ab", "É ", "é ", "x", " ", "<A>", "e\u0301"])
    return st.lists(parts, min_size=1, max_size=8).map("".join)


@given(
    st.sampled_from(MODELS),
    st.sampled_from(
        [pre_tokenizers.WhitespaceSplit, pre_tokenizers.BertPreTokenizer, pre_tokenizers.Metaspace]
    ),
    st.lists(cased(), min_size=1, max_size=3, unique_by=lambda token: str(token.content)),
    st.lists(st.tuples(st.sampled_from(CHANGES), st.booleans()), min_size=1, max_size=4),
    st.lists(spelt(), min_size=1, max_size=4),
)
def test_whatever_normalizer_is_changed_in_place_the_ids_are_the_own_ones(
    model: Any, words: Any, added: list[AddedToken], changes: list[Any], texts: list[str]
) -> None:
    own = Tokenizer(model())
    own.normalizer = normalizers.Sequence([normalizers.BertNormalizer(), normalizers.NFC()])
    own.pre_tokenizer = words()
    for token in added:
        own.add_tokens([token])
    long = " ".join(texts) * 40
    with tokpar.Encoder(own) as one, tokpar.Encoder(own, strategy="cut", chunk_chars=1) as other:
        for change, on in (*changes, (set_anew, True)):
            change(own, on)
            assert_as_the_own_batch(own, texts)
            expected = own.encode(long).ids
            for encoder in (one, other):
                assert encoder.encode(long).ids.tolist() == expected
                assert encoder.encode_batch([long, *texts])[0].ids.tolist() == expected


def many(count: int = 60, **more: Any) -> Tokenizer:
    """An object with so many added tokens of one shape."""
    own = Tokenizer(models.BPE(VOCABULARY, [], unk_token="<unk>"))
    own.normalizer = normalizers.NFC()
    flags = {"normalized": False, "special": True} | more
    own.add_tokens([AddedToken(f"<{k}>", **flags) for k in range(count)])
    return own


def found_by(own: Tokenizer) -> set[int]:
    return find_together(own, private_copy(own), own.get_added_tokens_decoder())


def test_tokens_of_one_shape_are_tried_in_one_text() -> None:
    own = many()
    ids = set(own.get_added_tokens_decoder())
    assert len(ids) == 60
    assert found_by(own) == ids
    own.add_tokens([AddedToken("x", normalized=False), AddedToken("<n>", normalized=True)])
    assert found_by(own) == ids
    assert _added_tokens_differ(own, private_copy(own), False) is None


def test_tokens_are_tried_one_by_one_where_one_text_would_not_tell() -> None:
    """Flags that look at what stands beside, a mark inside another, a text that the normalizer
    changes or may change in part, ids that the model gives, and what cuts or pads."""
    for flag in ("single_word", "lstrip", "rstrip", "normalized"):
        assert found_by(many(**{flag: True})) == set()
    inside = many()
    inside.add_tokens([AddedToken("1><2", normalized=False)])
    in_parts = normalizers.Replace(Regex("^<0>x"), "y")  # leaves the texts of all as they are
    for normalizer in (normalizers.Prepend("<"), normalizers.Replace("<1>", "y"), in_parts):
        own = many()
        own.normalizer = normalizer
        assert found_by(own) == set()
    raised = Tokenizer(models.BPE(VOCABULARY | {"É": 7}, [], unk_token="<unk>"))
    raised.normalizer = normalizers.Lowercase()
    raised.add_tokens([AddedToken("<É>", normalized=False), AddedToken("<b>", normalized=False)])
    in_model = Tokenizer(models.BPE(VOCABULARY | {"<b>": 7}, [], unk_token="<unk>"))
    in_model.add_tokens([AddedToken("<b>", normalized=False)])
    cut, padded = many(), many()
    cut.enable_truncation(1 << 20)
    padded.enable_padding()
    as_text = many()
    as_text.encode_special_tokens = True  # found by neither
    for own in (inside, raised, in_model, cut, padded, as_text):
        assert found_by(own) == set()


def test_a_token_among_many_that_the_copy_finds_otherwise_is_noticed() -> None:
    own = many()
    added = own.get_added_tokens_decoder()
    one = next(i for i, token in added.items() if token.content == "<7>")
    without = private_copy(own, left_out_ids=[one])
    assert find_together(own, without, added) == find_together(without, own, added) == set()
    alone = private_copy(own, left_out_ids=[one])
    alone.add_tokens([AddedToken("<7>", single_word=True, normalized=False)])
    both = private_copy(own)
    both.add_tokens([AddedToken("<8><9>", normalized=False)])
    other = {token: k for token, k in VOCABULARY.items() if token != "x"} | {"y": VOCABULARY["x"]}
    letter = Tokenizer(models.BPE(other, [], unk_token="<unk>"))  # what is between has another id
    letter.add_tokens([*added.values(), AddedToken("x", normalized=False)])
    assert letter.encode("<7>").ids == own.encode("<7>").ids
    for copy in (alone, both, letter):
        assert find_together(own, copy, added) == find_together(copy, own, added) == set()


def test_tokens_that_were_special_among_many_are_noticed() -> None:
    own = many()
    own.add_tokens([AddedToken(f"<{k}>", special=False, normalized=False) for k in range(60)])
    own.encode_special_tokens = True
    assert "altered" in str(facts_of(tokpar.load(own)).unprovable)
    assert_as_the_own_batch(own, ["x<7>x", "<8><7><9>", "a<7> b"])


marked_tokens = st.builds(
    lambda content, which: AddedToken(
        content, **{flag: flag in which for flag in ("special", "normalized", "single_word")}
    ),
    st.text("<ab>x", max_size=2).map(lambda rest: "<" + rest) | st.text("ab>x", min_size=1),
    st.sets(st.sampled_from(("special", "normalized", "single_word")), max_size=1),
)


@given(
    st.lists(marked_tokens, min_size=1, max_size=5),
    st.lists(marked_tokens, max_size=3),
    st.sampled_from([None, normalizers.NFC(), normalizers.Lowercase(), normalizers.Strip()]),
    st.booleans(),
)
def test_what_is_found_together_is_found_alone(
    first: list[AddedToken], later: list[AddedToken], normalizer: Any, special: bool
) -> None:
    own = Tokenizer(models.BPE(VOCABULARY, [], unk_token="<unk>"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.add_tokens(first)
    if normalizer is not None:
        own.normalizer = normalizer
    own.add_special_tokens(later)
    own.encode_special_tokens = special
    added, copy = own.get_added_tokens_decoder(), private_copy(own)
    if added != copy.get_added_tokens_decoder():
        return
    together = find_together(own, copy, added)
    for i in together:
        for text in (f"x{added[i].content}x", added[i].content):
            assert own.encode(text).ids == copy.encode(text).ids
            assert i in own.encode(text).ids
