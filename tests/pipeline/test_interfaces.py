"""Optional members of interfaces."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tokpar
from tokpar.adapter_parts import own_call_of
from tokpar.foreign_parts import mend_chunks
from tokpar.interfaces import Executor, Merger, Splitter, TokenizerAdapter
from tokpar.plan import licence_of, look_up_of, matches_spans, without_cache_of
from tokpar.types import Chunk, Seam


def of_class(values: dict[str, Any]) -> Any:
    return type("Own", (), values)()


def of_object(values: dict[str, Any]) -> Any:
    return SimpleNamespace(**values)


def method(*arguments: object) -> None:
    """What an object may have."""


class InheritsSplitter(Splitter):
    def split(self, text: str, tokenizer: Any, attempt: int) -> Any: ...


class InheritsExecutor(Executor):
    name = "own"

    def map(self, texts: Any, tokenizer: Any, spans: bool) -> Any: ...


class InheritsMerger(Merger):
    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Any: ...


class InheritsAdapter(TokenizerAdapter):
    name = "own"

    def encode(self, text: str) -> Any: ...


HALVES = [Chunk(0, 2, 0, 2), Chunk(2, 4, 2, 4)]


@pytest.mark.parametrize("inherits", [True, False])
def test_a_part_may_lack_each_optional_member_even_if_it_inherits_from_the_interface(
    inherits: bool,
) -> None:
    lacks: Any = SimpleNamespace(name="own")
    executor = InheritsExecutor() if inherits else lacks
    merger = InheritsMerger() if inherits else lacks
    assert licence_of(InheritsSplitter() if inherits else lacks, tokpar.load()) is None
    assert look_up_of(executor) is None
    assert without_cache_of(executor) == "own"
    assert not matches_spans(merger)
    assert own_call_of(InheritsAdapter() if inherits else lacks) is None
    fused = mend_chunks(merger, "abcd", HALVES, [1], tokpar.load())
    assert fused is not None
    assert [(chunk.start, chunk.stop) for chunk in fused] == [(0, 4)]


@pytest.mark.parametrize("place", [of_class, of_object])
def test_optional_members_of_parts_are_found_in_class_and_object(place: Any) -> None:
    class Licenses(InheritsSplitter):
        def licence(self, tokenizer: Any) -> Seam | None:
            return Seam(0, None, tokenizer.name)

    values = {"name": "own", "matches_spans": True, "without_cache": "other"}
    part = place(values)
    assert matches_spans(part)
    assert without_cache_of(part) == "other"
    part.look_up = part.encode_whole = method
    assert look_up_of(part) is own_call_of(part) is method
    mended = SimpleNamespace(name="own", mend=lambda *arguments: None)
    assert mend_chunks(mended, "abcd", HALVES, [1], tokpar.load()) is None
    assert licence_of(Licenses(), SimpleNamespace(name="x", encode=method)) == Seam(0, None, "x")
