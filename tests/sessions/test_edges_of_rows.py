"""Edges of transcripts and sessions: the ids before them, and how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_below_one, needs_kernel
from tests.support.fakes import WordHash
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.stable_cuts import stable_cuts_for
from tokpar.process import kernel_modules
from tokpar.sessions.editing import COMPILED_SEGMENT, SEGMENT
from tokpar.sessions.pins import TranscriptRow, _edges_in
from tokpar.sessions.rope import Segment, rope_of
from tokpar.sessions.streaming import encodes_parts

TEXT = "It's 1,234 words of plain prose, and more. " * 40
pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def copied(name: str) -> Tokenizer:
    return Tokenizer.from_str(named_tokenizers()[name].to_str())


def edges_of(
    adapter: Any, text: str, skipped: int, data: bytes | None = None
) -> list[tuple[int, int]]:
    """The edges in a row of `text` without its first code points."""
    ids, rest = adapter.encode(text), len(adapter.encode(text[:skipped]))
    row = TranscriptRow(rope_of([Segment(text, np.asarray(ids))]), skipped, rest, data)
    return [*_edges_in(row, stable_cuts_for(facts_of(adapter)), adapter.encode)]


@pytest.mark.parametrize("skipped", [0, 4, 9])
def test_edges_in_a_row_are_counted_from_where_its_text_begins(skipped: int) -> None:
    adapter: Any = tokpar.load(named_tokenizers()["deepseek_part"])
    before = len(adapter.encode(TEXT[:skipped]))
    edges = edges_of(adapter, TEXT, skipped)
    assert len(edges) > 3
    for place, count in edges:
        assert count == len(adapter.encode(TEXT[: skipped + place])) - before


def test_pins_and_texts_without_cuts_have_no_edges_inside() -> None:
    adapter: Any = tokpar.load(named_tokenizers()["deepseek_part"])
    assert edges_of(adapter, TEXT, 0, b"pinned") == []
    assert edges_of(WordHash(), TEXT, 0) == []


@needs_kernel
@needs_below_one
@pytest.mark.parametrize("compiled", [True, False])
def test_segments_are_long_where_the_compiled_call_encodes_them(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(kernel_modules, "CALL", None)
    adapter = tokpar.load(copied("deepseek_part"))
    with tokpar.Encoder(adapter) as encoder:
        if compiled:
            encoder.prepare()
        session = encoder.session(TEXT * 50)
        encoded = session.replace(40_000, 40_001, "x").encoded
        assert session.ids.tolist() == adapter.encode(session.text).tolist()
    size = COMPILED_SEGMENT if compiled else SEGMENT
    assert size // 2 < encoded < 4 * size


def test_parts_are_encoded_where_post_processing_only_inserts_and_cuts_are_certified() -> None:
    own = copied("deepseek_part")
    assert encodes_parts(tokpar.load(own))
    own.enable_truncation(5)
    adapter = tokpar.load(own)
    assert not encodes_parts(adapter)
    assert [id_ for ids in tokpar.stream([*TEXT], own) for id_ in ids] == own.encode(TEXT).ids
    assert not encodes_parts(WordHash())
