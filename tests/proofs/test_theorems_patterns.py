"""The theorems about pre-tokenizers, tried on drawn patterns (proofs/): 14 to 20, 23.

The oracle is the module `regex`, for short texts all of them; Oniguruma and fancy-regex are asked
what they make of the same patterns. Look-ahead is the only way to look beside a match.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.pattern_pieces import engine_pieces
from tests.support.patterns_drawn import (
    ANY,
    CATEGORIES,
    Choice,
    alphabets,
    clean,
    first_end,
    members,
    patterns,
    pieces,
    words,
)
from tests.support.texts import WHITESPACE, texts
from tests.support.tokenizers_drawn import PATTERNS

KINDS = ("", "+", "?")
any_pattern = patterns(kinds=KINDS, far=True)
strings = st.text("".join(CATEGORIES), min_size=2, max_size=12)


def compiled(pattern: Choice) -> regex.Pattern[str]:
    return regex.compile(pattern.alternatives)


# ------------------------------------------------------- theorems 14, 15, 17 and window lemma


@given(any_pattern, strings)
def test_theorem_14_a_cut_is_clean_if_the_first_ends_agree(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    for p in range(1, len(text)):
        left = sorted(pieces(search, text[:p]))[:-1]
        agree = all(first_end(search, text[s:]) == first_end(search, text[s:p]) for s in left)
        assert agree == clean(search, text, p)


@given(any_pattern, strings)
def test_theorem_14_patterns_that_look_to_the_right_are_restartable(
    pattern: Choice, text: str
) -> None:
    search, place = compiled(pattern), 0
    found = {0}
    while place < len(text):
        place += first_end(search, text[place:])
        found.add(place)
    assert found == pieces(search, text)


@given(any_pattern, alphabets(3))
def test_lemma_17_safe_pairs_are_those_that_never_move_a_first_end(
    pattern: Choice, alphabet: str
) -> None:
    search = compiled(pattern)
    moved, wrong = set(), set()
    ends = {word: first_end(search, word) for word in words(alphabet, 4)}
    for word in ends:
        for p in range(1, len(word)):
            if ends[word] != ends[word[:p]]:
                moved.add(word[p - 1 : p + 1])
            if not clean(search, word, p):
                wrong.add(word[p - 1 : p + 1])
    assert moved == wrong


@given(any_pattern, strings)
def test_theorem_15_one_true_boundary_is_enough_on_the_right(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for a in range(len(text)):
        right = pieces(search, text[a:], a)
        for p in whole & right:
            assert {q for q in whole if q >= p} == {q for q in right if q >= p}


@given(any_pattern, strings)
def test_theorem_15_clean_cuts_stay_clean_between_clean_cuts(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for q, p in pairwise([p for p in range(1, len(text)) if clean(search, text, p)]):
        assert clean(search, text[q:], p - q)
        assert clean(search, text[:p], q)
        assert pieces(search, text[q:p], q) == {r for r in whole if q <= r <= p}


@given(any_pattern, strings)
def test_the_window_lemma_for_drawn_patterns(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for p in (p for p in range(1, len(text)) if clean(search, text, p)):
        for b in range(p + 1, len(text) + 1):
            for a in range(p):
                if clean(search, text[:b], p) and clean(search, text[a:], p - a):
                    x, y = pieces(search, text[:b]), pieces(search, text[a:], a)
                    assert {q for q in x if q <= p} | {q for q in y if q >= p} == whole


# --------------------------------------------------- theorem 20: the shipped patterns on any text

FAMILIES = tuple(PATTERNS)
sides = texts(max_size=40)


def assert_clean(family: str, text: str, p: int) -> None:
    parts = engine_pieces(family, text[:p]) | {p + q for q in engine_pieces(family, text[p:])}
    assert parts == engine_pieces(family, text), (family, text, p)


@given(st.sampled_from(FAMILIES), sides, st.sampled_from(WHITESPACE), sides)
def test_theorem_20_a_non_space_and_then_white_space(
    family: str, left: str, space: str, right: str
) -> None:
    assume(left and left[-1] not in WHITESPACE)
    assume(space not in "\r\n" or family in ("gpt2", "r50k"))
    assert_clean(family, left + space + right, len(left))


# ------------------------------------------------------------------ lemma 23: sequences of Splits


def sequence_pieces(first: regex.Pattern[str], then: regex.Pattern[str], text: str) -> set[int]:
    places = sorted(pieces(first, text))
    return {0}.union(*(pieces(then, text[i:j], i) for i, j in pairwise(places)))


@given(any_pattern, any_pattern, strings)
def test_lemma_23_cuts_of_two_stages(one: Choice, two: Choice, text: str) -> None:
    first, then = compiled(one), compiled(two)
    whole = pieces(first, text)
    places = sorted(whole)
    for p in range(1, len(text)):
        halves = pieces(first, text[:p]) | pieces(first, text[p:], p)
        u, v = max(q for q in places if q < p), min(q for q in places if q > p)
        inside = p not in whole and whole | {p} == halves
        if halves == whole or (inside and clean(then, text[u:v], p - u)):
            parts = sequence_pieces(first, then, text[:p])
            parts |= {p + q for q in sequence_pieces(first, then, text[p:])}
            assert parts == sequence_pieces(first, then, text)


@given(st.sampled_from(["a", r"\p{L}", r"\p{N}", r"[a.]", r"\s"]), st.booleans(), strings)
def test_lemma_23_class_runs(source: str, counted: bool, text: str) -> None:
    """(c) and (d): edges of runs are clean, and the rest is split in two at most."""
    search = regex.compile(source + ("{1,3}" if counted else "+"))
    for p in range(1, len(text)):
        before, behind = (bool(regex.match(source, c)) for c in text[p - 1 : p + 1])
        halves = pieces(search, text[:p]) | pieces(search, text[p:], p)
        if before != behind:
            assert halves == pieces(search, text)
        elif not counted or not before:
            assert halves == pieces(search, text) | {p}


@pytest.mark.parametrize("source", [ANY, r"\s", r"[^\s\p{L}]"])
def test_classes_of_the_alphabet_are_those_of_regex(source: str) -> None:
    assert members(source) == {char for char in CATEGORIES if regex.fullmatch(source, char)}
