"""Edges of transcripts and sessions: the ids before them, and how far apart they are."""

from __future__ import annotations

import random
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
from tokpar.errors import OptionError
from tokpar.process import kernel_modules
from tokpar.sessions.editing import COMPILED_SEGMENT, SEGMENT
from tokpar.sessions.pins import TranscriptRow, _edges_in, _Judge, bytes_of_pin
from tokpar.sessions.rope import Node, Segment, join_ropes, join_until, rope_of
from tokpar.sessions.session import _identity
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


def test_the_bytes_of_a_pin_are_those_of_its_text() -> None:
    ids, cl100k = np.array([1, 2], dtype=np.uint32), tokpar.load(named_tokenizers()["cl100k_part"])
    with pytest.raises(OptionError, match="do not spell their text"):
        bytes_of_pin(WordHash(), ids, None)
    assert bytes_of_pin(WordHash(), ids, "é") == "é".encode()
    own = np.asarray(cl100k.encode("one two"))
    assert bytes_of_pin(cl100k, own, None) == bytes_of_pin(cl100k, own, "one two") == b"one two"
    with pytest.raises(OptionError, match="the ids of the pin spell b'one two'"):
        bytes_of_pin(cl100k, own, "one")


def test_no_window_of_a_transcript_holds_half_a_character() -> None:
    cuts = stable_cuts_for(facts_of(tokpar.load(named_tokenizers()["deepseek_part"])))
    windows = _Judge("ab\udc80\udc81cd e\udc82", cuts)._windows
    assert [(start, window.text) for start, window in windows] == [
        (0, "ab"),
        (3, ""),
        (4, "cd e"),
        (9, ""),
    ]


def test_segments_that_start_before_a_place_are_one() -> None:
    segments = [
        Segment(text, np.array([k], np.uint32)) for k, text in enumerate(["ab", "c", "def"])
    ]
    found = {least: [each.text for each in join_until(segments, least)] for least in range(5)}
    assert found == {
        0: ["ab", "c", "def"],
        1: ["ab", "c", "def"],
        2: ["ab", "c", "def"],
        3: ["abc", "def"],
        4: ["abcdef"],
    }
    assert join_until([], 3) == []


def test_joined_ropes_are_balanced() -> None:
    draw = random.Random(7)
    ropes: list[Any] = [
        rope_of([Segment("a", np.array([0], np.uint32))] * size) for size in range(1, 30)
    ]
    for _ in range(60):
        joined = join_ropes(draw.choice(ropes), draw.choice(ropes))
        ropes[draw.randrange(len(ropes))] = joined
        nodes = [joined]
        while nodes:
            node = nodes.pop()
            if isinstance(node, Node):
                assert abs(node.left.height - node.right.height) <= 1
                nodes += [node.left, node.right]


def test_a_tokenizer_is_named_with_its_fingerprint() -> None:
    adapter = tokpar.load(named_tokenizers()["deepseek_part"])
    assert _identity(adapter) == f"{adapter.name} (fingerprint {adapter.fingerprint[:12]}...)"
    assert _identity(WordHash()) == "word hash (no fingerprint)"
