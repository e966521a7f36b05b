"""What splitters, mergers and executors of plugins return is checked, `python -O` or not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tokpar.contract.interfaces import Executor, Merger, Splitter, TokenizerAdapter
from tokpar.contract.part_checks import METHODS, OPTIONAL
from tokpar.errors import PluginError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutSplitter
from tokpar.methods.mergers import LicensedMerger
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.plan import Plan
from tokpar.types import Chunk, Join, Piece, Split

pytestmark = pytest.mark.ids

TEXT = "The quick brown fox jumps over the lazy dog, 1234567 times. " * 5
TOKENIZER = tokpar.load()


@dataclass(frozen=True)
class Splits:
    """A plugin's splitter: gives `answer` from attempt `first` on, one of cuts before."""

    answer: object
    first: int = 0

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Any:
        return self.answer if attempt >= self.first else CutSplitter(20).split(text, tokenizer, 0)


@dataclass(frozen=True)
class Merges:
    """A plugin's merger: gives `joins`, and to repair them `chunks`."""

    joins: object
    chunks: Any = None

    def merge(self, *given: Any) -> Any:
        return self.joins

    def mend(self, *given: Any) -> Any:
        return self.chunks


def encode(splitter: Any, merger: Any, combined: bool) -> list[int]:
    """The ids of TEXT. `combined`: as a splitter and a merger that a caller combines."""
    if combined:
        merger = LicensedMerger(merger)
    plan = Plan(TOKENIZER, splitter, SerialExecutor(), merger)
    return pipeline.encode_batch([TEXT], plan)[0].ids.tolist()


def right_chunks() -> list[Chunk]:
    return list(CutSplitter(20).split(TEXT, TOKENIZER, 0).chunks)


@st.composite
def wrong_chunks(draw: st.DrawFn) -> object:
    """The chunks of a splitter with one mistake: they do not tile the text, or are none."""
    chunks: list[Any] = right_chunks()
    k = draw(st.integers(0, len(chunks) - 1))
    by = draw(st.sampled_from([-30, -2, -1, 1, 2, 30]))
    chunk = chunks[k]
    mistakes: list[Callable[[], object]] = [
        lambda: chunks[:-1],
        lambda: chunks[:k] + chunks[k + 1 :],
        lambda: [*chunks, chunks[-1]],
        lambda: [*chunks[:k], (chunk.start, chunk.stop), *chunks[k + 1 :]],
        lambda: [*chunks[:k], replace(chunk, core_stop=chunk.core_stop + by), *chunks[k + 1 :]],
        lambda: [*chunks[:k], replace(chunk, core_start=chunk.core_start + by), *chunks[k + 1 :]],
        lambda: [*chunks[:k], replace(chunk, start=chunk.start + abs(by)), *chunks[k + 1 :]],
        lambda: [*chunks[:k], replace(chunk, stop=chunk.stop - abs(by)), *chunks[k + 1 :]],
        list,
        lambda: iter(chunks),
        lambda: None,
    ]
    return draw(st.sampled_from(mistakes))()


@given(
    answer=wrong_chunks().map(lambda chunks: Split(chunks))
    | st.sampled_from([None, right_chunks(), tuple(right_chunks()), TEXT, Join]),
    first=st.integers(0, 1),
    combined=st.booleans(),
)
def test_a_split_that_does_not_tile_the_text_is_refused_and_its_splitter_is_named(
    answer: Any, first: int, combined: bool
) -> None:
    merger = Merges([None] * (len(right_chunks()) - 1))  # asks for the next attempt
    said = "" if isinstance(answer, Split) else ".*must return a Split, got"
    with pytest.raises(PluginError, match=rf"splitter tests\..*test_foreign_parts\.Splits{said}"):
        encode(Splits(answer, first), merger, combined)


@given(chunk_chars=st.integers(1, 60), combined=st.booleans())
def test_a_splitter_that_never_returns_one_chunk_is_refused(
    chunk_chars: int, combined: bool
) -> None:
    split = CutSplitter(chunk_chars).split(TEXT, TOKENIZER, 0)
    merger = Merges([None] * (len(split.chunks) - 1))
    with pytest.raises(PluginError, match=r"Splits: none of 64 attempts returned one chunk"):
        encode(Splits(split), merger, combined)


@given(
    joins=st.one_of(
        st.integers(0, 40)
        .filter(lambda count: count != len(right_chunks()) - 1)
        .map(lambda count: [None] * count),
        st.sampled_from([None, iter(()), [1] * (len(right_chunks()) - 1)]),
    ),
    combined=st.booleans(),
)
def test_a_merger_that_does_not_answer_for_each_pair_is_refused_and_named(
    joins: object, combined: bool
) -> None:
    with pytest.raises(PluginError, match=r"merger tests\..*test_foreign_parts\.Merges.*a Join or"):
        encode(CutSplitter(20), Merges(joins), combined)


@given(chunks=wrong_chunks().filter(lambda chunks: chunks is not None), combined=st.booleans())
def test_chunks_of_a_repair_that_do_not_tile_the_text_are_refused(
    chunks: Any, combined: bool
) -> None:
    merger = Merges([None] * (len(right_chunks()) - 1), chunks)
    with pytest.raises(PluginError, match=r"merger tests\..*Merges: mend"):
        encode(CutSplitter(20), merger, combined)


@dataclass(frozen=True)
class MovesCounts:
    """A merger that joins at every cut, off by so many ids at one seam."""

    place: int
    left: int
    right: int

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        cuts = [chunk.cut for chunk in chunks if chunk.cut is not None]
        return [
            Join(cut, len(pieces[k].ids) + self.left, self.right)
            if k == self.place
            else Join(cut, len(pieces[k].ids), 0)
            for k, cut in enumerate(cuts)
        ]


@given(
    place=st.integers(0, len(right_chunks()) - 2),
    left=st.integers(-9, 9),
    right=st.integers(-9, 9),
    reach=st.integers(0, 9),
)
def test_a_join_of_more_or_fewer_ids_than_there_are_is_never_taken(
    place: int, left: int, right: int, reach: int
) -> None:
    """Where chunks overlap a merger may drop ids, but not a negative number, nor more than all."""
    chunks = right_chunks()
    if reach:  # the chunk behind the seam begins before its core
        chunks[place + 1] = replace(chunks[place + 1], start=chunks[place + 1].start - reach)
        left, right = 0, -1 - abs(right) if right < 1 else 1000 + right
    found = encode(Splits(Split(chunks)), MovesCounts(place, left, right), combined=False)
    assert found == TOKENIZER.encode(TEXT).tolist()


def methods_of(kind: str) -> list[tuple[str, list[str], bool]]:
    """Each method of an interface: its name, its parameters, and whether a part may lack it."""
    return [
        (name, parameters.split(", "), name in OPTIONAL)
        for name, parameters in METHODS[kind].items()
    ]


@pytest.mark.parametrize(
    ("kind", "interface"), [("splitter", Splitter), ("merger", Merger), ("executor", Executor)]
)
def test_what_is_asked_of_a_part_is_what_its_interface_has(kind: str, interface: type) -> None:
    required = {
        name: list(signature(member).parameters)[1:]
        for name, member in vars(interface).items()
        if not name.startswith("_") and callable(member)
    }
    methods = methods_of(kind)
    assert {name: taken for name, taken, may_lack in methods if not may_lack} == required
    for name, taken, may_lack in methods:
        if may_lack:
            assert f"`{name}({', '.join(taken)})`" in " ".join(str(interface.__doc__).split())


def part_with(kind: str, changed: str, parameters: Sequence[str] | None) -> object:
    """A part of a kind; the method `changed` has other parameters, or is missing (None)."""
    body = {"name": "part"}
    for name, own, _ in methods_of(kind):
        taken = parameters if name == changed else own
        if taken is not None:
            exec(f"def {name}(self, {', '.join(taken)}): raise SystemExit", {}, body)
    return type("Plugged", (), body)()


def use(kind: str, part: Any) -> object:
    if kind == "executor":
        return tokpar.Encoder(executor=part)
    return tokpar.Encoder(
        strategy=(part if kind == "splitter" else "cut", part if kind == "merger" else "certified")
    )


@pytest.mark.parametrize("kind", sorted(METHODS))
def test_a_class_in_place_of_a_part_says_to_pass_an_object(kind: str) -> None:
    for name, parameters, _ in methods_of(kind):
        part = type(part_with(kind, name, parameters))
        with pytest.raises(PluginError, match=rf"^{kind} .*Plugged is a class; .* Plugged\(\)$"):
            use(kind, part)


@given(data=st.data())
def test_a_method_that_cannot_be_called_as_its_interface_calls_it_is_named_at_once(
    data: st.DataObject,
) -> None:
    kind = data.draw(st.sampled_from(sorted(METHODS)))
    name, parameters, _ = data.draw(st.sampled_from(methods_of(kind)))
    few = data.draw(st.lists(st.sampled_from(parameters), unique=True))
    rest = data.draw(st.sampled_from(["", "extra", "extra=1", "*extra", "*, extra", "*, extra=1"]))
    part = part_with(kind, name, [*few, *filter(None, [rest])])
    try:
        getattr(part, name)(*parameters)
    except SystemExit:  # its body: it can be called so
        use(kind, part)
    except TypeError:
        with pytest.raises(PluginError, match=rf"^{kind} .*Plugged: its {name}\(.*{name}\("):
            use(kind, part)


SHORT_SPLIT = """
import tokpar
from tokpar.types import Chunk, Split

class Short:
    def split(self, text, tokenizer, attempt):
        half = len(text) // 2
        return Split([Chunk(0, half, 0, half), Chunk(half, len(text) - 9, half, len(text) - 9)])

try:
    print(len(tokpar.encode("one two " * 4000, strategy=(Short(), "certified")).ids))
except tokpar.PluginError as error:
    print(error)
"""


def test_python_without_asserts_refuses_chunks_that_do_not_reach_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-O", "-c", SHORT_SPLIT], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("splitter __main__.Short: split must return chunks whose cores")
