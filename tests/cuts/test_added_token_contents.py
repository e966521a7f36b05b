"""The automaton that finds added tokens in texts: compiled, uncompiled and with arrays alone.

It is held to a search that tries each place, to the tokenizers in Python, and to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Tokenizer, models
from tokpar_pure.added_tokens import AddedTokens

from tests.support.contents_drawn import contents_and_text
from tests.support.kernel_twins import twin
from tokpar.arrays import has_surrogate
from tokpar.cuts.added_token_contents import Contents
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.process import kernel_modules
from tokpar.types import AddedToken

WAYS = pytest.mark.parametrize("way", ["none", "plain", "compiled"])
Row = tuple[int, int, int]


def clusters_of(contents: Sequence[str], text: str) -> list[Row]:
    """Occurrences at each place of each content, and those that share characters put together."""
    occurrences = sorted(
        (start, start + len(content))
        for content in contents
        for start in range(len(text))
        if text.startswith(content, start)
    )
    found: list[tuple[int, int]] = []
    for start, stop in occurrences:
        if found and start < found[-1][1]:
            start, stop = found[-1][0], max(stop, found.pop()[1])
        found.append((start, stop))
    return [(a, b, contents.index(text[a:b]) if (a, b) in occurrences else -1) for a, b in found]


@WAYS
@given(drawn=contents_and_text(), margins=st.tuples(st.integers(0, 4), st.integers(0, 4)))
@example(drawn=(["a" * k for k in range(1, 40)], "a" * 50), margins=(0, 0))
@example(drawn=(sorted("a" * k + "b" for k in range(40)), "a" * 20 + "b"), margins=(0, 0))
@example(drawn=(["<a", "<a>", "a>b"], "<a><a>b<a"), margins=(0, 0))
def test_clusters_are_those_of_a_search_at_each_place(
    way: str, drawn: tuple[list[str], str], margins: tuple[int, int]
) -> None:
    contents, text = drawn
    lo = min(margins[0], len(text))
    hi = max(lo, len(text) - margins[1])
    functions = None if way == "none" else twin(way, "_contents")
    with patch.object(kernel_modules, "CONTENTS", functions):
        found = Contents.of(contents).clusters(text, lo, hi)
    expected = clusters_of(contents, text[lo:hi])
    assert [*map(tuple, found.tolist())] == [(a + lo, b + lo, k) for a, b, k in expected]


@WAYS
@given(drawn=contents_and_text(), start=st.integers(0, 4))
@example(drawn=(["<ab>"], "x<ab"), start=0)
def test_a_text_is_unfinished_from_the_first_place_where_a_content_may_go_on(
    way: str, drawn: tuple[list[str], str], start: int
) -> None:
    contents, text = drawn
    start = min(start, len(text))
    wanted = (
        p
        for p in range(start, len(text))
        if any(c.startswith(text[p:]) and c != text[p:] for c in contents)
    )
    functions = None if way == "none" else twin(way, "_contents")
    with patch.object(kernel_modules, "CONTENTS", functions):
        assert Contents.of(contents).unfinished_start(text, start) == next(wanted, len(text))


@given(drawn=contents_and_text(), data=st.data())
def test_matches_are_those_of_the_engine_and_of_the_tokenizers_in_python(
    drawn: tuple[list[str], str], data: st.DataObject
) -> None:
    """Leftmost, then longest. The engine knows no other tokens, so that it leaves out the rest."""
    contents, text = drawn
    if has_surrogate("".join([*contents, text])):
        return
    matches = [text[a:b] for a, b in Contents.of(contents).matches(text)]
    tokens = [AddedToken(content, k) for k, content in enumerate(contents)]
    parts = AddedTokens(tokens).segments(text)
    assert matches == [contents[part] for part in parts if isinstance(part, int)]
    engine = Tokenizer(models.BPE())
    engine.add_special_tokens([NativeToken(c, normalized=False) for c in contents])
    assert matches == engine.encode(text, add_special_tokens=False).tokens


@given(drawn=contents_and_text(), data=st.data())
@example(drawn=(["ab"], "ab.ab...ab"), data=None)
def test_positions_that_an_occurrence_reaches_over_are_found_at_once(
    drawn: tuple[list[str], str], data: st.DataObject | None
) -> None:
    contents, text = drawn
    guard = AddedTokenGuard(tuple(AddedToken(c, k) for k, c in enumerate(contents)))
    start = data.draw(st.integers(0, len(text))) if data else 0
    stop = data.draw(st.integers(start, len(text))) if data else len(text)
    found = guard.crossed_positions(text, start, stop)
    expected = [
        any(a < p < b for a, b, _ in clusters_of(contents, text)) for p in range(start, stop)
    ]
    assert ([False] * (stop - start) if found is None else found.tolist()) == expected
