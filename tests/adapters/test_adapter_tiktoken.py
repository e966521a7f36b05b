"""The tiktoken adapter against tiktoken itself, with part vocabularies and its real regexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.support.tiktoken_parts import SPECIALS, encoding
from tokpar.adapters.tiktoken import TiktokenTokenizer, load
from tokpar.cuts.finder import finder_for
from tokpar.errors import EngineError

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

BYTES = {bytes([byte]): byte for byte in range(256)}

pieces = st.lists(
    st.sampled_from(
        ["a", " ", "  ", "\n", "1", "中", "😀", "\ud800", "\udc00", "<|", *SPECIALS, "don't", "\0"]
    ),
    max_size=12,
)
settings = st.fixed_dictionaries(
    {
        "allowed_special": st.just("all") | st.sets(st.sampled_from([*SPECIALS, "none"])),
        "disallowed_special": st.just("all") | st.lists(st.sampled_from([*SPECIALS, "a"])),
    }
)


def adapter(source: object, **options: Any) -> TiktokenTokenizer:
    loaded = load(source, **options)
    assert loaded is not None
    return loaded


def outcome(call: Callable[[], Any]) -> object:
    """The ids, or the error's type and text, without where tokpar takes what that text advises."""
    try:
        return list(call())
    except ValueError as error:
        return type(error), str(error).partition("tokpar takes")[0]


def small(special_tokens: dict[str, int], pattern: str = r"[\s\S]") -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "small", pat_str=pattern, mergeable_ranks=BYTES, special_tokens=special_tokens
    )


@given(pieces=pieces, settings=settings)
@example(pieces=[], settings={"allowed_special": "all", "disallowed_special": "all"})
@example(pieces=["\ud83d\ude00"], settings={"allowed_special": set(), "disallowed_special": "all"})
def test_the_whole_text_gets_what_tiktoken_gives_for_every_setting(
    pieces: list[str], settings: dict[str, Any]
) -> None:
    text, tokenizer = "".join(pieces), adapter(encoding(), **settings)
    expected = outcome(lambda: encoding().encode(text, **settings))
    got = outcome(lambda: tokenizer.encode_whole(text))
    if isinstance(expected, tuple):  # its own words, and where tokpar takes what they advise
        assert isinstance(got, tuple)
        got = got[0], got[1].partition("tokpar takes")[0]
    assert got == expected

    def in_two_steps() -> Any:
        tokenizer.check_text(text)
        return tokenizer.encode(text)

    assert outcome(in_two_steps) == expected
    allowed = settings["allowed_special"]
    of_chunk = encoding().encode(text, allowed_special=allowed, disallowed_special=())
    assert tokenizer.encode(text).tolist() == of_chunk


def test_a_text_is_not_looked_at_when_nothing_is_disallowed() -> None:
    unsearchable: Any = None
    adapter(encoding(), disallowed_special=()).check_text(unsearchable)
    adapter(encoding(), allowed_special="all").check_text(unsearchable)
    adapter(small({})).check_text(unsearchable)
    with pytest.raises(TypeError):
        adapter(encoding()).check_text(unsearchable)


@pytest.mark.parametrize("text", ["", "a", " " * 500, "\n" * 300, "a \n\n  \tb", "😀" * 50])
def test_spans_are_those_of_the_decoded_tokens(text: str) -> None:
    tokenizer = adapter(encoding(), allowed_special="all")
    ids = tokenizer.encode(text + "<|fim|>" + text)
    data = (text + "<|fim|>" + text).encode()
    spans = tokenizer.locate(ids, data.decode())
    assert spans.shape == (len(ids), 2)
    assert [data[start:stop] for start, stop in spans] == encoding().decode_tokens_bytes(
        ids.tolist()
    )
    assert tokenizer.decode(ids.tolist()) == data.decode()


def test_text_that_tiktoken_changes_or_drops_cannot_be_located() -> None:
    pair = adapter(encoding())
    lone = pair.locate(pair.encode("x\ud800a"), "x\ud800a")
    assert lone[-1, 1] == 5  # three bytes replace the surrogate
    with pytest.raises(LookupError, match="do not tile"):
        pair.locate(pair.encode("\ud83d\ude00"), "\ud83d\ude00")
    dropping = adapter(small({}, pattern="[a-z]+"))
    assert dropping.encode("ab CD").tolist() == [97, 98]
    with pytest.raises(LookupError, match="do not tile"):
        dropping.locate(dropping.encode("ab CD"), "ab CD")


def test_an_id_of_two_tokens_of_different_length_is_located_by_the_text() -> None:
    tokenizer = adapter(small({"<long>": 300, "<s>": 300, "<x>": 301}), allowed_special="all")
    for text, places in (
        ("a<s>", [[0, 1], [1, 4]]),
        ("<long>é<s><long>", [[0, 6], [6, 7], [7, 8], [8, 11], [11, 17]]),
    ):
        assert tokenizer.locate(tokenizer.encode(text), text).tolist() == places
    with pytest.raises(LookupError, match="do not tile"):
        tokenizer.locate(tokenizer.encode("a<s>"), "a<t>")
    assert tokenizer.locate(tokenizer.encode("a<x>"), "a<x>").tolist() == [[0, 1], [1, 4]]


# Errors of the engine


def test_a_regex_that_gives_up_is_an_engine_error() -> None:
    tokenizer, text = adapter(encoding("o200k_part")), " " * 1_000_000 + "x"
    for call in (tokenizer.encode, tokenizer.encode_whole):
        with pytest.raises(EngineError, match="tiktoken failed") as caught:
            call(text)
        assert (caught.value.start, caught.value.stop) == (0, len(text))


def test_a_panic_is_an_engine_error(capfd: pytest.CaptureFixture[str]) -> None:
    lacking = tiktoken.Encoding(
        "lacking", pat_str="[a-z]+", mergeable_ranks={b"a": 0}, special_tokens={}
    )
    for call in (adapter(lacking).encode, adapter(lacking).encode_whole):
        with pytest.raises(EngineError, match="tiktoken failed"):
            call("abc")
    assert "panicked" in capfd.readouterr().err


# Facts


def test_a_pattern_that_cannot_be_decided_is_refused_by_name() -> None:
    facts = adapter(small({}, pattern="(?<=b)[a-z]+|.")).facts
    assert finder_for(facts).refusal == (
        "its pattern is not decided: unsupported group at offset 0 of '(?<=b)[a-z]+|.'"
    )


@pytest.mark.parametrize("allowed", [{"<|end|>"}, {"<|end|><|of|>"}, "all"])
def test_a_special_token_that_begins_another_is_unprovable_when_one_is_allowed(
    allowed: Any,
) -> None:
    facts = adapter(encoding(), allowed_special=allowed, disallowed_special=()).facts
    assert "'<|end|>' is a prefix of '<|end|><|of|>'" in str(facts.unprovable)


def test_a_disallowed_token_can_hide_an_allowed_one_that_it_begins_with() -> None:
    """Why the test above asks for: one of the two is never found, whichever it is."""
    found = [
        300_000 + i in adapter(
            encoding(), allowed_special={token}, disallowed_special=()
        ).encode("<|end|><|of|>")
        for i, token in enumerate(["<|end|>", "<|end|><|of|>"])
    ]  # fmt: skip
    assert found.count(True) == 1


@pytest.mark.ids
def test_special_tokens_that_are_not_allowed_are_text_whatever_encode_to_numpy_makes_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of tiktoken 0.9 takes them for special tokens."""
    from tokpar.adapters import tiktoken as adapters

    def of_early_releases(self: tiktoken.Encoding, text: str, **settings: Any) -> Any:
        ids = self.encode(text, allowed_special="all")
        return np.array(ids, dtype=np.uint32)

    monkeypatch.setattr(tiktoken.Encoding, "encode_to_numpy", of_early_releases)
    adapters.numpy_takes_settings.cache_clear()
    try:
        own = small({"<|end|>": 300})
        settings: dict[str, Any] = {"allowed_special": set(), "disallowed_special": ()}
        expected = own.encode("a<|end|>", **settings)
        assert tokpar.load(own, **settings).encode("a<|end|>").tolist() == expected
        assert tokpar.encode("a<|end|>", tokpar.load(own, **settings)) == expected
    finally:
        adapters.numpy_takes_settings.cache_clear()
