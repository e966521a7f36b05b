"""What is, and is not, followed through a normalizer around a cut, window by window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import tokpar
from tests.support.certified import dummy_tokenizer
from tests.support.seams import part
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.types import AddedToken, NormalizerStage

NFC = NormalizerStage("NFC")
STRIP = NormalizerStage("Strip", (("strip_left", True), ("strip_right", True)))
BERT = NormalizerStage("BertNormalizer", (("clean_text", True), ("lowercase", True)))


def replacing(string: str, content: str) -> NormalizerStage:
    return NormalizerStage("Replace", (("pattern", string), ("content", content)))


def context(text: str, p: int, *stages: NormalizerStage) -> tuple[str, str] | None:
    return NormalizerGuard(stages, ()).context(text, p)


def test_a_replaced_string_is_seen_from_as_far_as_it_reaches() -> None:
    stage = replacing("abcd", "x")
    text = "zz abcd zz"
    assert {context(text, p, stage) for p in range(3, 8)} == {None}
    assert context(text, 1, stage) == ("z", "z")
    assert context("zz abc zz", 4, stage) == ("a", "b")


def test_a_replacement_may_compose_with_what_is_beside_it() -> None:
    """NFC behind it makes "é" of "e" and what is put in."""
    stages = replacing("ab", "\u0301"), NFC
    assert context("xeab", 1, *stages) is None
    assert context("xezz", 1, *stages) == ("x", "e")


def test_a_character_behind_the_window_may_compose_with_its_last() -> None:
    assert context("ae\u0301", 1, NFC) is None
    assert context("aez", 1, NFC) == ("a", "e")


def test_what_stages_make_of_characters() -> None:
    assert context("xB", 1, NormalizerStage("Lowercase")) == ("x", "b")
    assert context("a\tB", 1, BERT) == ("a", " ")
    assert context("a\tB", 2, BERT) == (" ", "b")
    assert context("a中", 1, BERT) is None
    assert context("a b", 1, STRIP) is None
    assert context("ab", 1, STRIP) == ("a", "b")
    assert context("ab", 1, NormalizerStage("Unheard")) is None


def test_stages_that_may_change_what_is_before_a_space() -> None:
    for stage in (STRIP, BERT, replacing("a", " "), NormalizerStage("StripAccents")):
        assert not NormalizerGuard((NFC, stage), ()).keeps_universal
    assert NormalizerGuard((NFC, NormalizerStage("Lowercase")), ()).keeps_universal


def guard(token: AddedToken, *stages: NormalizerStage) -> NormalizerGuard:
    return NormalizerGuard(stages, (replace(token, normalized=True),))


def test_a_token_that_strips_reaches_over_a_run_of_white_space() -> None:
    stripping = guard(AddedToken("<m>", 1, rstrip=True), NFC)
    text = "a <m>" + " " * 30 + "b"
    assert not any(stripping.tokens_safe(text, p) for p in range(6, len(text) - 1))
    assert stripping.tokens_safe("a <n>" + " " * 30 + "b", 20)


def test_outside_ascii_nothing_is_known_of_what_tokens_in_normalized_text_look_at() -> None:
    looking = guard(AddedToken("<m>", 1, single_word=True), NFC)
    assert not looking.tokens_safe("a中 b", 1)
    assert looking.tokens_safe("ac b", 1)


def test_no_token_lies_across_a_part_that_ends_with_what_none_holds() -> None:
    plain = guard(AddedToken("<m>", 1), NFC)
    assert plain.tokens_safe("中文", 1)
    assert not plain.tokens_safe("中é", 1)
    assert not plain.tokens_safe("<文", 1)
    assert not guard(AddedToken("中文", 1), NFC).tokens_safe("中文。", 1)
    assert not guard(AddedToken("<m>", 1), STRIP).tokens_safe("中文", 1)


def test_an_image_is_known_if_the_character_behind_its_window_is() -> None:
    plain = guard(AddedToken("<m>", 1), NFC)
    assert plain._image("aaa\u0301", 1, 1) == ("aa", 1)
    assert plain._image("aa\u0301a", 1, 1) is None
    assert plain._image("aa", 1, 1) == ("aa", 1)
    assert plain._image("abcdef", 3, 2) == ("bcde", 2)


def test_a_token_with_white_space_around_is_not_followed_through_strip() -> None:
    assert not guard(AddedToken(" m", 1), STRIP).tokens_followed
    assert guard(AddedToken("m", 1), STRIP).tokens_followed
    assert not guard(AddedToken("é", 1), NFC).tokens_followed


# --------------------------------------------------------------------------------- the finder


def finder(**changes: Any) -> CutFinder:
    facts = facts_of(tokpar.load(part("cl100k_part")))
    return finder_for(replace(facts, unprovable=None, added_tokens=(), **changes))


def test_not_every_space_is_a_cut_of_itself() -> None:
    facts = facts_of(tokpar.load(part("cl100k_part")))
    assert finder().at_spaces is not None
    assert finder(normalizers=(NFC,)).at_spaces is not None
    assert finder(normalizers=(STRIP,)).at_spaces is None
    assert finder(normalizers=(replacing("a", " "),)).at_spaces is None
    token = AddedToken("m", 1, normalized=True)
    with_token = replace(facts, normalizers=(NFC,), added_tokens=(token,))
    assert finder_for(with_token).refusal is None
    assert finder_for(with_token).at_spaces is None


@pytest.mark.parametrize(("stage", "text"), [(replacing("x", " "), "x b"), (STRIP, "a b")])
def test_a_space_is_no_cut_where_what_is_before_may_become_one(
    stage: NormalizerStage, text: str
) -> None:
    assert finder(normalizers=(stage,)).certify(text, 1) is None
    assert finder().certify(text, 1) is not None


@pytest.mark.parametrize(
    ("text", "p"), [("a ", 1), ("a  b", 1), ("a ▁b", 1), ("▁ b", 1), ("a  b", 2)]
)
def test_a_space_beside_another_sign_of_one_is_not_absorbed(text: str, p: int) -> None:
    absorbing = finder_for(facts_of(dummy_tokenizer()))
    assert absorbing.certify("a b", 1) is not None
    assert absorbing.certify(text, p) is None
