"""The edges of pre-tokens that engines find."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Regex, pre_tokenizers


def own_edges(patterns: Sequence[str], text: str) -> list[int]:
    row = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    found = pre_tokenizers.Sequence(row).pre_tokenize_str(text) if text else []
    return [0, *(stop for _, (_, stop) in found)]
