"""Vocabularies in which two tokens share one id."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer

from tests.support.tokenizers_drawn import byte_characters

ALPHABET = {char: byte for byte, char in enumerate(byte_characters())}
MORE = {"ab": 256, "xy": 256, "abc": 257}
MERGES = [("a", "b"), ("x", "y"), ("ab", "c")]
LONG = "xyc" * 2000


def sharing(
    more: Mapping[str, int] = MORE, merges: Sequence[tuple[str, str]] = MERGES
) -> dict[str, Any]:
    """A `tokenizer.json` of GPT-2's kind."""
    model = {"type": "BPE", "vocab": {**ALPHABET, **more}, "merges": [list(m) for m in merges]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    return {"pre_tokenizer": {**byte_level, "use_regex": True}, "model": model}


def tokenizer_of(config: dict[str, Any]) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(config))
