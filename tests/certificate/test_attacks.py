"""Forged ids, seams and files: no wrong ids pass level `ids` or `model`, and nothing crashes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.conftest import drawn
from tests.support.attacks import attack, attack_tokenizer
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.loading import load

pytestmark = pytest.mark.ids


def test_no_attack_on_drawn_tokenizers_passes_wrong_ids() -> None:
    seen: Counter[str] = Counter()
    rng = random.Random("attacks")
    for _ in range(drawn(12)):
        attack_tokenizer(rng, seen, texts=2)
    assert seen["ids: refused, ids wrong"] > drawn(100)
    assert seen["ids: passed, ids right"] > drawn(10)
    assert seen["model: passed, ids right"] > 0


@pytest.mark.parametrize("name", sorted(named_tokenizers()))
def test_no_attack_on_parts_of_real_vocabularies_passes_wrong_ids(name: str) -> None:
    tokenizer = named_tokenizers()[name]
    settings: dict[str, Any] = (
        {"disallowed_special": ()} if hasattr(tokenizer, "encode_ordinary") else {}
    )
    seen: Counter[str] = Counter()
    attack(random.Random(name), load(tokenizer, **settings), seen)
    assert seen["ids: refused, ids wrong"] > 5
