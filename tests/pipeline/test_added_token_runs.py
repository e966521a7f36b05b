"""Texts full of added tokens: the ids are the own call's by every door, and the work of each door
grows with the text, not with the text times the number of added tokens. Calls are counted."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers

import tokpar
from tests.support.paths import VOCAB
from tests.support.tokenizers_drawn import DATA, is_panic
from tokpar.arrays import has_surrogate
from tokpar.cuts.added_token_contents import Contents

BASES = {
    "bytes": DATA / "default.json",
    "metaspace": VOCAB / "metaspace_unigram.json",
    "llama": VOCAB / "llama_style.json",
    "bert": VOCAB / "bert_part.json",
}
OVERLAPPING = (
    "<a",
    "<a>",
    "a>b",
    "b<a",
    "<",
    "a>",
    "a",
    "aa",
    "aaa",
    "é",
    "ée",
    " b",
    "b ",
    "<|x_",
)
PIECES = (
    *OVERLAPPING,
    *(f"<|x_{k}|>" for k in range(12)),
    "<|x_1",
    "|>",
    " ",
    "\n",
    "the fox",
    "7",
)


class Token(NamedTuple):
    """An added token, hashable."""

    content: str
    flags: tuple[str, ...]

    def native(self) -> AddedToken:
        return AddedToken(self.content, **{"normalized": False, **dict.fromkeys(self.flags, True)})


FLAGS = st.sampled_from(
    [(), (), (), ("normalized",), ("lstrip",), ("rstrip",), ("single_word",), ("special",)]
)
TOKENS = st.lists(
    st.builds(Token, st.sampled_from([p for p in PIECES if p.strip()]), FLAGS),
    min_size=1,
    max_size=8,
    unique_by=lambda token: token.content,
)


def with_tokens(base: str, tokens: Sequence[Token], normalizer: str = "") -> Tokenizer:
    own = Tokenizer.from_file(str(BASES[base]))
    own.no_truncation()
    own.no_padding()
    if normalizer:
        own.normalizer = getattr(normalizers, normalizer)()
    for token in tokens:
        add = own.add_special_tokens if "special" in token.flags else own.add_tokens
        add([token.native()])
    return own


def in_parts(text: str, size: int) -> list[str]:
    return [text[k : k + size] for k in range(0, len(text), size)]


def streamed(encoder: tokpar.Encoder, text: str, size: int) -> list[int]:
    return [int(id_) for row in encoder.stream(in_parts(text, size)) for id_ in row]


def appended(encoder: tokpar.Encoder, text: str, size: int) -> list[int]:
    session = encoder.session()
    for part in in_parts(text, size):
        session.append(part)
    return session.ids.tolist()


@pytest.mark.ids
@pytest.mark.compiled_at_once
@given(
    base=st.sampled_from(sorted(BASES)),
    tokens=TOKENS,
    normalizer=st.sampled_from(["", "", "NFC", "Lowercase"]),
    data=st.data(),
)
def test_every_door_gives_the_ids_of_the_own_call(
    base: str, tokens: list[Token], normalizer: str, data: st.DataObject
) -> None:
    own = with_tokens(base, tokens, normalizer if base == "bytes" else "")
    contents = [token.content for token in tokens]
    pieces = st.sampled_from([*contents * 3, *PIECES])
    encoders = [
        tokpar.Encoder(own, workers=1),
        *(tokpar.Encoder(own, strategy=s, chunk_chars=9, workers=1) for s in ("auto", "cut")),
    ]
    for text in data.draw(st.lists(st.lists(pieces, max_size=30).map("".join), max_size=3)):
        size = data.draw(st.integers(1, 40))
        try:
            expected = own.encode(text).ids
        except BaseException as error:
            if not is_panic(error):
                raise
            continue
        for encoder in encoders:
            found = encoder.encode(text)
            assert found.ids.tolist() == expected
            assert tokpar.check(found, text, encoder.tokenizer).ok
            assert encoder.encode_batch([text] * 2)[1].ids.tolist() == expected
        assert encoders[0].count(text) == len(expected)
        assert streamed(encoders[0], text, size) == expected
        assert appended(encoders[0], text, size) == expected
        assert not has_surrogate(text)


# ------------------------------------------------------------------------------- work


@dataclass
class Work:
    """Calls of functions, in Python and in C, and bytes that the automaton read."""

    calls: int = 0
    bytes: int = 0

    def __sub__(self, other: Work) -> Work:
        return Work(self.calls - other.calls, self.bytes - other.bytes)


def worked(call: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Work:
    done, search = Work(), Contents._search

    def counting(self: Contents, data: Any, lengths: Any) -> Any:
        done.bytes += len(data)
        return search(self, data, lengths)

    def count(frame: object, event: str, argument: object) -> None:
        done.calls += event in ("call", "c_call")

    with monkeypatch.context() as patched:
        patched.setattr(Contents, "_search", counting)
        sys.setprofile(count)
        try:
            call()
        finally:
            sys.setprofile(None)
    return done


DOORS: dict[str, Callable[[tokpar.Encoder, str], object]] = {
    "encode": lambda encoder, text: encoder.encode(text),
    "batch": lambda encoder, text: encoder.encode_batch([text, text]),
    "count": lambda encoder, text: encoder.count(text),
    "stream": lambda encoder, text: streamed(encoder, text, 400),
    "session": lambda encoder, text: appended(encoder, text, len(text) // 8),
    "check": lambda encoder, text: tokpar.check(encoder.encode(text), text, encoder.tokenizer),
}
FEW, MANY, COUNT = 8, 1500, 2000


def run_of(kind: str) -> str:
    """`COUNT` added tokens of the first few, or nearly added tokens."""
    contents = random.Random(7).choices([f"<|x_{k}|>" for k in range(FEW)], k=COUNT)
    return {
        "one": contents[0] * COUNT,
        "mixed": "".join(contents),
        "nearly": "".join(content[:-1] for content in contents),
        "words": "".join(f"{content}it was" for content in contents),
    }[kind]


@cache
def encoder_with(count: int, flag: str) -> tokpar.Encoder:
    own = Tokenizer.from_file(str(BASES["bytes"]))
    own.normalizer = normalizers.NFC()
    flags: Any = {"normalized": False, **({flag: True} if flag else {})}
    own.add_tokens([AddedToken(f"<|x_{k}|>", **flags) for k in range(count)])
    return tokpar.Encoder(own, workers=1)


@pytest.mark.compiled_at_once
@pytest.mark.each_value
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("flag", ["", "normalized", "rstrip"])
@pytest.mark.parametrize("kind", ["one", "mixed", "nearly", "words"])
def test_work_grows_with_the_text_and_not_with_the_number_of_tokens(
    kind: str, flag: str, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text has the same tokens, whether 8 or 1,500 were added. A session of a text without
    certified cuts encodes all of it again in each of its 8 appends."""
    text, works = run_of(kind), []
    for many in (FEW, MANY):
        encoder = encoder_with(many, flag)
        DOORS[door](encoder, text)  # what is made once is not counted
        works.append(worked(lambda: DOORS[door](encoder, text), monkeypatch))  # noqa: B023
    few, all_ = works
    list_reads = MANY * (150 if door == "check" else 3)  # once a call, whatever the text is
    assert all_.calls <= 1.5 * few.calls + list_reads
    assert all_.bytes <= 1.5 * few.bytes + 10_000
    assert all_.calls <= 150 * COUNT + list_reads
    assert all_.bytes <= 40 * len(text)
