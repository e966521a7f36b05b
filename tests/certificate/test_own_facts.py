"""The checker reads each tokenizer's file by itself, and agrees with the planner where both read
right."""

from __future__ import annotations

from hypothesis import given
from tokenizers import Tokenizer

import tokpar
from tests.support.tokenizers_drawn import hf_tokenizers
from tokpar.certificate.fact_differences import checked_facts


@given(hf_tokenizers())
def test_the_facts_of_drawn_tokenizers_are_read_alike(tokenizer: Tokenizer) -> None:
    adapter = tokpar.load(tokenizer)
    assert checked_facts(adapter).findings == ()
    assert checked_facts(adapter).notes == ()
