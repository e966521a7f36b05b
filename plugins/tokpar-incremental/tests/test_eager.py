"""Eager output against all continuations: nothing too early, nothing too late."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tables_drawn import Table, pair_tables, rank_tables, real_tables, table, tables, texts
from tokpar_incremental.dictionary import START_OF_TEXT, Following, dictionary_of
from tokpar_incremental.eager import STRIDE, EagerBPE

from tests.support.texts import texts as any_texts
from tokpar.formats.vocabulary import Vocabulary

MOST_CONTINUATIONS = 800
LATE = [("a", "b"), ("b", "c"), ("ab", "cd"), ("c", "d")]


def common(rows: Iterable[list[int]]) -> list[int]:
    """What all rows begin with."""
    columns = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return [column[0] for column in columns]


def continuations(drawn: Table) -> list[bytes]:
    """Of all lengths that can matter: a token that goes on from within needs at most all but one of
    the bytes of the longest. One letter is in no token."""
    longest = max(map(len, drawn.dictionary.spelling))
    letters = "".join(sorted({*b"".join(drawn.dictionary.spelling[256:]).decode()}))
    assume((len(letters) + 1) ** (longest - 1) <= MOST_CONTINUATIONS)
    sizes = range(longest)
    return [
        "".join(some).encode()
        for size in sizes
        for some in itertools.product(letters + "x", repeat=size)
    ]


short = pair_tables(letters="ab", max_token=5)


@given(short | rank_tables, st.text("ab", max_size=14))
@example(table(LATE), "abcabcd")
@example(table([("c", "d"), ("b", "cd"), ("a", "b")]), "abcabcd")
@example(table([("aa", "a"), ("a", "a")]), "aaaaaaaa")
@example(table([("a", "a"), ("aa", "aa"), ("a", "b")]), "aaaaaaab")
def test_what_is_out_is_what_all_continuations_have_in_common(drawn: Table, text: str) -> None:
    after, eager, out = continuations(drawn), EagerBPE(drawn.dictionary), []
    for stop in range(len(text) + 1):
        out += eager.feed(text[stop - 1 : stop].encode() if stop else b"")
        data = text[:stop].encode()
        assert out == common(drawn.expected(data + some) for some in after)
    assert out + eager.finish() == drawn.expected(text.encode())


@given(short, st.text("ab", max_size=12))
def test_tokens_that_only_whole_pre_tokens_become_are_waited_for(drawn: Table, text: str) -> None:
    """Two tokens that no merge makes."""
    tokens = dict(zip(drawn.dictionary.spelling, drawn.dictionary.ids, strict=True))
    whole = {b"abba": 9000, b"bbabb": 9001}
    assume(not whole.keys() & tokens.keys())
    rules = {
        (drawn.dictionary.ids[left], drawn.dictionary.ids[right]): (
            priority,
            tokens[drawn.dictionary.spelling[left] + drawn.dictionary.spelling[right]],
        )
        for (left, right), priority in drawn.dictionary.rules.items()
    }
    some = dictionary_of(Vocabulary("whole", tokens | whole, "pairs", (), rules, True, True))
    assert some.whole == whole

    def expected(data: bytes) -> list[int]:
        return [whole[data]] if data in whole else drawn.expected(data)

    after = [
        "".join(letters).encode()
        for size in range(6)
        for letters in itertools.product("abx" if size < 5 else "ab", repeat=size)
    ]
    eager, out = EagerBPE(some), []
    for stop in range(len(text) + 1):
        out += eager.feed(text[stop - 1 : stop].encode() if stop else b"")
        data = text[:stop].encode()
        assert out == common(expected(data + more) for more in after)
    assert out + eager.finish() == expected(text.encode())


@given(tables, st.lists(texts, max_size=6))
def test_how_the_bytes_come_does_not_matter(drawn: Table, parts: list[bytes]) -> None:
    by_parts, by_bytes, out, one_by_one = (
        EagerBPE(drawn.dictionary),
        EagerBPE(drawn.dictionary),
        [],
        [],
    )
    for part in parts:
        out += by_parts.feed(part)
        for i in range(len(part)):
            one_by_one += by_bytes.feed(part[i : i + 1])
        assert out == one_by_one
    assert out + by_parts.finish() == drawn.expected(b"".join(parts))


def test_a_token_waits_as_long_as_another_may_stand_in_its_place() -> None:
    """ "ab" may become "abcd"; "abc" may not."""
    drawn = table(LATE)
    eager = EagerBPE(drawn.dictionary)
    ids, number = drawn.dictionary.ids, drawn.dictionary.number
    assert eager.feed(b"ab") == []
    assert eager.feed(b"c") == []
    assert eager.feed(b"c") == [ids[number[b"ab"]], 99]
    assert eager.feed(b"d") == [ids[number[b"cd"]]]
    assert eager.finish() == []


@given(tables, st.data())
def test_a_token_that_may_follow_is_found_if_there_is_one(
    drawn: Table, data: st.DataObject
) -> None:
    some = drawn.dictionary
    following = Following(some)
    made = [token for token in range(len(some.ids)) if some.spelling[token].isascii()]
    left = data.draw(st.sampled_from([*range(97, 100), *range(256, len(some.ids))]))
    text = data.draw(st.text("abc", min_size=1, max_size=4)).encode()
    for before in (left, START_OF_TEXT):
        wanted = {
            some.spelling[token]
            for token in made
            if some.spelling[token].startswith(text) and some.spelling[token] != text
            if before == START_OF_TEXT or some.neighbours(before, token)
        }
        found = following.token(before, text)
        assert found in wanted or not (found or wanted)
        assert following.token(before, text) == found


def test_what_is_kept_does_not_grow_with_the_text() -> None:
    drawn = table([("a", "a"), ("aa", "aa"), ("b", "a")])
    eager = EagerBPE(drawn.dictionary)
    eager.feed(b"baaaaab" * 10_000)
    kept = (
        eager._last,
        eager._bytes,
        eager._node,
        eager._open,
        eager._unknown,
        eager._child_counts,
    )
    assert max(map(len, kept)) < 10 * STRIDE


@pytest.mark.ids
@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part", "deepseek_part"])
@given(text=any_texts(max_size=100), size=st.integers(1, 40))
@example("The astronauts' spaceships, the, then, there. " * 20, 1)
@example(" " * 300 + "a" * 300 + "=" * 100, 3)
def test_real_vocabularies_get_the_ids_of_the_whole(name: str, text: str, size: int) -> None:
    """What is out is never taken back."""
    tables_, merging = real_tables(name)
    eager, data, out = EagerBPE(tables_), text.encode(), []
    for start in range(0, len(data), size):
        out += eager.feed(data[start : start + size])
        more = (b"ing ", b"'s", b" ", b"a", b"\n\n", b"0")[start % 6]
        assert out == list(merging(data[: start + size] + more))[: len(out)]
    assert out + eager.finish() == list(merging(data))
