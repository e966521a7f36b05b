"""What is refused, and what an engine gives up on (docs/troubleshooting.md)."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import cases
from tests.support.paths import VOCAB
from tests.support.seams import part
from tokpar import arrays
from tokpar.errors import EngineError
from tokpar.files.formats import read_ranks

pytestmark = pytest.mark.compiled_at_once

REFUSED = "<| a b c|>"
FAR = "one two three " * 40
"""Cut at each of its spaces."""


@cache
def refusing() -> tiktoken.Encoding:
    patterns = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
    return tiktoken.Encoding(
        "refusing",
        pat_str=patterns["cl100k_part"],
        mergeable_ranks=read_ranks(VOCAB / "cl100k_part.tiktoken"),
        special_tokens={REFUSED: 300_000},
    )


LOSSLESS = {
    "auto": {"chunk_chars": 4},
    "cut": {"chunk_chars": 4},
    "lopt": {"chunk_chars": 4},
    "recursive": {"depth": 6},
    "blocks": {"chunk_chars": 4},
    "serial": {},
}
APPROXIMATE = ("delimiter", "overlap")


@pytest.mark.each_value
@pytest.mark.parametrize("executor", ["threads", "serial"])
@pytest.mark.parametrize("strategy", [*LOSSLESS, *APPROXIMATE])
@given(before=st.sampled_from(["", "x", FAR]), behind=st.sampled_from(["", " ", FAR]))
def test_a_refused_special_token_is_refused_by_every_strategy(
    executor: str, strategy: str, before: str, behind: str
) -> None:
    text = before + REFUSED + behind
    with tokpar.Encoder(
        refusing(),
        strategy=strategy,
        executor=executor,
        workers=2,
        allow_approximate=True,
        **LOSSLESS.get(strategy, {}),
    ) as encoder:
        for texts in ([text], [FAR, text], [text, FAR], [FAR, "x", text]):
            with pytest.raises(ValueError, match="disallowed special token"):
                encoder.encode_batch(texts)
        with pytest.raises(ValueError, match="disallowed special token"):
            encoder.encode(text)
        with pytest.raises(ValueError, match="disallowed special token"):
            encoder.count(text)


@given(cuts=st.sets(st.integers(1, 60), max_size=4))
def test_a_refused_special_token_is_refused_in_a_stream(cuts: set[int]) -> None:
    text = "one two " + REFUSED + FAR
    edges = [0, *sorted(cuts), len(text)]
    chunks = [text[a:b] for a, b in pairwise(edges)]
    with pytest.raises(ValueError, match="disallowed special token"):
        list(tokpar.stream(chunks, refusing()))


def test_a_refused_special_token_is_refused_by_the_view() -> None:
    view = tokpar.as_tiktoken(refusing(), strategy="cut", chunk_chars=4)
    for text in (REFUSED, FAR + REFUSED, REFUSED + FAR):
        with pytest.raises(ValueError, match="disallowed special token"):
            view.encode(text)
        with pytest.raises(ValueError, match="disallowed special token"):
            view.encode_to_numpy(text)
        with pytest.raises(ValueError, match="disallowed special token"):
            view.encode_batch([FAR, text])
        assert view.encode_ordinary(text) == refusing().encode_ordinary(text)


# ------------------------------------------------------------------------------- giving up

GIVEN_UP = 1_050_000


@pytest.mark.parametrize(
    "name", cases(["cl100k_part", "o200k_part", "tekken_part"], ["tekken_part"])
)
def test_where_tiktoken_gives_up_each_call_says_so(name: str) -> None:
    own, text = part(name), " " * GIVEN_UP + "x"
    encoder = tokpar.Encoder(own)
    for call in (own.encode, tokpar.as_tiktoken(own).encode):
        with pytest.raises(ValueError, match="Max stack size exceeded"):
            call(text)
    for call in (
        encoder.encode,
        lambda text: encoder.encode_batch([text, "a"]),
        lambda text: tokpar.encode(text, own, strategy="serial"),
        lambda text: tokpar.encode(text, own, strategy="cut"),
        lambda text: list(encoder.stream([text])),
    ):
        with pytest.raises(EngineError, match="Max stack size exceeded"):
            call(text)


def test_a_refused_special_token_goes_before_giving_up() -> None:
    text = " " * GIVEN_UP + "x" + REFUSED
    for strategy in ("auto", "serial", "cut"):
        with pytest.raises(ValueError, match="disallowed special token"):
            tokpar.encode(text, refusing(), strategy=strategy)
    with pytest.raises(EngineError, match="Max stack size exceeded"):
        tokpar.encode(" " * GIVEN_UP + "x", refusing())


@pytest.mark.each_value
@pytest.mark.parametrize("length", [1, 100, arrays.SHORT_TEXT, 3 * arrays.SHORT_TEXT])
@pytest.mark.parametrize("filling", ["a", "é", "中", "\U0001f600"])
@pytest.mark.parametrize("code", [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000])
def test_a_surrogate_is_seen_in_texts_of_any_length(length: int, filling: str, code: int) -> None:
    lone = 0xD800 <= code <= 0xDFFF
    for place in {0, length // 2, length - 1}:
        text = filling * place + chr(code) + filling * (length - place - 1)
        assert arrays.has_surrogate(text) == arrays.has_surrogate(text) == lone
    assert not arrays.has_surrogate(filling * length)
