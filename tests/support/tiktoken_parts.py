"""Encodings of tiktoken with the part vocabularies."""

from __future__ import annotations

import functools
import json

import tiktoken

from tests.support.paths import VOCAB
from tokpar.formats.formats import read_ranks

SPECIALS = {"<|end|>": 300_000, "<|end|><|of|>": 300_001, "<|fim|>": 300_002}


@functools.cache
def encoding(name: str = "cl100k_part") -> tiktoken.Encoding:
    pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[name]
    ranks = read_ranks(VOCAB / f"{name}.tiktoken")
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=SPECIALS)
