"""`decode_with_offsets` of `as_tiktoken` against tiktoken's own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiktoken

import tokpar
from tests.conftest import drawn
from tests.support.outcomes import outcome
from tests.support.tiktoken_views import LONG, again, encoding

PARTS = ("cl100k_part", "o200k_part", "odd specials")
TEXT = LONG[:120] + "é日本語😀👩\u200d👧 ñ\u0301<|endoftext|>\n"


def drawn_tokens(draw: random.Random, own: tiktoken.Encoding) -> list[Any]:
    start = draw.randrange(len(TEXT))
    tokens: list[Any] = own.encode(TEXT[start : start + draw.randrange(30)], allowed_special="all")
    if draw.random() < 0.5:  # what begins or ends within a character
        tokens = tokens[draw.randrange(3) : len(tokens) - draw.randrange(3)]
    if draw.random() < 0.2:
        odd = [own.n_vocab + 9, -1, 1 << 40, True, 5.0, None, "a", np.int64(3), *range(200)]
        tokens.insert(draw.randrange(len(tokens) + 1), draw.choice(odd))
    return tokens


@pytest.mark.parametrize("name", PARTS)
def test_drawn_tokens_have_the_text_offsets_and_errors_of_the_own_call(name: str) -> None:
    draw, own = random.Random(name), encoding(name)
    view: Any = tokpar.as_tiktoken(own)
    kinds: list[Any] = [list, list, list, tuple, iter, lambda some: np.array(some, dtype=object)]
    for _ in range(drawn(2000)):
        kind, tokens = draw.choice(kinds), drawn_tokens(draw, own)
        expected = outcome(lambda: own.decode_with_offsets(kind(tokens)))  # noqa: B023  # called here
        assert outcome(lambda: view.decode_with_offsets(kind(tokens))) == expected, tokens  # noqa: B023


@pytest.mark.parametrize(
    "tokens", [None, 3, "12", [[1]], [], (), {}, np.arange(5, dtype=np.uint32)]
)
def test_what_is_no_list_of_int_is_handed_over(tokens: Any) -> None:
    own = encoding("cl100k_part")
    view = tokpar.as_tiktoken(own)
    assert outcome(lambda: view.decode_with_offsets(tokens)) == outcome(
        lambda: own.decode_with_offsets(tokens)
    )


def test_seen_tokens_are_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    own = again(encoding("cl100k_part"))
    view: Any = tokpar.as_tiktoken(own)
    tokens = own.encode_ordinary(TEXT)
    expected = own.decode_with_offsets(tokens)
    assert view.decode_with_offsets(tokens) == expected

    def fail(*given: object) -> bytes:
        raise AssertionError("tiktoken was asked for a token that was seen")

    monkeypatch.setattr(tiktoken.Encoding, "decode_single_token_bytes", fail)
    monkeypatch.setattr("tokpar.integrations.tiktoken_offsets._OWN_METHODS", ())
    assert view.decode_with_offsets(tokens) == expected


def test_a_replaced_method_is_obeyed() -> None:
    class Shouting(tiktoken.Encoding):  # type: ignore[misc]
        def decode_single_token_bytes(self, token: int) -> bytes:
            return bytes(super().decode_single_token_bytes(token)).upper()

    part = encoding("cl100k_part")
    tokens = part.encode("The quick fox")
    shouting = again(part, Shouting)
    assert tokpar.as_tiktoken(shouting).decode_with_offsets(tokens)[0] == "THE QUICK FOX"
    own = again(part)
    view: Any = tokpar.as_tiktoken(own)
    view.decode_with_offsets(tokens)

    def in_brackets(some: Sequence[int]) -> list[bytes]:
        return [b"[%d]" % each for each in some]

    own.decode_tokens_bytes = in_brackets
    assert view.decode_with_offsets(tokens) == own.decode_with_offsets(tokens)
