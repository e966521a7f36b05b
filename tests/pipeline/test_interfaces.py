"""Abilities: what an object has is what `isinstance` of `typing` finds, only sooner."""

from __future__ import annotations

import typing
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tokpar import interfaces, loading, streaming
from tokpar.interfaces import (
    Ability,
    Decodes,
    EncodesMany,
    Executor,
    HasFacts,
    HasSegmentCache,
    Merger,
    PostProcesses,
    Splitter,
    TokenizerAdapter,
    licence_of,
    look_up_of,
    matches_spans,
    mend_of,
    own_call_of,
    token_bytes_of,
    without_cache_of,
)
from tokpar.types import Chunk, Seam

ABILITIES = {
    value.__name__: value
    for module in (interfaces, loading, streaming)
    for value in vars(module).values()
    if isinstance(value, Ability)
}
MEMBERS = {
    kind: [
        name
        for name, member in vars(kind).items()
        if not name.startswith("_") and not hasattr(getattr(member, "fget", member), "is_optional")
    ]
    for kind in ABILITIES.values()
}


def usual(kind: Any) -> Any:
    """The same protocol with the `isinstance` that Python has."""
    body = {name: vars(kind)[name] for name in MEMBERS[kind]}
    return runtime_checkable(type(Protocol)(kind.__name__, (Protocol,), body))


USUAL = {kind: usual(kind) for kind in MEMBERS}


def of_class(values: dict[str, Any]) -> Any:
    return type("Own", (), values)()


def of_object(values: dict[str, Any]) -> Any:
    return SimpleNamespace(**values)


def method(*arguments: object) -> None:
    """What an object may have."""


@given(st.sampled_from(list(MEMBERS)), st.data())
def test_an_ability_is_found_where_the_usual_isinstance_finds_it(
    kind: Any, data: st.DataObject
) -> None:
    values = st.sampled_from((method, method, None, 3))
    place = data.draw(st.sampled_from((of_class, of_object)))
    drawn = st.fixed_dictionaries({}, optional=dict.fromkeys(MEMBERS[kind], values))
    instance = place(data.draw(drawn))
    assert isinstance(instance, kind) == isinstance(instance, USUAL[kind])


@pytest.mark.parametrize("kind", list(MEMBERS), ids=lambda kind: kind.__name__)
def test_every_ability_has_members_and_is_found_as_typing_finds_it(kind: Any) -> None:
    assert MEMBERS[kind]
    assert isinstance(of_class(dict.fromkeys(MEMBERS[kind], method)), kind)
    adapter, other = tokpar.load(), SimpleNamespace(name="x")
    assert [isinstance(each, kind) for each in (adapter, other)] == [
        isinstance(each, USUAL[kind]) for each in (adapter, other)
    ]


def test_a_property_is_not_asked_when_its_class_has_it() -> None:
    class Costly:
        @property
        def special_tokens(self) -> None:
            raise AssertionError("nobody wants to know")

        truncates_to, pads = 5, True

        def postprocess(self, rows: object, texts: object) -> None: ...

    assert isinstance(Costly(), PostProcesses)
    assert not isinstance(Costly(), EncodesMany)
    assert not isinstance(Costly(), HasSegmentCache)


def test_an_object_needs_no_optional_member_of_an_ability() -> None:
    assert set(MEMBERS[Decodes]) == {"decode"}
    assert isinstance(SimpleNamespace(decode=method), Decodes)
    assert token_bytes_of(SimpleNamespace(decode=method)) is None
    assert set(MEMBERS[HasFacts]) == {"facts"}


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
    fused = mend_of(merger)("abcd", HALVES, [1], tokpar.load())
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
    part.look_up = part.mend = part.encode_whole = method
    assert look_up_of(part) is mend_of(part) is own_call_of(part) is method
    assert licence_of(Licenses(), SimpleNamespace(name="x", encode=method)) == Seam(0, None, "x")


def test_every_protocol_that_is_asked_for_is_an_ability() -> None:
    for module in (interfaces, loading, streaming):
        for value in vars(module).values():
            if getattr(value, "_is_runtime_protocol", False) and value is not typing.Protocol:
                assert isinstance(value, Ability), value
