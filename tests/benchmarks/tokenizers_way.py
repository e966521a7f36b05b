"""Which way the texts of a tokenizer go: its model is read from the file, the engine is asked for
words, or the own call encodes each text; and why."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tokpar.compiled import compiled_build, segment_tables
from tokpar.compiled.merges import GateError
from tokpar.compiled.segment_engine import SegmentEngine
from tokpar.contract.adapter import later_call_of
from tokpar.contract.interfaces import facts_of

BY_WORDS, BY_OWN = "words by the engine", "own call"
NEW_WORDS = 40


def way_of(adapter: Any, load_again: Callable[[], Any]) -> dict[str, str]:
    """`way`: what the compiled call knows of the model; `why`: why it knows no more."""
    call = _call_of(adapter)
    if call is None:
        return {"way": BY_OWN, "why": adapter.why_not_compiled}
    if call.asks_engine and _asks_for_words(call):
        with _without_words():
            later = later_call_of(load_again())
        if later is None or later.call is None:  # no table but one of words
            why = "" if later is None else later.why_none
            return {"way": BY_WORDS, "why": _first_reason(why)}
    facts = facts_of(adapter)
    kind = "BPE over bytes" if facts.byte_level or facts.engine != "oniguruma" else facts.model
    return {"way": "BPE over characters" if kind == "BPE" else kind, "why": ""}


def _call_of(adapter: Any) -> Any:
    later = later_call_of(adapter)
    return None if later is None else later.wait()


def _asks_for_words(call: Any) -> bool:
    """True if the engine gets words that nobody has met."""
    draw, asked = random.Random(0), list[str]()
    words = ["".join(draw.choices(string.ascii_letters, k=9)) for _ in range(NEW_WORDS)]
    rows, whole = SegmentEngine.rows, SegmentEngine._whole

    def counted_rows(engine: SegmentEngine, segments: list[str]) -> Any:
        asked.extend(segments)
        return rows(engine, segments)

    def counted_whole(engine: SegmentEngine, text: str, special: Any) -> Any:
        asked.append(text)
        return whole(engine, text, special)

    with (
        mock.patch.object(SegmentEngine, "rows", counted_rows),
        mock.patch.object(SegmentEngine, "_whole", counted_whole),
    ):
        call.encode(f"the {' '.join(words)} the")
    return bool(asked)


@contextmanager
def _without_words() -> Iterator[None]:
    """Within it no tables without the model are made, and none are read."""

    def refuse(_: object) -> Any:
        raise GateError("")

    with (
        mock.patch.object(segment_tables, "segment_arrays", refuse),
        mock.patch.object(compiled_build, "_stored_call", return_value=None),
        mock.patch.object(compiled_build, "IN_BACKGROUND", False),
    ):
        yield


def _first_reason(why: str) -> str:
    return why.partition("; and ")[0]
