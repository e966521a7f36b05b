"""Tokenizers with drawn rows of any of Hugging Face's stages, and real shapes of such rows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers

from tests.support.adversarial_texts import AdversarialTexts
from tests.support.stage_configs import CHARACTERS, CONTENTS, SPACES, Json, drawn_config
from tests.support.tokenizers_drawn import may_never_end

FLAGS = ("lstrip", "rstrip", "single_word", "normalized")
TEXTS = AdversarialTexts((CHARACTERS, CHARACTERS, SPACES))


def tokenizer_of(config: Json) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(config))


def drawn_tokenizer(rng: random.Random) -> Tokenizer:
    """Any row of stages around any model, with added tokens that have any flags."""
    tokenizer = tokenizer_of(drawn_config(rng))
    for _ in range(rng.choice((0, 0, 1, 2))):
        token = AddedToken(rng.choice(CONTENTS), **{flag: rng.random() < 0.25 for flag in FLAGS})
        if not may_never_end(token, tokenizer):
            tokenizer.add_tokens([token])
    return tokenizer


def shaped(own: Any, before: Sequence[Any] = (), row: Sequence[Any] = ()) -> Tokenizer:
    """A tokenizer of these parts."""
    tokenizer = Tokenizer(own)
    tokenizer.normalizer = normalizers.Sequence(list(before)) if before else None
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(row)) if row else None
    return tokenizer
