"""Strategies with drawn options, tokenizers and texts; and the tokenizer's own serial ids."""

from __future__ import annotations

from typing import Any

import tiktoken
from hypothesis import assume
from hypothesis import strategies as st

import tokpar
from tests.support.tokenizers_drawn import (
    contents,
    hf_tokenizers,
    is_panic,
    named_tokenizers,
    texts_with,
    tiktoken_encodings,
    token_texts,
)

SIZES = st.one_of(st.integers(1, 8), st.integers(9, 64), st.just(200))
OPTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "serial": st.just({}),
    "cut": st.fixed_dictionaries({"chunk_chars": SIZES}),
    "auto": st.fixed_dictionaries({"chunk_chars": SIZES}),
    "lopt": st.fixed_dictionaries(
        {
            "chunk_chars": SIZES,
            "overlap_chars": st.integers(1, 64) | st.just(150),
            "min_match": st.sampled_from([1, 2, 5, "longest"]),
            "on_failure": st.sampled_from(["repair", "restart"]),
        }
    ),
    "recursive": st.fixed_dictionaries({"depth": st.integers(0, 6)}),
    "blocks": st.fixed_dictionaries(
        {"chunk_chars": SIZES, "overlap_chars": st.none() | st.integers(1, 64)}
    ),
}
STRATEGIES = tuple(OPTIONS)


def own_call(tokenizer: Any, text: str) -> list[int]:
    """The tokenizer's own serial ids; an example whose own call panics is set aside."""
    if isinstance(tokenizer, tiktoken.Encoding):
        return tokenizer.encode(text, allowed_special="all")
    try:
        return tokenizer.encode(text).ids
    except BaseException as error:
        assume(not is_panic(error))
        raise


def adapter_of(tokenizer: Any) -> Any:
    if isinstance(tokenizer, tiktoken.Encoding):
        return tokpar.load(tokenizer, allowed_special="all")
    return tokpar.load(tokenizer)


def drawn_text(data: st.DataObject, tokenizer: Any, max_size: int = 400) -> str:
    strategy = texts_with(contents(tokenizer), max_size, token_texts(tokenizer))
    return data.draw(strategy, label="text")


@st.composite
def any_tokenizer(draw: st.DrawFn) -> Any:
    """Drawn at random, or a part of a real vocabulary."""
    kinds = (hf_tokenizers(), tiktoken_encodings(), st.sampled_from(list(NAMES)).map(named))
    return draw(st.one_of(*kinds))


def named(name: str) -> Any:
    return named_tokenizers()[name]


NAMES = sorted(named_tokenizers())
