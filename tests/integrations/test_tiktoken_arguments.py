"""What `allowed_special` and `disallowed_special` mean, against tiktoken's own call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import tiktoken

from tests.support.named_engine import encoding_of
from tokpar.integrations import tiktoken_path
from tokpar.integrations.tiktoken_arguments import (
    MOST_CHOICES,
    SpecialTokens,
    find_any,
    reusable,
)
from tokpar.results.text_counts import ARGUMENTS, LEFT_OVER, NO_CALL, STRATEGY

SPECIALS = {"<|a|>": 259, "<|b|>": 260, "ab": 261}
TEXTS = ["", "x", "<|a|>", "x<|a|><|b|>ab", "ab<|b|>", "<|c|>x", "<|a|ab|>"]
ALLOWED: list[Any] = [
    *("all", set(), {"<|a|>"}, frozenset({"<|b|>", "ab"}), {"<|c|>"}, {"<|a|>", "<|c|>"}),
    *({""}, {"\ud800"}, {1}, None, [], ["<|a|>"], "none", ()),
]
REFUSED: list[Any] = [
    *("all", set(), (), [], {"<|a|>"}, ("<|a|>", "x"), ["<|c|>"], frozenset({"ab"}), None, 0),
    *("", {"<|a|>": 1}, {1}, ("<|a|>", 1), "ab", 7, b"ab"),
]


@pytest.fixture(scope="module", name="own")
def _own() -> tiktoken.Encoding:
    return encoding_of(SPECIALS)


def is_read(allowed: Any, refused: Any) -> bool:
    """True if a `Choice` says what these arguments mean."""
    takes_allowed = isinstance(allowed, (set, frozenset)) and not any(
        each in ("", "\ud800", 1) for each in allowed
    )
    if isinstance(refused, str):
        takes_refused = refused in ("all", "")
    elif isinstance(refused, (set, frozenset, tuple, list, dict)):
        takes_refused = all(type(each) is str for each in refused)
    else:
        takes_refused = not refused
    return (allowed == "all" or takes_allowed) and takes_refused


def own_answer(own: tiktoken.Encoding, text: str, allowed: Any, refused: Any) -> Any:
    try:
        return own.encode(text, allowed_special=allowed, disallowed_special=refused)
    except ValueError as error:
        return str(error)


def answer(own: tiktoken.Encoding, text: str, choice: Any) -> Any:
    try:
        choice.check(text)
    except ValueError as error:
        return str(error)
    pieces = choice.pieces(text)
    if pieces is None:
        return None
    ids = [
        [SPECIALS[piece]] if k & 1 else own.encode_ordinary(piece) for k, piece in enumerate(pieces)
    ]
    return [id_ for row in ids for id_ in row]


def named(allowed: Any) -> str:
    """A name that is the same in each process: a set has its elements in order."""
    is_set = isinstance(allowed, (set, frozenset))
    return f"{type(allowed).__name__} {sorted(allowed)}" if is_set else repr(allowed)


@pytest.mark.parametrize("allowed", ALLOWED, ids=named)
def test_a_choice_gives_what_tiktoken_gives(own: tiktoken.Encoding, allowed: Any) -> None:
    tokens = SpecialTokens(SPECIALS)
    for refused in REFUSED:
        choice = tokens.choice(allowed, refused)
        assert (choice is not None) == is_read(allowed, refused), refused
        if choice is None:
            continue
        assert tokens.choice(allowed, refused) is choice
        assert choice.is_certain
        assert choice.refuses_others == (not choice.refused <= {*SPECIALS})
        for text in TEXTS:
            expected = own_answer(own, text, allowed, refused)
            assert answer(own, text, choice) == expected, (refused, text)


@pytest.mark.parametrize("allowed", ALLOWED, ids=named)
def test_arguments_are_neutral_if_only_special_tokens_stand_in_them(allowed: Any) -> None:
    tokens = SpecialTokens(SPECIALS)
    for refused in REFUSED:
        known = isinstance(allowed, (set, frozenset)) and all(each in SPECIALS for each in allowed)
        if isinstance(refused, (set, frozenset, tuple, list)):
            takes_refused = all(each in SPECIALS for each in refused)
        else:
            takes_refused = refused == "all"
        neutral = (allowed == "all" or known) and takes_refused
        assert tokens.are_neutral(allowed, refused) == neutral, refused


def test_a_token_that_hides_another_makes_a_choice_uncertain() -> None:
    tokens = SpecialTokens({"<|a|>": 259, "<|a|>b": 260, "<|c|>": 261})
    both = tokens.choice("all", ())
    one = tokens.choice({"<|c|>"}, ())
    assert both is not None
    assert one is not None
    assert (both.is_certain, one.is_certain) == (False, True)
    assert both.pieces("x<|a|>b") is None
    assert both.pieces("x") == ["x"]
    assert one.pieces("x<|c|>b") == ["x", "<|c|>", "b"]
    empty = SpecialTokens({"": 259}).choice("all", ())
    assert empty is not None
    assert not empty.is_certain


def test_the_meaning_of_64_choices_is_kept_at_most() -> None:
    tokens = SpecialTokens(SPECIALS)
    for k in range(3 * MOST_CHOICES // 2):
        tokens.choice("all", (f"{k}",))
        assert len(tokens._choices) <= MOST_CHOICES
    assert len(tokens._choices) == MOST_CHOICES // 2


def test_an_iterator_is_used_up_once() -> None:
    for kept in ("all", {"a"}, frozenset("a"), ("a",), ["a"], {"a": 1}, None, 0):
        assert reusable(kept) is kept
    assert reusable(iter(["a", "b"])) == frozenset({"a", "b"})
    empty = iter(())
    assert type(reusable(empty)) is type(empty)


def test_a_pattern_finds_each_string_as_one_group() -> None:
    pattern = find_any(frozenset({"a.", "|", "b"}))
    assert pattern.split("xa.y|ab") == ["x", "a.", "y", "|", "a", "b", ""]


@pytest.mark.parametrize(
    ("takes_all", "reason", "are_answerable", "counted"),
    [
        (True, LEFT_OVER, True, LEFT_OVER),
        (True, LEFT_OVER, False, ARGUMENTS),
        (True, NO_CALL, True, NO_CALL),
        (True, NO_CALL, False, NO_CALL),
        (False, LEFT_OVER, False, STRATEGY),
        (False, LEFT_OVER, True, STRATEGY),
    ],
)
def test_an_own_call_is_counted_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
    takes_all: bool,
    reason: str,
    are_answerable: bool,
    counted: str,
) -> None:
    monkeypatch.setattr(tiktoken_path, "fallback_reason", lambda _: reason)
    found: list[tuple[int, str]] = []
    path: Any = SimpleNamespace(
        takes_all=takes_all,
        tokenizer=SimpleNamespace(later_call=None),
        counts=SimpleNamespace(add_own=lambda texts, why: found.append((texts, why))),
    )
    tiktoken_path.FastPath.count_own(path, 3, are_answerable)
    assert found == [(3, counted)]
