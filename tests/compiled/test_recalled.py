"""Long texts that may be cut at every space, and the added tokens in them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import DIVIDED, ENGLISH, encoded
from tests.support.drawn_runs import own_call
from tests.support.tokenizers_drawn import DATA
from tokpar.arrays import utf8_bytes
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.types import AddedToken

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@needs_kernel
@pytest.mark.each_value
@pytest.mark.parametrize("flag", ["", "lstrip", "rstrip", "single_word"])
@pytest.mark.parametrize("content", ["<s>", "|s", " <s>", "the lazy", "é x", "x "])
def test_a_text_is_not_divided_as_it_is_where_an_added_token_forbids_it(
    content: str, flag: str
) -> None:
    """One that has a cut inside, or swallows the space at one, or is a word that begins there."""
    inside, word = re.search(r"\S ", content), flag == "single_word" and content[0] == " "
    may = not (inside or word or flag == "rstrip")
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    flags: dict[str, Any] = {flag: True} if flag else {}
    tokenizer.add_tokens([NativeToken(content, normalized=False, **flags)])
    plain = ENGLISH.replace("the lazy", "a lazy").replace("x ", "y ")
    rows = [plain, f"{plain}a{content} b {plain}", plain.upper(), f"{content} b {plain} Z"]
    batch = encoded(rows, tokpar.load(tokenizer))
    assert [each.ids.tolist() for each in batch] == [own_call(tokenizer, row) for row in rows]
    assert [each.report.plan == DIVIDED for each in batch] == [True, may, True, may]
    for each, row in zip(batch, rows, strict=True):
        assert tokpar.check(each, row, tokenizer).ok
    with tokpar.Encoder(tokenizer) as encoder:
        short = [row[:1000] for row in rows] + [content, "a b"] * 9
        both = [encoder.encode_batch(short) for _ in "12"]
    for each in both:
        assert [row.ids.tolist() for row in each] == [own_call(tokenizer, row) for row in short]


def test_the_bytes_of_a_text_are_its_own_and_outlive_the_name() -> None:
    text = "".join(["plain", " text"])
    for each in (text, text + "é一😀", ""):
        data = utf8_bytes(each)
        assert data.tobytes() == each.encode()
        assert not data.flags.writeable
    kept = utf8_bytes("".join(["a", "é" * 5000]))
    assert kept.tobytes() == ("a" + "é" * 5000).encode()
    with pytest.raises(UnicodeEncodeError):
        utf8_bytes("a \ud800")


CONTENTS = st.lists(st.text("<|s> ", min_size=1, max_size=4), max_size=5)


@given(CONTENTS, st.text("<|s>ab ", max_size=400))
def test_no_token_is_overlooked_in_a_long_text(contents: list[str], text: str) -> None:
    """Around each mark while these are rare, then at once."""
    guard = AddedTokenGuard(tuple(AddedToken(each, k) for k, each in enumerate(contents)))
    text += "b" * 5 * len(text)
    assert guard.absent(text, 0, len(text)) == (not any(each in text for each in contents))


@pytest.mark.parametrize("at", [0, 1, 500, 995, 996, 997])
@pytest.mark.parametrize("marks", [0, 3, 30])
def test_no_token_is_overlooked_at_the_ends(at: int, marks: int) -> None:
    guard = AddedTokenGuard((AddedToken("<s>", 0), AddedToken("/s>", 1), AddedToken("x/>", 2)))
    plain = ("b" * 30 + "<") * marks
    plain += "b" * (1000 - len(plain))
    for content in ("<s>", "/s>", "x/>"):
        text = plain[:at] + content + plain[at:]
        text = text[:1000]
        assert guard.absent(text, 0, len(text)) == (content not in text)
    assert guard.absent(plain, 0, len(plain))
