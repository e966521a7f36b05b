"""Functions that make tables of the compiled call, each by itself."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.drawn_runs import adapter_of, named
from tests.support.fakes import WordHash
from tokpar.compiled import compiled_call, utf8_texts
from tokpar.compiled.character_tables import character_stages
from tokpar.compiled.charsmap_tables import _string_of
from tokpar.compiled.merges import GateError
from tokpar.compiled.pair_tables import GAP, OPEN, PASS, _symbol
from tokpar.compiled.segment_engine import SegmentEngine
from tokpar.compiled.utf8_texts import TextColumn, Utf8Texts
from tokpar.compiled.wordpiece_tables import BLANK, CHANGED, CONTEXT, ISOLATED, SAME, _kind
from tokpar.contract.interfaces import facts_of

KINDS_OF = {" ": BLANK, "a": SAME, "b": SAME, "中": ISOLATED, "̈": CONTEXT}
SYMBOLS = {" ": GAP, "a": 1, "b": 2, "c": 1}
APART = 9


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("a", CHANGED),
        ("ab", CHANGED),
        ("  ", BLANK),
        ("中", ISOLATED),
        (" 中 ", ISOLATED),
        (" ab ", ISOLATED),
        (" 中a ", CONTEXT),
        ("中中", CONTEXT),
        ("a中a", CONTEXT),
        ("a ", CONTEXT),
        ("b中b", CONTEXT),
        ("̈", CONTEXT),
    ],
)
def test_what_the_form_of_a_character_is(form: str, expected: int) -> None:
    kinds = bytearray(0x4E2E)
    for char, kind in KINDS_OF.items():
        kinds[ord(char)] = kind
    assert _kind(form, bytes(kinds)) == expected


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("", (PASS, "")),
        ("  ", (GAP, "")),
        ("a", (1, "a")),
        ("ac", (1, "ac")),
        ("b", (2, "b")),
        ("bb", (OPEN, "")),  # a cut between two of them
        ("ab", (OPEN, "")),
        (" a ", (APART, "a")),
        (" bb ", (OPEN, "")),
        ("a ", (OPEN, "")),
    ],
)
def test_the_symbol_of_a_form_is_that_of_one_pre_token(
    form: str, expected: tuple[int, str]
) -> None:
    own, cuts = bytearray(128), np.zeros(64, dtype=np.uint64)
    for char, symbol in SYMBOLS.items():
        own[ord(char)] = symbol
    cuts[2] = 1 << 2 | 1 << 1
    cuts[1] = 1 << 2 | 1
    assert _symbol(form, bytes(own), cuts, APART) == expected


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ({"type": "Replace", "pattern": {"String": "ab"}, "content": ""}, "ab"),
        ({"type": "Replace", "pattern": {"Regex": "ab"}, "content": ""}, ""),
        ({"type": "Prepend", "prepend": "x"}, ""),
        ({"type": "Split", "pattern": {"String": "ab"}}, ""),
    ],
)
def test_the_string_that_a_replace_looks_for(stage: Any, expected: str) -> None:
    assert _string_of(stage) == expected


def test_a_normalizer_that_does_not_end_with_marks_is_refused() -> None:
    marks = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Prepend", "prepend": "▁"}
    row = {"type": "Sequence", "normalizers": [prepend, marks]}
    assert character_stages(marks, None)[:2] != character_stages(row, None)[:2]
    for refused in (
        {"type": "NFC"},
        marks | {"content": "_"},
        {"type": "Sequence", "normalizers": [marks, prepend]},
        {"type": "Sequence", "normalizers": [{"type": "NFC"}, marks]},
        {"type": "Sequence", "normalizers": [prepend | {"prepend": "x"}, marks]},
    ):
        with pytest.raises(GateError):
            character_stages(refused, None)


@pytest.mark.parametrize("needle", [b"a", b"ab", b"aa"])
@pytest.mark.parametrize("block", [1, 2, 3, 1000])
def test_bytes_are_found_over_the_edges_of_blocks(
    needle: bytes, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utf8_texts, "_BLOCK", block)
    data = b"abaab aaa b"
    expected = [k for k in range(len(data)) if data.startswith(needle, k)]
    assert [*utf8_texts._places(np.frombuffer(data, np.uint8), needle)] == expected


def test_columns_become_one_buffer() -> None:
    columns = []
    for texts in (["one", "é"], [], ["", "two three", "中"]):
        data = [text.encode() for text in texts]
        edges = np.cumsum([2, *map(len, data)], dtype=np.int64)  # behind two other bytes
        lengths = np.array([*map(len, texts)], dtype=np.int64)
        columns.append(TextColumn(np.frombuffer(b"xx" + b"".join(data), np.uint8), edges, lengths))
    found = Utf8Texts(tuple(columns))
    data, edges = found.rows()
    assert len(data) == edges[-1] + utf8_texts.PAD
    texts = [bytes(data[a:b]).decode() for a, b in pairwise(edges)]
    assert texts == ["one", "é", "", "two three", "中"] == [*found]
    assert found.find_texts_with(["tw", "é"]) == [1, 3]


def test_a_long_segment_is_cut_where_a_cut_is_certified() -> None:
    engine: Any = SimpleNamespace(facts=facts_of(adapter_of(named("deepseek_part"))))
    text = "onetwo three four"
    assert SegmentEngine._find_cut(engine, text, 3) == 6
    assert SegmentEngine._find_cut(engine, "onetwothree", 3) is None
    refused: Any = SimpleNamespace(facts=facts_of(WordHash()))
    assert SegmentEngine._find_cut(refused, text, 3) is None


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("sizes", [[], [3], [3, 4], [0, 0], [1 << 20] * 9, [1, 1 << 22, 1]])
def test_each_text_is_in_one_block(sizes: list[int], workers: int) -> None:
    blocks = compiled_call._blocks(np.array(sizes, dtype=np.int64), workers)
    numbers = [*range(len(sizes))]
    assert [k for block in blocks for k in numbers[block]] == numbers
