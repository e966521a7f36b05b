"""Texts for which the engine may place tokens wrongly, by the table and the stages before it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tokpar_conformance.worlds.charsmaps import charsmap

from tokpar.facts.charsmap import Charsmap, _offset
from tokpar.facts.wrong_offsets import _Table
from tokpar.types import NormalizerStage

BEGINNING, BEHIND = "at the beginning of the text", "behind added token '<s>'"
LOWERCASE = NormalizerStage("Lowercase")


class Deletes:
    """A table that may delete these characters."""

    def __init__(self, chars: str) -> None:
        self.chars = chars

    def may_delete(self, char: str) -> bool:
        return char in self.chars


def replaces(pattern: object, content: str) -> NormalizerStage:
    return NormalizerStage("Replace", (("pattern", pattern), ("content", content)))


@pytest.mark.parametrize(
    ("chars", "stages", "text", "why"),
    [
        ("x", (), "ab", None),
        ("x", (), "xa", BEGINNING),
        ("x", (), "ax", None),
        ("x", (), " xa", None),
        ("x", (), "a<s>x", BEHIND),
        ("x", (), "", None),
        ("x", (LOWERCASE,), "aX", None),
        ("x", (LOWERCASE,), " \tXa", BEGINNING),
        ("\t", (LOWERCASE,), "a\tb", BEGINNING),
        ("x", (LOWERCASE,), "\u0300a", BEGINNING),  # it is not known what the stages make of it
        ("x", (replaces("a", "b"),), "ab", BEGINNING),
        ("x", (replaces(" a", "b"),), "c d", None),
        ("x", (replaces("a", "b"),), "cb", None),
        ("x", (replaces("a", "x"),), "cb", "what the normalizer Replace gives"),
        ("x", (replaces("a", ""),), "cb", None),
        ("x", (NormalizerStage("Prepend"),), "cb", "what the normalizer Prepend gives"),
    ],
)
def test_a_character_that_may_be_deleted_where_a_segment_begins(
    chars: str, stages: tuple[NormalizerStage, ...], text: str, why: str | None
) -> None:
    table: Any = _Table(Deletes(chars), stages, ("<s>",))  # type: ignore[arg-type]
    found = table.why(text)
    assert found is None if why is None else why in str(found), found


def test_a_table_deletes_what_it_replaces_by_nothing() -> None:
    table = {"\u200b": "", "ﬁ": "fi", "x": "y", "é": ""}
    read = Charsmap(base64.b64encode(charsmap(table)).decode())
    assert [char for char in [*table, "f", "a", "y"] if read.may_delete(char)] == ["\u200b", "é"]
    assert [read.image(char) for char in table] == ["", "fi", "y", ""]
    data = bytearray(charsmap(table))
    data[4] ^= 1  # the label of the root, which nobody reads; it stands behind the size
    read = Charsmap(base64.b64encode(data).decode())
    assert [read.image(char) for char in table] == ["", "fi", "y", ""]


def test_an_offset_of_a_unit_with_its_ninth_bit_counts_in_blocks() -> None:
    assert [_offset(5 << 10), _offset(5 << 10 | 1 << 9), _offset(5 << 10 | 97)] == [5, 1280, 5]
