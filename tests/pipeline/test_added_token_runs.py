"""Texts full of added tokens: the work of each door grows with the text, and not with the number of
added tokens. Calls are counted."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, normalizers

import tokpar
from tests.support.tokenizers_drawn import DATA
from tokpar.cuts.added_token_contents import Contents


def in_parts(text: str, size: int) -> list[str]:
    return [text[k : k + size] for k in range(0, len(text), size)]


def streamed(encoder: tokpar.Encoder, text: str, size: int) -> list[int]:
    return [int(id_) for row in encoder.stream(in_parts(text, size)) for id_ in row]


def appended(encoder: tokpar.Encoder, text: str, size: int) -> list[int]:
    session = encoder.session()
    for part in in_parts(text, size):
        session.append(part)
    return session.ids.tolist()


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
    own = Tokenizer.from_file(str(DATA / "default.json"))
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
