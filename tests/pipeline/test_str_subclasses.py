"""At every door a text of a subclass of `str` is its characters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import divided
from tests.support.small_encodings import small_encoding
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.sessions.session import Session

pytestmark = pytest.mark.ids

WORDS = ["one two ", "three\n\n", "日本 ", "4567 ", "<b>&amp;</b> ", "a  b ", "it's "]


def lies(answer: Any) -> Any:
    return lambda text, *given, **named: iter(answer) if answer == "lie" else answer


TEXTS = (
    *("__str__", "__getitem__", "__add__", "__radd__", "__mul__", "__format__", "join", "replace"),
    *("lower", "upper", "strip", "lstrip", "rstrip", "translate", "casefold", "expandtabs"),
)
LIES = {
    **dict.fromkeys((*TEXTS, "removeprefix"), "<lie>"),
    "__len__": 3,
    "__iter__": "lie",
    "__contains__": False,
    "isascii": True,
    "encode": b"<lie>",
    **dict.fromkeys(("find", "index", "rfind", "count"), 1),
    **dict.fromkeys(("startswith", "endswith"), True),
    **dict.fromkeys(("split", "splitlines"), ("<lie>",)),
}
Foreign = type("Foreign", (str,), {name: lies(answer) for name, answer in LIES.items()})
"""A text that lies in every method that Python code may call."""


KINDS: list[Callable[[str], str]] = [Foreign, np.str_]
Door = Callable[[tokpar.Encoder, Sequence[str]], Any]


def rows(encodings: Any) -> list[list[int]]:
    return [each.ids.tolist() for each in encodings]


def edited(encoder: tokpar.Encoder, texts: Sequence[str]) -> Session:
    """A session whose first text and edits are the texts."""
    session = encoder.session(texts[0])
    for text in texts:
        session.append(text)
        session.replace(1, min(2, len(session)), text)
        session.update(text)
        session.append("& b")
    return session


def outcome_of_session(encoder: tokpar.Encoder, texts: Sequence[str]) -> object:
    session = edited(encoder, texts)
    return session.text, session.ids.tolist(), session.to_bytes()


def chunks_of(encoder: tokpar.Encoder, texts: Sequence[str]) -> object:
    return [
        (chunk.start, chunk.stop, chunk.ids.tolist())
        for text in texts
        for chunk in encoder.chunks(text, 8, 2)
    ]


DOORS: dict[str, Door] = {
    "encode": lambda encoder, texts: rows(encoder.encode(text) for text in texts),
    "encode, max_tokens": lambda encoder, texts: rows(
        encoder.encode(text, max_tokens=5, side="left") for text in texts
    ),
    "encode_batch": lambda encoder, texts: rows(encoder.encode_batch(texts)),
    "spans": lambda encoder, texts: [each.spans.tolist() for each in encoder.encode_batch(texts)],
    "encode_iter": lambda encoder, texts: rows(encoder.encode_iter(iter(texts), batch_bytes=40)),
    "aencode": lambda encoder, texts: rows([asyncio.run(encoder.aencode(texts[0]))]),
    "aencode_batch": lambda encoder, texts: rows(asyncio.run(encoder.aencode_batch(texts))),
    "stream": lambda encoder, texts: [
        id_ for part in encoder.stream(iter(texts)) for id_ in part.tolist()
    ],
    "chunks": chunks_of,
    "count": lambda encoder, texts: [encoder.count(text) for text in texts],
    "count, limit": lambda encoder, texts: [encoder.count(text, limit=6) for text in texts],
    "session": outcome_of_session,
    "tokpar.encode": lambda encoder, texts: rows(
        tokpar.encode(text, encoder.tokenizer) for text in texts
    ),
    "tokpar.check": lambda encoder, texts: [
        (report.ok, report.findings)
        for text in texts
        for report in [tokpar.check(encoder.encode(text), text, encoder.tokenizer)]
    ],
}


@cache
def encoder_of(name: str, chunk_chars: int) -> tokpar.Encoder:
    options = {"strategy": "cut", "chunk_chars": chunk_chars} if chunk_chars else {}
    return tokpar.Encoder(tokpar.load(named_tokenizers()[name]), **options)


@pytest.mark.parametrize("door", DOORS)
@divided(len(DOORS))
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map("".join),
        min_size=1,
        max_size=3,
    ),
    kind=st.sampled_from(KINDS),
    name=st.sampled_from(["default", "bert_part", "llama_style"]),
    chunk_chars=st.sampled_from([0, 9]),
)
def test_a_subclass_of_str_is_its_characters(
    door: str, texts: list[str], kind: Callable[[str], str], name: str, chunk_chars: int
) -> None:
    encoder, call = encoder_of(name, chunk_chars), DOORS[door]
    assert call(encoder, [kind(text) for text in texts]) == call(encoder, texts)


def outcome(call: Callable[[Any], Any], argument: object) -> object:
    try:
        return list(call(argument))
    except ValueError as error:  # a special token, or a surrogate
        return type(error), str(error)


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*WORDS, "<|e|>", "\ud800"]), max_size=30).map("".join),
        min_size=1,
        max_size=3,
    ),
    kind=st.sampled_from(KINDS),
    smallest_text=st.sampled_from([1, 40, None]),
)
def test_a_subclass_of_str_is_its_characters_for_as_tiktoken(
    texts: list[str], kind: Callable[[str], str], smallest_text: int | None
) -> None:
    encoding = small_encoding()
    faster, given = tokpar.as_tiktoken(encoding, smallest_text=smallest_text), [*map(kind, texts)]
    for name in ("encode", "encode_ordinary", "encode_to_numpy"):
        for text, plain in zip(given, texts, strict=True):
            assert outcome(getattr(faster, name), text) == outcome(getattr(encoding, name), plain)
    for name in ("encode_batch", "encode_ordinary_batch"):
        assert outcome(getattr(faster, name), given) == outcome(getattr(encoding, name), texts)
