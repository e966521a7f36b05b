"""Failure links give what greedy matching gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_bench.linmaxmatch import LinearMatcher, LinearWordPiece
from tokpar_pure.wordpiece import WordPiece

from tokpar.errors import EngineError

tokens = st.text("abé#", min_size=1, max_size=5) | st.text("abé", max_size=3).map("##".__add__)
settings = st.fixed_dictionaries(
    {
        "vocab": st.lists(tokens, unique=True, max_size=25).map(
            lambda some: {t: i for i, t in enumerate(dict.fromkeys(["[UNK]", "a", "##a", *some]))}
        ),
        "continuing_subword_prefix": st.sampled_from(("##", "##", "#", "", "é")),
        "max_input_chars_per_word": st.sampled_from((100, 100, 5, 1, 0)),
        "unk_token": st.sampled_from(("[UNK]", "[UNK]", "a", "[none]")),
    }
)
few_letters = st.lists(st.text("ab", min_size=1, max_size=6), unique=True, max_size=10)


def ids_or_error(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except EngineError as error:
        return str(error)


@given(settings, st.text("abé#", max_size=14) | st.text("ab", min_size=95, max_size=105))
def test_failure_links_give_what_greedy_matching_gives(some: dict[str, Any], word: str) -> None:
    linear, greedy = LinearWordPiece(**some), WordPiece(**some)
    assert ids_or_error(lambda: linear.encode(word)) == ids_or_error(lambda: greedy.encode(word))
    words = [word, "a", word, ""]
    assert ids_or_error(lambda: linear.encode_all(words)) == ids_or_error(
        lambda: greedy.encode_all(words)
    )


@given(few_letters, few_letters, st.booleans(), st.text("ab", max_size=16))
@example(["aabb"], ["aaab", "ab", "a", "b"], False, "aabaaab")
def test_chains_of_failure_links_give_what_greedy_matching_gives(
    first: list[str], later: list[str], singles: bool, word: str
) -> None:
    letters = ["a", "b", "##a", "##b"] if singles else []
    every = ["[UNK]", *letters, *first, *("##" + token for token in later)]
    vocab = {token: i for i, token in enumerate(dict.fromkeys(every))}
    assert LinearWordPiece(vocab).encode(word) == WordPiece(vocab).encode(word)


def test_the_examples_of_the_page() -> None:
    assert LinearMatcher({"play": 1}, {"ing": 2, "i": 3}).match("playing") == [1, 2]
    linear = LinearWordPiece({"[UNK]": 0, "play": 1, "##ing": 2})
    assert (linear.encode("playing"), linear.encode("plays")) == ((1, 2), (0,))
