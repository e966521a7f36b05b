"""Many texts at once: their lengths, and what is no text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokpar.cache.utf8_texts import plain_texts
from tokpar.errors import OptionError


class Text(str):
    """A text of a class of its own."""


letters = st.text(max_size=12)
many = st.lists(letters | letters.map(Text) | st.just("x" * 300), max_size=8)


@given(many)
@example([])
def test_lengths_are_code_points(texts: list[str]) -> None:
    for given_texts in (texts, tuple(texts)):
        plain, lengths = plain_texts(given_texts)
        assert [*plain] == texts
        assert {*map(type, plain)} <= {str}
        assert lengths.tolist() == [len(text) for text in texts]


@pytest.mark.parametrize("wrong", [b"a", None, 3, ["a"], np.str_])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_what_is_no_text_is_named(wrong: Any, before: int) -> None:
    said = f"text {before} must be a str, got {type(wrong).__name__}"
    with pytest.raises(OptionError, match=said):
        plain_texts([*["a"] * before, wrong, "b", 4])
