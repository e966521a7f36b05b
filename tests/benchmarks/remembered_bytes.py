"""What a memory holds after a text, and what encoding takes beside it: no times."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

import tokpar
from tests.benchmarks.remembered_sides import Text
from tests.benchmarks.speed_engines import Subject

KEPT_BY = "_segment_cache"
"""The attribute of an adapter that has its memory."""
SCRATCH = "Room"
"""The class of what a memory keeps only to write into."""


@dataclass(frozen=True)
class Held:
    """`table`: bytes of arrays that the memory holds after the text. `cold`, `seen`: the most that
    there was beside that table in a call, its ids and what the memory writes into among it, when
    the text was new, and again: what Python and numpy were given, not what an engine took."""

    subject: str
    kind: str
    bytes: int
    table: int
    cold: int
    seen: int


def held(subject: Subject, text: Text) -> Held:
    """Of a new adapter."""
    encoder = tokpar.Encoder(subject.load())
    encoder.encode("a")
    call = encoder.encode_batch if text.together else encoder.encode
    given: Any = text.texts if text.together else text.texts[0]
    tracemalloc.start()
    try:
        cold = _beside(lambda: call(given), encoder.tokenizer)
        seen = _beside(lambda: call(given), encoder.tokenizer)
    finally:
        tracemalloc.stop()
    table, _ = cache_bytes(encoder.tokenizer)
    return Held(subject.name, text.kind, text.bytes, table, cold, seen)


def _beside(call: Callable[[], Any], adapter: Any) -> int:
    """The most that there is in a call, but for the table as it is then."""
    gc.collect()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    table_before, scratch = cache_bytes(adapter)
    result = call()
    _, most = tracemalloc.get_traced_memory()
    del result
    table, _ = cache_bytes(adapter)
    return max(0, most - before - (table - table_before)) + scratch


def cache_bytes(adapter: Any) -> tuple[int, int]:
    """Of the arrays that belong to the adapter's memory, each once: its table, and its scratch."""
    found: dict[int, int] = {}
    scratch = 0
    seen: set[int] = set()
    left = [getattr(adapter, KEPT_BY, None)]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            whole = each if each.base is None else each.base
            found[id(whole)] = getattr(whole, "nbytes", each.nbytes)
        elif type(each).__name__ == SCRATCH:
            scratch += sum(getattr(part, "nbytes", 0) for part in _parts(each))
        else:
            left += _parts(each)
    return sum(found.values()), scratch


def _parts(each: Any) -> list[Any]:
    """What it is made of, where it belongs to the kernel or is a plain container."""
    if isinstance(each, (list, tuple)):
        return list(each)
    if isinstance(each, dict):
        return list(each.values())
    if not type(each).__module__.startswith("tokpar.cache"):
        return []
    if is_dataclass(each):
        return [getattr(each, field.name) for field in fields(each)]
    return list(getattr(each, "__dict__", {}).values())
