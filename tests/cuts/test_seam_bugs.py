"""Places at which fast paths of 2026 lost tokens, through every lossless strategy at every size."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, normalizers

from tests.support.seams import assert_lossless, part
from tests.support.small_models import LLAMA3, byte_level

pytestmark = pytest.mark.ids

BYTE_LEVEL = ["cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default"]
NEWLINES = [
    " \n  \n",
    "a \n  \nb",
    ".\n/",
    "x.\n/y",
    "a.\n\n/b\n",
    "\r\n \r\n",
    "f(x)\n\n\n  y",
    "\t\n \n\t",
]
WORD = "unbelievable"


@pytest.mark.each_value
@pytest.mark.parametrize("name", BYTE_LEVEL)
@pytest.mark.parametrize("text", NEWLINES)
def test_newlines_between_spaces_and_slashes(name: str, text: str) -> None:
    assert_lossless(part(name), text, sizes=(1, 2, 3))


@pytest.mark.each_value
@pytest.mark.parametrize("name", BYTE_LEVEL)
@pytest.mark.parametrize("text", ["123456", "x 1234567 y", "12 345 6789", "3.14159265,271828"])
def test_digits_in_every_phase(name: str, text: str) -> None:
    assert_lossless(part(name), text, sizes=(1, 2, 3, 4))


def test_digits_of_llama_3() -> None:
    merges = [("1", "2"), ("12", "3"), ("4", "5"), ("45", "6"), ("3", "4"), ("2", "3"), ("23", "4")]
    assert_lossless(byte_level(merges, LLAMA3), "123456 1234562 x123456", sizes=(1, 2, 3, 4, 5))


def with_added(*tokens: AddedToken) -> Tokenizer:
    tokenizer = byte_level([("a", "b"), ("<", "a"), ("\u0120", "a"), ("b", ">")])
    tokenizer.add_tokens(list(tokens))
    return tokenizer


NESTED = [AddedToken(t, normalized=False) for t in ("<a>", "<a><b>", "<b>", "a")]
FLAGS: list[dict[str, Any]] = [
    {"lstrip": True},
    {"rstrip": True},
    {"single_word": True},
    {"lstrip": True, "rstrip": True, "single_word": True},
]


@pytest.mark.parametrize("text", ["x<a><b>y", "<a><a><b><b>", "ab<a> <a><b> b", "<<a>><a", "a<a><"])
def test_an_added_token_that_holds_shorter_ones(text: str) -> None:
    assert_lossless(with_added(*NESTED), text, sizes=(1, 2, 3, 4))


@pytest.mark.each_value
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("text", ["x  <s>  y", "x<s>y", " <s> <s> ", "ab <s>\n  ab", "<s>  <s>b"])
def test_an_added_token_with_flags_next_to_an_edge(flags: dict[str, Any], text: str) -> None:
    assert_lossless(with_added(AddedToken("<s>", **flags)), text, sizes=(1, 2, 3, 4))


@pytest.mark.each_value
@pytest.mark.parametrize("length", [99, 100, 101, 102, 150, 201, 300])
@pytest.mark.parametrize("frame", ["{}", "a {} b", "{}, {}"])
def test_bert_words_longer_than_it_takes(length: int, frame: str) -> None:
    word = (WORD * 30)[:length]
    assert_lossless(part("bert_part"), frame.format(word, word[:50]), sizes=(7, 40, 64))


@pytest.mark.each_value
@pytest.mark.parametrize("form", [normalizers.NFC(), normalizers.NFKC(), normalizers.NFD()])
@pytest.mark.parametrize(
    "text", ["e\u0301 e\u0301", "가\u11a8 x", "\u09c7\u09be \u09c7", "a\u0323\u0307b"]
)
def test_composition_across_an_edge(form: normalizers.Normalizer, text: str) -> None:
    tokenizer = byte_level([("e", "x")])
    tokenizer.normalizer = form
    assert_lossless(tokenizer, text, sizes=(1, 2, 3))
