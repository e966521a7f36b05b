"""Times the own call of a tokenizer and tokpar, in turn."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.arrays import IdArray, first_difference
from tokpar.cli import options
from tokpar.cli.summary import describe_compiled_call
from tokpar.loading import DEFAULT_TOKENIZER
from tokpar.results.encoding import Encoding

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter

FIRST_CHARS, GROWTH, MOST_CHARS = 1 << 16, 4, 1 << 25
MOST_SECONDS = 3.0
"""The own call gets a longer part, `GROWTH` times the last, while that should take less time."""
LEAST_ROUNDS, MOST_ROUNDS, SEEN_CALLS = 2, 5, 2
ROUNDS_SECONDS = 6.0
"""Seconds after which no further round begins."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What some rounds have shown.

    `seconds`: the least of "own", "cold" and "seen". `count`: the number of rounds. `ids`: of the
    own call. `equal_ids`: how many first ids each call of tokpar agreed on. `ids_equal`: True if
    all calls agreed on all ids. `encoding`, `tokenizer`: of the last cold call."""

    seconds: dict[str, float]
    count: int
    ids: IdArray
    equal_ids: int
    ids_equal: bool
    lossless: bool
    encoding: Encoding
    tokenizer: TokenizerAdapter


def run_rounds(
    own_call: Callable[[str], IdArray],
    text: str,
    fresh_tokenizer: Callable[[], TokenizerAdapter],
    workers: int | None,
) -> Rounds:
    """Times the own call, the first call of a tokenizer that has seen no text, and more calls of
    that tokenizer, until some seconds are over."""
    from tokpar.encoder import Encoder

    times: dict[str, list[float]] = {"own": [], "cold": [], "seen": []}
    equal_ids, ids_equal, lossless = sys.maxsize, True, True
    start = time.perf_counter()
    while True:
        tokenizer = fresh_tokenizer()
        ids, seconds = time_call(own_call, text)
        times["own"].append(seconds)
        with Encoder(tokenizer, workers=workers) as encoder:
            found = {}
            for call in ("cold", *["seen"] * SEEN_CALLS):
                found[call], seconds = time_call(encoder.encode, text)
                times[call].append(seconds)
                equal_ids = min(equal_ids, first_difference(ids, found[call].ids))
                ids_equal = ids_equal and np.array_equal(ids, found[call].ids)
                lossless = lossless and found[call].lossless
        count = len(times["own"])
        is_late = time.perf_counter() - start > ROUNDS_SECONDS
        if count >= MOST_ROUNDS or (count >= LEAST_ROUNDS and is_late):
            break
    least = {call: min(each) for call, each in times.items()}
    return Rounds(least, count, ids, equal_ids, ids_equal, lossless, found["cold"], tokenizer)


def fresh_tokenizer(arguments: argparse.Namespace) -> TokenizerAdapter:
    """Returns the tokenizer of the arguments as an object that has seen no text, after its tables
    were made."""
    if arguments.tokenizer == DEFAULT_TOKENIZER:  # `load` keeps that one
        with resources.as_file(resources.files("tokpar.data") / "default.json") as file:
            as_file = argparse.Namespace(**vars(arguments) | {"tokenizer": str(file)})
            return fresh_tokenizer(as_file)
    tokenizer: Any = options.tokenizer_of(arguments)
    if tokenizer.name.startswith("tiktoken:"):  # kept with the encoding, which tiktoken keeps
        make, given = tokenizer.spec()
        tokenizer = make(**given)
    describe_compiled_call(tokenizer)
    return tokenizer  # type: ignore[no-any-return]


def longest_part(call: Callable[[str], IdArray], text: str) -> str:
    """Returns the longest part tried of the text that `call` encodes in a few seconds."""
    size = min(len(text), FIRST_CHARS)
    while True:
        part = text[:size]
        _, seconds = time_call(call, part)
        if size == len(text) or size >= MOST_CHARS or GROWTH * seconds > MOST_SECONDS:
            return part
        size = min(len(text), GROWTH * size)


def time_call(call: Callable[[str], Any], text: str) -> tuple[Any, float]:
    """Returns the result of a call, and its seconds."""
    start = time.perf_counter()
    result = call(text)
    return result, time.perf_counter() - start
