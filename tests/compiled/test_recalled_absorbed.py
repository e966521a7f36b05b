"""A cache of segments where the engine puts a space before each text (theorem 6.4)."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.drawn_runs import own_call
from tests.support.tokenizers_drawn import VOCAB
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.compiled.segment_cache import SegmentCache

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.compiled_at_once]


def llama() -> Tokenizer:
    return Tokenizer.from_file(str(VOCAB / "llama_style.json"))


def serial(tokenizer: Tokenizer, rows: list[str]) -> list[list[int]]:
    return [own_call(tokenizer, row) for row in rows]


ROWS = ["the cat", " the cat", "the  cat", "the cat ", "a <s> b", "the▁ cat", "the\n cat", " ", ""]


def test_which_texts_are_divided() -> None:
    tokenizer = llama()
    with tokpar.Encoder(tokenizer) as encoder:
        for _ in "123":
            batch = encoder.encode_batch(ROWS * 3)
            assert [row.ids.tolist() for row in batch] == serial(tokenizer, ROWS * 3)
    divided = [row.seams.everywhere is not None for row in batch][: len(ROWS)]
    assert divided == [True, False, True, False, False, False, True, False, False]
    the = tokenizer.encode("the", add_special_tokens=False).ids
    assert [(seam.position, seam.token) for seam in batch[0].seams] == [(3, len(the))]


def test_a_text_that_is_known_is_not_encoded_again() -> None:
    tokenizer = llama()
    adapter: Any = tokpar.load(tokenizer)
    text = ENGLISH * 40
    with tokpar.Encoder(adapter) as encoder:
        first = encoder.encode(text)
        with patch.object(type(adapter), "encode_many", side_effect=AssertionError):
            again = encoder.encode(text)
            short = encoder.encode(ENGLISH[:300].strip())
    assert again.ids.tolist() == first.ids.tolist() == own_call(tokenizer, text)
    assert short.ids.tolist() == own_call(tokenizer, ENGLISH[:300].strip())
    assert tokpar.check(again, text, adapter).ok
    assert tokpar.check(short, ENGLISH[:300].strip(), adapter).ok
    stored = from_bytes(to_bytes(again, text, adapter.name))
    assert tokpar.check(stored, text, adapter).ok


@given(st.data())
def test_a_text_whose_ends_or_added_tokens_forbid_cuts_is_mostly_answered_by_the_cache(
    data: st.DataObject,
) -> None:
    tokenizer = llama()
    adapter: Any = tokpar.load(tokenizer)
    odd = st.sampled_from([" ", "  ", "</s>", " <s> ", "<s> "])
    first, inner, last = (data.draw(odd | st.just("")) for _ in range(3))
    text = first + ENGLISH * 10 + inner + ENGLISH * 10 + last
    with tokpar.Encoder(adapter) as encoder:
        encoder.encode(text)
        with patch.object(type(adapter), "encode_many", wraps=adapter.encode_many) as call:
            again = encoder.encode(text)
    assert again.ids.tolist() == own_call(tokenizer, text)
    assert again.report.executor == "memo"
    assert tokpar.check(again, text, adapter).ok
    engine_chars = sum(len(slice_) for args in call.call_args_list for slice_ in args.args[0])
    assert engine_chars < len(text) / 2  # at most three chunks of sixteen, and their tails


@pytest.mark.parametrize(
    ("mistake", "row"),
    [
        ("none", "the cat"),
        ("a space first", " the cat"),
        ("a space last", "the cat "),
        ("an added token", "the <s> cat <s> the"),
        ("a mark before", "the▁ the"),
        ("the space kept", "the cat"),
    ],
)
def test_a_condition_that_is_forgotten_is_seen(
    mistake: str, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mistake in ("a space first", "a space last"):
        monkeypatch.setattr(
            SegmentCache,
            "_may_divide",
            lambda self, text: self._forbidding.absent(text, 0, len(text)),
        )
    elif mistake == "an added token":
        monkeypatch.setattr(SegmentCache, "_may_divide", lambda self, text: text[:1] != " ")
    elif mistake == "a mark before":
        monkeypatch.setattr("tokpar.compiled.segment_cache.MARK", "ñ")
    elif mistake == "the space kept":
        monkeypatch.setattr(SegmentCache, "_encoded_alone", lambda self, segment: segment)
    tokenizer = llama()
    rows = [" ".join(["the cat"] * 9), row, "the the cat <s>"[:11]] * 3
    with tokpar.Encoder(tokenizer) as encoder:
        found = [[e.ids.tolist() for e in encoder.encode_batch(rows)] for _ in "12"]
    equal = found == [serial(tokenizer, rows)] * 2
    assert equal is (mistake == "none")
