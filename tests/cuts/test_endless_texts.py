"""Texts that are one endless word, number, run or period: the ids are the serial ones, and where no
place is a certified cut the text is encoded in one call."""

from __future__ import annotations

import pytest

from tests.support.endless_texts import CJK, N, drawn, encoded, rules
from tests.support.seams import part, serial

PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default")
ENDLESS = {
    "letters": "a" * N,
    "a space and letters": " " + "a" * N,
    "many letters": drawn("etaoinshrdlu"),
    "syllables": "ha" * N,
    "chinese": drawn(CJK),
    "one accented letter": "é" * N,
    "digits": drawn("0123456789"),
}
CUT = {"letters behind words": "some words " * 40 + "x" * N + " and more words" * 40}


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_word_is_encoded_in_one_call(name: str, kind: str) -> None:
    text = ENDLESS[kind]
    encoding = encoded(part(name), text, 64)
    assert encoding.ids.tolist() == serial(part(name), text)
    assert (encoding.report.plan, encoding.seams) == ("serial", ())


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", CUT)
def test_only_certified_cuts_divide_a_text(name: str, kind: str) -> None:
    text = CUT[kind]
    encoding = encoded(part(name), text, 64)
    assert encoding.ids.tolist() == serial(part(name), text)
    assert set() < rules(encoding) <= {"PAIR"}
