"""Many texts as arrays: lengths and bytes, by the kernel, its source, and without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar.cache.text_arrays import PAD, lengths_of, utf8_rows

from tests.conftest import needs_kernel
from tests.support.kernel_twins import twin
from tokpar import kernel_modules
from tokpar.errors import OptionError

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


class Text(str):
    """A text of a class of its own."""


WAYS = ["none", "plain", *(["compiled"] if kernel_modules.SEGMENTS is not None else [])]
letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
many = st.lists(letters | letters.map(Text) | st.just("x" * 300), max_size=8)


def functions(way: str) -> Any:
    return None if way == "none" else twin(way)


@pytest.mark.parametrize("way", WAYS)
@given(many)
@example([])
def test_lengths_are_code_points(way: str, texts: list[str]) -> None:
    assert lengths_of(texts, functions(way)).tolist() == [len(text) for text in texts]
    assert lengths_of(tuple(texts), functions(way)).tolist() == [len(text) for text in texts]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", [b"a", None, 3, ["a"], np.str_])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_what_is_no_text_is_named(way: str, wrong: Any, before: int) -> None:
    said = f"text {before} must be a str, got {type(wrong).__name__}"
    with pytest.raises(OptionError, match=said):
        lengths_of([*["a"] * before, wrong, "b", 4], functions(way))


@pytest.mark.parametrize("way", WAYS[1:])
@given(many, st.integers(0, 40))
@example(["aé", "", "😀"], 3)
def test_rows_are_the_bytes_of_the_texts(way: str, texts: list[str], size: int) -> None:
    """However little room the number of code points promises."""
    data, rows = utf8_rows(texts, size, functions(way))
    parts = [text.encode() for text in texts]
    assert rows.tolist() == [0, *np.cumsum([len(part) for part in parts], dtype=int).tolist()]
    assert data[: rows[-1]].tobytes() == b"".join(parts)
    assert data[rows[-1] : rows[-1] + PAD].tobytes() == bytes(PAD)
    assert len(data) >= rows[-1] + PAD


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("texts", [["\ud800"], ["a", "b\udfff", "c"]])
def test_lone_surrogates_have_no_bytes(way: str, texts: list[str]) -> None:
    with pytest.raises(UnicodeEncodeError):
        utf8_rows(texts, 4, functions(way))
    assert lengths_of(texts, functions(way)).tolist() == [len(text) for text in texts]


@needs_kernel
def test_the_compiled_kernel_is_what_texts_are_measured_by() -> None:
    assert lengths_of.__defaults__ == (kernel_modules.SEGMENTS,)
