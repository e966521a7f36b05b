"""Calls of `tokpar.as_hf` that truncate long texts encode only what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most, needs_kernel
from tests.support.hf_values import outcome
from tests.support.model_files import SMALL, fresh
from tokpar.pipeline.short_texts import PartEncoder

pytest.importorskip("transformers", reason="transformers is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

pytestmark = [needs_kernel, pytest.mark.compiled_at_once]

PARTS = (
    "the quick ",
    "brown",
    " 1234",
    "\n\n",
    " ",
    "  ",
    "中文",
    "é",
    "<s>",
    "[SEP]",
    "<|im_end|>",
    "x" * 40,
)
SIDES = ("left", "right")


@cache
def pair(name: str) -> tuple[Any, Any]:
    own, mine = fresh(name), tokpar.as_hf(fresh(name))
    for each in (own, mine):
        if each.pad_token is None:
            each.pad_token = each.eos_token
    mine("a")
    return own, mine


def long_text(parts: Sequence[str]) -> str:
    """A text of 9,000 to 30,000 code points, whose ends differ."""
    body = "".join(parts) or "a"
    return "first " + body * (9000 // len(body) + 1) + "".join(reversed(parts)) + " last"


ARGUMENTS = {
    "return_offsets_mapping": st.just(True),
    "padding": st.sampled_from([True, "max_length"]),
    "return_tensors": st.just("np"),
    "return_special_tokens_mask": st.just(True),
    "add_special_tokens": st.booleans(),
}


@pytest.mark.ids
@at_most(60)
@given(
    name=st.sampled_from(sorted(SMALL)),
    side=st.sampled_from(SIDES),
    parts=st.lists(st.sampled_from(PARTS), max_size=12),
    length=st.integers(3, 150),
    is_batch=st.booleans(),
    arguments=st.fixed_dictionaries({}, optional=ARGUMENTS),
)
@example("bert", "left", ["the quick "], 20, False, {})
@example("bert", "left", ["the quick "], 20, False, {"return_offsets_mapping": True})
@example("llama 2", "right", ["the quick "], 20, True, {"return_offsets_mapping": True})
def test_truncated_texts_are_those_of_the_original(
    name: str,
    side: str,
    parts: list[str],
    length: int,
    is_batch: bool,
    arguments: dict[str, Any],
) -> None:
    own, mine = pair(name)
    own.truncation_side = mine.truncation_side = side
    text: Any = long_text(parts)
    text = [text, text[::-1], "short"] if is_batch else text
    if not is_batch or arguments.get("padding") is None:
        arguments = {k: v for k, v in arguments.items() if k != "return_tensors"}
    named = {"truncation": True, "max_length": length, **arguments}
    before = mine.tokpar_calls
    assert outcome(lambda: mine(text, **named)) == outcome(lambda: own(text, **named))
    assert mine.tokpar_calls - before == (3 if is_batch else 1)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("side", SIDES)
def test_only_what_is_kept_is_encoded(
    name: str, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, mine = pair(name)
    own.truncation_side = mine.truncation_side = side
    text, encoded = "The quick brown fox. " * 5000, list[int]()
    encode = PartEncoder.rows_and_ways

    def count(self: PartEncoder, texts: Sequence[str]) -> Any:
        encoded.extend(map(len, texts))
        return encode(self, texts)

    monkeypatch.setattr(PartEncoder, "rows_and_ways", count)
    named = {"truncation": True, "max_length": 64}
    assert mine(text, **named)["input_ids"] == own(text, **named)["input_ids"]
    assert sum(encoded) < 3000


@pytest.mark.parametrize("side", SIDES)
def test_a_lone_surrogate_that_is_not_kept_is_the_error_of_the_original(side: str) -> None:
    own, mine = pair("gpt2")
    own.truncation_side = mine.truncation_side = side
    for text in ("\ud800" + "the quick " * 900, "the quick " * 900 + "\ud800"):
        named = {"truncation": True, "max_length": 20}
        assert outcome(lambda t=text, n=named: mine(t, **n)) == outcome(
            lambda t=text, n=named: own(t, **n)
        )
