"""The strategies of `texts` reach the places they are made for, and shrink."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings

from tests.conftest import drawn
from tests.support.texts import (
    ALMOST_WHITESPACE,
    fibonacci_word,
    surrogate_texts,
    texts,
    thue_morse_word,
)
from tokpar.arrays import has_surrogate

ADDED = ("<|endoftext|>", "<|end|>", "ab", " x ")
EXAMPLES = 1000

Reached = Callable[[str], bool]


def collected(examples: int = EXAMPLES, **options: Any) -> list[str]:
    """What `texts(**options)` draws, always the same."""
    found: list[str] = []

    @seed(2026)
    @settings(
        max_examples=examples,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(texts(**options))
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return found


@functools.cache
def with_added() -> list[str]:
    return collected(added=ADDED)


def matches(pattern: str) -> Reached:
    return lambda text: re.search(pattern, text) is not None


def has_any(characters: str) -> Reached:
    return lambda text: not set(characters).isdisjoint(text)


def has_category(category: str) -> Reached:
    return lambda text: any(unicodedata.category(c) == category for c in text)


def changed_by(form: str) -> Reached:
    return lambda text: not unicodedata.is_normalized(form, text)  # type: ignore[arg-type]


PLACES: dict[str, Reached] = {
    "nothing": lambda text: text == "",
    "one character": lambda text: len(text) == 1,
    "more than 400 characters": lambda text: len(text) > 400,
    "2000 characters": lambda text: len(text) == 2000,
    "a run over 128": matches(r"(?s)(.)\1{128}"),
    "a run of newlines over 32": matches(r"\n{33}"),
    "a run of spaces over 32": matches(r" {33}"),
    "a run of a multi-byte character over 32": matches(r"([^\x00-\x7f])\1{32}"),
    "a word of period 2 to 8, ten times": matches(r"(?s)(?!(.)\1)(.{2,8})\2{9}"),
    "a word of period 20 to 64, twice": matches(r"(?s)(.{20,64})\1"),
    "a Fibonacci word": lambda text: any(
        fibonacci_word(a, b, 34) in text for a, b in itertools.pairwise(text) if a != b
    ),
    "a Thue-Morse word": lambda text: any(
        thue_morse_word(a, b, 32) in text for a, b in itertools.pairwise(text) if a != b
    ),
    "a digit run over 20": matches(r"\d{21}"),
    "an ASCII digit run over 10": matches(r"[0-9]{11}"),
    "fullwidth digits": matches("[０-９]{5}"),
    "Devanagari digits": matches("[०-९]{5}"),
    "superscripts": matches("[¹²³⁴]{2}"),
    "Roman numerals": has_category("Nl"),
    "digits only new tables know": has_any("\U000125c4\U00016139"),
    "newlines between spaces": matches(r" \n+ "),
    "carriage returns": matches(r"\r\n"),
    "whitespace of Unicode": matches(r"[\u2000-\u200a\u2028\u2029\u3000]"),
    "almost whitespace": has_any(ALMOST_WHITESPACE),
    "a contraction": matches(r"\w'(s|t|re|ve|m|ll|d)"),
    "a contraction in capitals": matches(r"\w'(VE|S|Ll|Re)"),
    "a contraction with a typographic apostrophe": matches(r"\w’(s|ll)"),
    "an apostrophe without an ending": matches(r"\w'(?!\w)"),
    "Chinese": matches("[\u4e00-\u9fa5]"),
    "kana": matches("[\u3041-\u30ff]"),
    "precomposed Hangul": matches("[가-힣]"),
    "Hangul jamo": matches("[\u1100-\u11ff]"),
    "joined emoji": matches("\u200d"),
    "an emoji modifier": matches("[\U0001f3fb-\U0001f3ff]"),
    "flags": matches("[\U0001f1e6-\U0001f1ff]"),
    "a combining mark": has_category("Mn"),
    "text that NFC changes": changed_by("NFC"),
    "text that NFD changes": changed_by("NFD"),
    "text that NFKC changes": changed_by("NFKC"),
    "Thai": matches("[\u0e00-\u0e7f]"),
    "Hindi": matches("[\u0915-\u0939]"),
    "Arabic": matches("[\u0621-\u064a]"),
    "bidi control": has_any("\u202b\u202c\u200f\u2067\u2069"),
    "punctuation clusters": matches(r"[!-/:-@\[-`{-~]{4}"),
    "a link": matches("https://"),
    "indentation": matches(r"\n    \S"),
    "an empty CSV field": matches(",,"),
    "hexadecimal": matches("[0-9a-f]{16}"),
    "base64": matches("[A-Za-z0-9]{20}="),
    "JSON": matches(r'": \['),
    "markdown": matches(r"\|---"),
    "NUL": has_any("\0"),
    "a control character": matches("[\x01-\x08\x7f\x80]"),
    "U+FFFD": has_any("\ufffd"),
    "a noncharacter": has_any("\ufffe\uffff\ufdd0\U0001fffe\U0010ffff"),
    "recently assigned letters": has_any("\u2e43\u061d\u017f\u212a\U0001e900\ua7dc"),
    "characters beyond the basic plane": matches("[\U00010000-\U0010ffff]"),
    "a whole token": lambda text: "<|endoftext|>" in text,
    "a token cut on the right": matches(r"<\|end(?!oftext\|>|\|>)"),
    "a token cut on the left": matches(r"(?<!<\|end)oftext\|>"),
    "a token inside another": matches(r"<\|?e?n?d?o?f?t?e?x?t?\|?(ab|<\|end\|>)"),
    "a token after spaces": matches(r" <\|endoftext\|>"),
    "a token next to a letter": matches(r"a<\|endoftext\|>|\|>a"),
    "a token again and again": matches(r"(<\|end\|>){2}|(<\|endoftext\|>){2}"),
    "two tokens that share a character": lambda text: " x x " in text,
}


@pytest.mark.parametrize("place", PLACES)
def test_drawn_texts_reach_each_place(place: str) -> None:
    assert any(map(PLACES[place], with_added()))


def test_lone_surrogates_appear_only_when_asked_for() -> None:
    assert not any(map(has_surrogate, with_added()))
    assert any(map(has_surrogate, collected(drawn(EXAMPLES), surrogates=True)))


@given(surrogate_texts(added=ADDED))
def test_surrogate_texts_cannot_be_written_as_utf8(text: str) -> None:
    assert has_surrogate(text)
    assert len(text) <= 420


def test_a_failing_text_shrinks_to_its_fragment() -> None:
    quick = settings(max_examples=500, database=None)
    found = find(texts(), matches(r"[0-9]{21}"), settings=quick, random=Random(1))
    assert len(found) <= 40
