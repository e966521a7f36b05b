"""Tokenizers with an added token that was added again with other flags: no copy reproduces some."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.conftest import needs_below_one
from tests.support.paths import VOCAB
from tokpar.errors import OptionError

pytestmark = [pytest.mark.ids, needs_below_one]

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
ADDED = st.tuples(st.sampled_from(["<x>", "ab", "Hello"]), st.sets(st.sampled_from(FLAGS)))
TEXTS = ["x<x> ab Hello <X>abHello", "<x> " * 12 + "ab hello", "", "a <x>"]
ALTERED = [("<x>", {"special"}), ("<x>", {"lstrip"})]


def made(added: list[tuple[str, set[str]]], ends: dict[str, Any]) -> Tokenizer:
    """A WordPiece tokenizer that gets tokens one by one."""
    config = json.loads((VOCAB / "bert_part.json").read_text(encoding="utf-8"))
    own = Tokenizer.from_str(json.dumps(config))
    for content, flags in added:
        own.add_tokens([AddedToken(content, **{flag: flag in flags for flag in FLAGS})])
    own.no_truncation()
    own.no_padding()
    if "max_length" in ends:
        own.enable_truncation(ends["max_length"])
    if "length" in ends:
        own.enable_padding(length=ends["length"])
    return own


ENDS = st.fixed_dictionaries(
    {}, optional={"max_length": st.integers(3, 30), "length": st.integers(1, 20)}
)


@given(st.lists(ADDED, min_size=1, max_size=4), ENDS)
@example(ALTERED, {"max_length": 8})
@example(ALTERED, {"length": 9})
@example(ALTERED, {})
def test_batches_have_the_own_ids_or_an_error_whose_advice_gives_them(
    added: list[tuple[str, set[str]]], ends: dict[str, Any]
) -> None:
    own = made(added, ends)
    encoder = tokpar.Encoder(own)
    expected = [own.encode(text).ids for text in TEXTS]
    assert [encoder.encode(text).ids.tolist() for text in TEXTS] == expected
    assert [each.ids.tolist() for each in encoder.encode_iter(TEXTS)] == expected
    said = None
    try:
        rows = [each.ids.tolist() for each in encoder.encode_batch(TEXTS)]
    except OptionError as error:
        said = str(error)
    if said is not None:
        assert ends
        assert "call no_truncation() and no_padding() of the tokenizer first" in said
        own.no_truncation()
        own.no_padding()
        rows = [each.ids.tolist() for each in tokpar.Encoder(own).encode_batch(TEXTS)]
    assert rows == [each.ids for each in own.encode_batch(TEXTS)]


def test_a_token_added_again_with_other_flags_is_one_that_no_copy_reproduces() -> None:
    with pytest.raises(OptionError, match="text 0 of the batch: its truncation and padding"):
        tokpar.Encoder(made(ALTERED, {"max_length": 8})).encode_batch(TEXTS)
