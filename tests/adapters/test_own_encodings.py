"""Encodings of tiktoken that encode in a way of their own, and views of encoders, as sources."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.paths import VOCAB
from tests.support.seams import part
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.errors import OptionError
from tokpar.formats.formats import read_ranks

pytestmark = pytest.mark.compiled_at_once

LONG = "The Cat sat. " * 40


class Lowercasing(tiktoken.Encoding):
    def encode(self, text: str, **settings: Any) -> list[int]:
        return super().encode(text.lower(), **settings)


class Bare(tiktoken.Encoding):
    """Takes no settings at all."""

    def encode(self, text: str) -> list[int]:  # type: ignore[override]
        return super().encode(text[::-1], disallowed_special=())


def refuse(*given: Any, **named: Any) -> Any:
    raise AssertionError("not what a caller of encode asks for")


OTHERS = {
    "OwnNumpy": {"encode_to_numpy": refuse},
    "OwnOrdinary": {"encode_ordinary": lambda self, text: [1]},
    "OwnPieces": {"_encode_only_native_bpe": lambda self, text: []},
    "OwnSpecials": {"special_tokens_set": property(lambda self: set())},
}
KINDS = [
    Lowercasing,
    Bare,
    *(type(name, (tiktoken.Encoding,), own) for name, own in OTHERS.items()),
]


class Derived(tiktoken.Encoding):
    """Adds something that has nothing to do with ids."""

    def shout(self) -> str:
        return self.name.upper()


@cache
def made(kind: type[tiktoken.Encoding], special: str = "<|end|>") -> tiktoken.Encoding:
    patterns = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
    return kind(
        "own",
        pat_str=patterns["cl100k_part"],
        mergeable_ranks=read_ranks(VOCAB / "cl100k_part.tiktoken"),
        special_tokens={special: 300_000},
    )


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(st.sampled_from("aAéÉ 1\n.'Şẞ"), max_size=60))
def test_an_encoding_with_a_call_of_its_own_is_asked_by_it(
    kind: type[tiktoken.Encoding], text: str
) -> None:
    own = made(kind)
    expected = own.encode(text + LONG)
    encoding = tokpar.encode(text + LONG, own, strategy="cut", chunk_chars=4)
    assert encoding.ids.tolist() == expected
    assert encoding.report.chunks == 1
    assert f"the class {kind.__name__} has its own " in encoding.report.why
    assert tokpar.check(encoding, text + LONG, own).ok


@pytest.mark.parametrize("strategy", ["auto", "serial", "lopt", "recursive", "blocks"])
def test_no_strategy_splits_for_it(strategy: str) -> None:
    own = made(Lowercasing)
    for executor in ("auto", "threads", "serial"):
        encoder = tokpar.Encoder(own, strategy=strategy, executor=executor, workers=2)
        with encoder:
            assert encoder.encode(LONG).ids.tolist() == own.encode(LONG)
            assert [e.ids.tolist() for e in encoder.encode_batch([LONG, "AB"])] == [
                own.encode(LONG),
                own.encode("AB"),
            ]
            streamed = [int(i) for ids in encoder.stream([LONG, LONG]) for i in ids]
            assert streamed == own.encode(LONG * 2)


def test_it_gets_the_settings_that_the_caller_gave() -> None:
    own = made(Lowercasing)
    with pytest.raises(ValueError, match="disallowed special token"):
        tokpar.encode(LONG + "<|END|>", own)
    allowing = tokpar.load(own, allowed_special={"<|end|>"})
    assert tokpar.encode(LONG + "<|END|>", allowing).ids[-1] == 300_000
    ignoring = tokpar.load(own, disallowed_special=())
    expected = own.encode("<|END|>", disallowed_special=())
    assert tokpar.encode("<|END|>", ignoring).ids.tolist() == expected
    with pytest.raises(OptionError, match="allowed_special must be"):
        tokpar.load(own, allowed_special="some")


def test_a_call_that_is_replaced_on_the_object_is_noticed_by_the_next_load() -> None:
    own = tiktoken.Encoding(
        "own",
        pat_str=made(Derived)._pat_str,
        mergeable_ranks=made(Derived)._mergeable_ranks,
        special_tokens={},
    )
    assert tokpar.encode(LONG, own).ids.tolist() == own.encode(LONG)
    own.encode = lambda text, **settings: [1, 2, 3]  # type: ignore[method-assign]
    encoding = tokpar.encode(LONG, own, strategy="cut", chunk_chars=4)
    assert encoding.ids.tolist() == [1, 2, 3]
    assert "encode of this encoding object was replaced" in encoding.report.why


# --------------------------------------------------------------------------------- views


def test_a_view_of_tiktoken_stands_for_its_encoding() -> None:
    own = part("cl100k_part")
    view = tokpar.as_tiktoken(own)
    adapter = tokpar.load(view)
    assert isinstance(adapter, TiktokenTokenizer)
    assert adapter.encoding._core_bpe is own._core_bpe
    encoding = tokpar.encode(LONG, view, strategy="cut", chunk_chars=64)
    assert encoding.report.chunks > 1
    assert encoding.ids.tolist() == own.encode(LONG) == view.encode(LONG)
    assert tokpar.check(encoding, LONG, view).ok
    assert tokpar.as_tiktoken(view).encode(LONG) == own.encode(LONG)
