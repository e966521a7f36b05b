"""Characters that the engines fold to ASCII letters are undecided at level `model`."""

from __future__ import annotations

import pytest
import tiktoken
from tokpar_model import model_findings

import tokpar


@pytest.mark.parametrize(("char", "letter"), [("\u017f", "s"), ("\u212a", "k")])
def test_ids_of_a_folded_letter_are_not_judged(char: str, letter: str) -> None:
    """The engine takes "'" and the letter as one pre-token. No other class of the pattern is
    undecided on it, so the two pieces of a machine without folding would pass."""
    whole = f"'{char}".encode()
    ranks = {bytes([b]): b for b in range(256)}
    ranks |= {whole[: 2 + k]: 256 + k for k in range(len(whole) - 1)}
    encoding = tiktoken.Encoding(
        "folded", pat_str=rf"'(?i:{letter})|[^']|'", mergeable_ranks=ranks, special_tokens={}
    )
    adapter = tokpar.load(encoding)
    text = f"'{char}"
    right = adapter.encode(text)
    assert len(right) == 1
    for ids in (right, list(whole)):
        proof = model_findings(adapter, text, ids)
        assert proof.refusal is not None
        assert proof.refusal[0] == "class"
    plain = f"'{letter}"
    assert model_findings(adapter, plain, adapter.encode(plain)).ok
