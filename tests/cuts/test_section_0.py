"""Texts that refuted earlier conditions of the theorems, each condition with its text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import at_most
from tests.support.seams import assert_lossless, finder, part, refused, serial, wrong_in_fact
from tests.support.small_models import LLAMA3, bert, byte_level
from tokpar.adapters.settings import is_panic
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for

pytestmark = pytest.mark.ids


# Unicode classes are the engine's, never Python's.


@pytest.mark.parametrize(("text", "p"), [("1\U000125c4111", 3), ("\U00016139" + "1111", 4)])
@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part"])
def test_a_digit_unknown_to_the_engine_starts_no_run(name: str, text: str, p: int) -> None:
    assert refused(part(name), text, p)
    assert_lossless(part(name), text)


@pytest.mark.parametrize("text", ["foo\u2e43bar", "foo\u061dbar"])
def test_late_punctuation_does_not_separate_for_bert(text: str) -> None:
    assert refused(bert(), text, 3)
    assert refused(bert(), text, 4)
    assert_lossless(bert(), text)


def test_digits_are_not_parted_inside_an_added_token_or_elsewhere() -> None:
    tokenizer = byte_level([("1", "2")])
    tokenizer.add_tokens([AddedToken("<123456>", normalized=False)])
    text = "x <123456> 123456"
    assert wrong_in_fact(tokenizer, text, 6)
    assert refused(tokenizer, text, 6)
    assert refused(tokenizer, text, 14)
    assert_lossless(tokenizer, text, sizes=(1, 2, 3, 4, 6))


def prefixed() -> Tokenizer:
    tokenizer = byte_level([("1", "2")])
    split = pre_tokenizers.Split(Regex(LLAMA3), "isolated")
    last = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, last])
    return tokenizer


def normalized(normalizer: Any, *tokens: AddedToken) -> Tokenizer:
    tokenizer = byte_level([("3", "4")])
    tokenizer.normalizer = normalizer
    tokenizer.add_tokens(list(tokens))
    return tokenizer


CHANGED = [
    (normalized(normalizers.Replace("3", "33")), "123456", 3),
    (normalized(normalizers.Strip()), "a b", 1),
    (normalized(normalizers.Lowercase(), AddedToken("a b", normalized=True)), "xA By", 2),
]


def test_digits_are_not_cut_where_a_space_is_put_before_each_piece() -> None:
    assert refused(prefixed(), "123456", 3)
    assert finder(prefixed()).at_spaces is None
    assert_lossless(prefixed(), "123456 a 123456", sizes=(1, 2, 3))


def test_only_spaces_are_cuts_where_a_space_is_put_before_each_piece() -> None:
    text = "ab, cd\n\nef!\n(gh 12"
    places = [p for p in range(1, len(text)) if text[p] != " "]
    assert all(refused(prefixed(), text, p) for p in places)
    assert not all(refused(byte_level([]), text, p) for p in places)


@pytest.mark.parametrize(("tokenizer", "text", "p"), CHANGED)
def test_a_cut_that_what_is_done_before_splitting_makes_wrong(
    tokenizer: Tokenizer, text: str, p: int
) -> None:
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)


@pytest.mark.parametrize("word", ["\u200d", "\u0301", "\u203f"])
def test_word_characters_of_single_word_are_the_engines(word: str) -> None:
    tokenizer = byte_level([])
    tokenizer.add_tokens([AddedToken("ab", single_word=True)])
    assert refused(tokenizer, f"x ab{word}", 4)
    assert_lossless(tokenizer, f"x ab{word}")


# BERT's pairs need handle_chinese_chars and clean_text.


@pytest.mark.parametrize("switch", ["handle_chinese_chars", "clean_text"])
def test_bert_without_a_switch_is_cut_before_spaces_only(switch: str) -> None:
    tokenizer = bert(**{switch: False})
    text = "foo bar 中文 a\tb,a"
    cut = [p for p in range(1, len(text)) if not refused(tokenizer, text, p)]
    assert cut == [p for p in range(1, len(text)) if text[p] == " "]
    assert_lossless(tokenizer, text)


def test_cjk_does_not_separate_without_handle_chinese_chars() -> None:
    assert wrong_in_fact(bert(handle_chinese_chars=False), "中文", 1)


# The absorb rule and added tokens.


@pytest.mark.parametrize(
    ("added", "text", "p"), [("<m>", "a <m>", 1), ("<m>", "<m> b", 3), (" b", "a b", 1)]
)
def test_absorbing_beside_an_added_token_is_refused(added: str, text: str, p: int) -> None:
    tokenizer = Tokenizer.from_str(part("llama_style").to_str())
    tokenizer.add_tokens([AddedToken(added, normalized=False)])
    seam = finder(tokenizer).certify(text, p)
    assert finder(tokenizer).certify_context(text, p) is None
    # an edge of the token is a cut, of which no space is left out
    assert (seam is not None and seam.rule) == (text.find(added) in (p, p - len(added)) and "EDGE")
    assert seam is None or not wrong_in_fact(tokenizer, text, p)
    assert_lossless(tokenizer, text)
    assert_lossless(tokenizer, f"the quick {text} brown fox")


@pytest.mark.parametrize(
    ("added", "text", "p"),
    [
        (AddedToken("<m>", lstrip=True, normalized=False), "a \t<m>", 1),
        (AddedToken("<m>", rstrip=True, normalized=False), "<m>\u200b x", 4),
    ],
)
def test_absorbing_where_an_added_token_may_strip_is_refused(
    added: AddedToken, text: str, p: int
) -> None:
    tokenizer = Tokenizer.from_str(part("llama_style").to_str())
    assert not refused(tokenizer, text, p)
    tokenizer.add_tokens([added])
    assert refused(tokenizer, text, p)
    assert_lossless(tokenizer, f"the quick {text} brown fox")


# Segments bind every rule.


def test_a_digit_run_starts_anew_behind_an_added_digit() -> None:
    tokenizer = byte_level([("1", "2"), ("12", "3"), ("2", "3"), ("23", "4"), ("5", "6")])
    tokenizer.add_tokens([AddedToken("1", normalized=False)])
    assert wrong_in_fact(tokenizer, "123456", 3)
    assert refused(tokenizer, "123456", 3)
    assert_lossless(tokenizer, "123456 234567 1111")


# Tokens with normalized=true are matched in the normalized text.


def test_a_normalized_token_appears_only_after_composition() -> None:
    tokenizer = byte_level([])
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens(
        [AddedToken("\u0301", normalized=False), AddedToken(" a", normalized=True)]
    )
    assert refused(tokenizer, " a\u0301", 1)
    assert_lossless(tokenizer, " a\u0301")
    assert_lossless(tokenizer, "b a\u0301 ab  a")


def test_a_normalized_token_is_found_in_the_lowercased_text() -> None:
    tokenizer = byte_level([("a", "b")])
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([AddedToken("x y", normalized=True)])
    assert wrong_in_fact(tokenizer, "aX Yb", 2)
    assert refused(tokenizer, "aX Yb", 2)
    assert_lossless(tokenizer, "aX Yb ab X YX y")


STAGES = {
    "NFC": normalizers.NFC,
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "Lowercase": normalizers.Lowercase,
    "StripAccents": normalizers.StripAccents,
}
NEAR = "ab A中文。\u0301\uff41éé \n,가\u11a8"


@at_most(100)
@given(
    stages=st.lists(st.sampled_from([*STAGES]), min_size=1, max_size=3),
    tokens=st.lists(st.text(NEAR, min_size=1, max_size=3), min_size=1, max_size=3, unique=True),
    raw=st.lists(st.text(NEAR, min_size=1, max_size=2), max_size=1),
    flag=st.sampled_from(("", "", "lstrip", "rstrip", "single_word")),
    text=st.text(NEAR, max_size=14),
)
def test_cuts_beside_tokens_of_the_normalized_text_are_lossless(
    stages: list[str], tokens: list[str], raw: list[str], flag: str, text: str
) -> None:
    """Where a token cannot lie across, and where it may (corollary of theorem 6.2)."""
    flags = {flag: True} if flag else {}
    added = [AddedToken(token, normalized=True, **flags) for token in tokens]
    added += [AddedToken(token, normalized=False) for token in raw if token not in tokens]
    tokenizer = normalized(normalizers.Sequence([STAGES[name]() for name in stages]), *added)
    try:
        tokenizer.encode(text)
    except BaseException as error:
        assume(not is_panic(error))
        raise
    assert_lossless(tokenizer, text, sizes=(1,))
    require_checked(tokenizer, text)


def require_checked(tokenizer: Tokenizer, text: str) -> None:
    """The checker refuses what only the tokens of the normalized text forbid."""
    facts = facts_of(tokpar.load(tokenizer))
    plain = tuple(token for token in facts.added_tokens if not token.normalized)
    without = finder_for(replace(facts, added_tokens=plain))
    for p in range(1, len(text) if without.refusal is None else 0):
        seam = without.certify(text, p)
        if seam is not None and wrong_in_fact(tokenizer, text, p):
            assert [*seam_findings([seam], text, facts)], (text, p)


@pytest.mark.parametrize(
    ("content", "flags", "text", "wrong"),
    [
        (" a", {}, "b a", False),
        ("b a", {}, "b a", True),
        ("b a", {}, "\uff42 a", True),
        (" a", {"single_word": True}, "b a", True),
        ("\u00e9 中", {}, "e 中", True),
    ],
)
def test_the_checker_looks_for_tokens_of_the_normalized_text(
    content: str, flags: dict[str, bool], text: str, wrong: bool
) -> None:
    bare = [normalizers.NFKD(), normalizers.StripAccents()]
    stages = normalizers.Sequence(bare) if "\u00e9" in content else normalizers.NFKC()
    tokenizer = normalized(stages, AddedToken(content, normalized=True, **flags))
    facts = facts_of(tokpar.load(tokenizer))
    seam = finder_for(replace(facts, added_tokens=())).certify(text, 1)
    assert seam is not None
    assert wrong_in_fact(tokenizer, text, 1) == wrong
    assert bool([*seam_findings([seam], text, facts)]) == wrong


def test_a_right_seam_beside_a_token_of_ideographs_is_not_refused() -> None:
    tokenizer = normalized(normalizers.NFC(), AddedToken("。", normalized=True))
    assert not refused(tokenizer, "\u00e9A,", 2)
    assert_lossless(tokenizer, "\u00e9A,", sizes=(1,))


def test_tokens_of_spaces_do_not_keep_chinese_from_being_cut() -> None:
    """As those of GPT-NeoX behind NFC."""
    spaces = [AddedToken(" " * size, normalized=True) for size in range(2, 25)]
    tokenizer = normalized(normalizers.NFC(), *spaces)
    text = "中文。中文 a。\n" * 40
    places = [p for p in range(1, len(text)) if not refused(tokenizer, text, p)]
    assert len(places) > 100
    assert_lossless(tokenizer, text, sizes=(1, 8))


# Each stage of a sequence is judged at its own input.


def test_a_replacement_is_looked_for_after_lowercasing() -> None:
    tokenizer = byte_level([("Ġ", "c")])
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Lowercase(), normalizers.Replace(" b", "c")]
    )
    assert wrong_in_fact(tokenizer, "A Bc", 2)
    assert refused(tokenizer, "A B", 1)
    assert refused(tokenizer, "A B", 2)
    assert_lossless(tokenizer, "A B AB a b c")


# Gates of the model.


def test_a_model_that_drops_characters_is_not_located_by_lengths() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")]))
    assert serial(tokenizer, "axb") == [2]
    facts = facts_of(tokpar.load(tokenizer))
    assert facts.unprovable
    assert not facts.tiles
    assert_lossless(tokenizer, "axb")


@pytest.mark.parametrize(
    "change",
    [{"byte_fallback": False, "unk_token": None}, {"dropout": 0.5}, {"end_of_word_suffix": "</w>"}],
)
def test_a_dummy_prefix_model_behind_the_gate_is_serial(change: dict[str, Any]) -> None:
    tokenizer = Tokenizer.from_str(part("llama_style").to_str())
    for name, value in change.items():
        setattr(tokenizer.model, name, value)
    assert facts_of(tokpar.load(tokenizer)).unprovable


def test_incomplete_byte_fallback_is_serial() -> None:
    vocab = {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "▁a": 4, "<0x41>": 5}
    tokenizer = Tokenizer(
        models.BPE(vocab=vocab, merges=[("▁", "a")], byte_fallback=True, unk_token="<unk>")
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    assert facts_of(tokpar.load(tokenizer)).unprovable


# The pattern is recognised together with the engine that runs it.


def test_a_possessive_repeat_means_something_else_to_oniguruma() -> None:
    possessive = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}{1,3}+")
    tokenizer = byte_level([("1", "1"), ("11", "1"), ("111", "1")], possessive)
    assert serial(tokenizer, "1111") == serial(tokenizer, "1111")
    assert wrong_in_fact(tokenizer, "1111", 3)
    assert refused(tokenizer, "1111111", 3)
    assert_lossless(tokenizer, "1111111 222 33")


def test_tiktokens_own_pattern_in_a_tokenizer_json_is_not_taken_for_tiktokens() -> None:
    tokenizer = byte_level([("1", "1"), ("11", "1"), ("111", "1")], part("cl100k_part")._pat_str)
    for text in ("1234567", "1111111 a", "a \n \nb", "x\n  "):
        assert all(
            refused(tokenizer, text, p) or not wrong_in_fact(tokenizer, text, p)
            for p in range(1, len(text))
        )
        assert_lossless(tokenizer, text)


# Edges.


def test_a_panic_of_the_serial_call_is_a_typed_error() -> None:
    tokenizer = byte_level([])
    tokenizer.add_tokens([AddedToken("a", rstrip=True), AddedToken(" ", lstrip=True)])
    with pytest.raises(tokpar.EngineError):
        tokpar.encode("a  ", tokenizer)


# Lone surrogates: serial, same outcome as the engine's own call.


def test_a_lone_surrogate_is_encoded_serially_as_tiktoken_does() -> None:
    tokenizer, text = part("cl100k_part"), "a b \ud800 c d" * 3
    assert finder(tokenizer).refusal_for(text)
    assert_lossless(tokenizer, text)


def test_a_lone_surrogate_fails_as_the_engine_fails() -> None:
    tokenizer = part("deepseek_part")
    with pytest.raises(BaseException) as own:  # noqa: PT011 - whatever the engine raises
        tokenizer.encode("a \ud800 b")
    with pytest.raises(type(own.value)):
        tokpar.encode("a \ud800 b", tokenizer, strategy="cut", chunk_chars=1)


# Consecutive cuts.


def test_consecutive_cuts_of_one_character_contexts_need_no_spacing() -> None:
    tokenizer = part("cl100k_part")
    assert_lossless(tokenizer, "a b c d e f g 1 2 3 中 文", sizes=(1,))
