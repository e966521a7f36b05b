"""Where the compiled call places tokens and pre-tokens, against the engine's own encodings."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.call_answers import call_of
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tokpar.compiled import call_tables
from tokpar.process.interrupts import raise_foreign

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
PLACES = tuple[list[int], list[tuple[int, int]], list[int | None]]


def own_places(tokenizer: Any, text: str) -> PLACES | None:
    """The engine's own, or None where it panics."""
    try:
        encoding = tokenizer.encode(text, add_special_tokens=False)
    except BaseException as error:
        raise_foreign(error)
        return None
    return encoding.ids, encoding.offsets, encoding.word_ids


def our_places(call: Any, text: str) -> PLACES | None:
    found = call.places(text)
    if found is None:
        return None
    return found.ids.tolist(), [*map(tuple, found.spans.tolist())], found.words.tolist()


def differences(kind: str, seed: int) -> list[str]:
    """The texts for which a drawn tokenizer's places are not the engine's."""
    draw = random.Random(seed)
    tokenizer = DRAWN[kind](draw)
    contents = draw_added(draw, tokenizer)
    call = call_of(tokenizer)
    texts = [draw_text(draw, contents) for _ in range(20)] if call else []
    found = [(text, our_places(call, text)) for text in texts * 2]  # again, from what was learned
    return [text for text, ours in found if ours and ours != own_places(tokenizer, text)]


@pytest.mark.parametrize("kind", DRAWN)
@at_most(200)
@given(seed=st.integers(0, 1 << 60))
def test_places_are_the_engine_s(kind: str, seed: int) -> None:
    assert differences(kind, seed) == []


true_call_of = call_tables.call_of


@pytest.mark.parametrize("kind", ["bytes", "characters"])
def test_lengths_that_do_not_fill_a_word_are_no_answer(kind: str) -> None:
    def longer(arrays: Any, *given: Any, **named: Any) -> Any:
        return true_call_of(arrays | {"lengths": arrays["lengths"] + 1}, *given, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(call_tables, "call_of", longer)
        call = call_of(DRAWN[kind](random.Random(1)))
        assert call.encode("abc ABC") is not None
        assert call.places("abc ABC") is None


def test_a_literal_mark_and_a_hole_are_the_engine_s() -> None:
    call = call_of(DRAWN["characters"](random.Random(3)))
    assert call.places("a\u2581b") is None
    assert call.places("\ud800") is None
    assert call.places("").ids.tolist() == []
