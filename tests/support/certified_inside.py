"""Seams inside a pre-token that are forced, and certificates of them."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer

import tokpar
from tests.support.certified import (
    encoding_of,
)
from tests.support.seams import part
from tokpar.arrays import byte_starts
from tokpar.encoding import Encoding
from tokpar.types import Seam

LETTERS = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=900))
LONG = f"Some words {LETTERS} end."
HEAD, TAIL = LONG.index(f" {LETTERS}"), LONG.index(" end")


@functools.cache
def adapter(name: str) -> Any:
    native = part(name)
    settings = {"add_special_tokens": False} if isinstance(native, Tokenizer) else {}
    return tokpar.load(native, **settings)


def certificate(tokenizer: Any, text: str, seams: Sequence[Seam]) -> Encoding:
    """The serial ids, and the seams with the number of ids before them."""
    ids = tokenizer.encode(text)
    begins = tokenizer.locate(ids, text)[:, 0]
    starts = byte_starts(text)
    counts = np.searchsorted(begins, starts[[seam.position for seam in seams]]).tolist()
    joined = [dataclasses.replace(s, token=n) for s, n in zip(seams, counts, strict=True)]
    return encoding_of(ids, joined)


def crossed(tokenizer: Any, text: str, position: int) -> bool:
    """Some token of the vocabulary occurs across the place; the slow way."""
    tokens, longest = tokenizer.facts.tokens(), tokenizer.facts.longest_token
    left, right = text[:position].encode()[-longest:], text[position:].encode()[:longest]
    return any(
        left[-i:] + right[:j] in tokens
        for i in range(1, len(left) + 1)
        for j in range(1, min(len(right), longest - i) + 1)
    )


def forced(position: int, start: int, stop: int) -> Seam:
    return Seam(position, "K4", "24", (("start", start), ("stop", stop)))


@functools.cache
def forced_places() -> tuple[int, ...]:
    """Places in the letters across which no token occurs, 150 characters apart."""
    tokenizer, places = adapter("cl100k_part"), [HEAD]
    for p in range(HEAD + 150, TAIL - 150):
        if p >= places[-1] + 150 and not crossed(tokenizer, LONG, p):
            places.append(p)
    return tuple(places[1:])


def forced_case() -> tuple[Any, str, Encoding]:
    tokenizer = adapter("cl100k_part")
    seams = [forced(p, HEAD, TAIL) for p in forced_places()]
    assert len(seams) > 2
    return tokenizer, LONG, certificate(tokenizer, LONG, seams)
