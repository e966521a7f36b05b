"""The tokens of every prefix, against merging each prefix by itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables_drawn import BYTES, Table, own_rules, pair_tables, real_tables, table, tables, texts
from tokpar_incremental.bpe import DictionaryTables, IncrementalBPE, IncrementalModel
from tokpar_incremental.dictionary import BYTE, Dictionary, dictionary_of
from tokpar_incremental.properize import is_proper, make_proper
from tokpar_incremental.search import TokenAutomaton
from tokpar_pure.formats import rank_vocabulary

from tests.support.texts import texts as any_texts
from tokpar.errors import OptionError
from tokpar.formats.vocabulary import Vocabulary

IMPROPER = [("ab", "c"), ("a", "b")]
NEVER_PROPER = [("aa", "a"), ("a", "a")]
"""The smallest table that no proper order replaces: "aaaa" is aaa, a."""


def powers(bits: int) -> Table:
    """All of a, aa, ... up to 2**bits letters, and a text of n is that many of the longest, and one
    for the rest: doubling comes first."""
    pairs = [("a" * 2**i, "a" * 2**i) for i in range(bits)]
    for size in range(3, 2**bits):
        most = 1 << (size.bit_length() - 1)
        if size != most:
            pairs.append(("a" * most, "a" * (size - most)))
    return table(pairs)


class Asked(list[int]):
    """Counts how often it is asked for an item."""

    count = 0

    def __getitem__(self, place: Any) -> Any:
        Asked.count += 1
        return super().__getitem__(place)


# The dictionary


@given(tables)
def test_a_token_is_canonical_if_merging_its_bytes_gives_it(drawn: Table) -> None:
    some = drawn.dictionary
    for token in some.spelling:
        assert drawn.expected(token) == [some.ids[some.number[token]]]
    for token, id_ in some.unreachable.items():
        assert drawn.expected(token) != [id_]


@given(tables)
@example(table([("aa", "aa"), ("aa", "b"), ("a", "a")]))
@example(table([("a", "a"), ("aa", "a"), ("a", "aa")], [1, 1, 1]))
def test_two_tokens_are_neighbours_if_merging_their_bytes_gives_them(drawn: Table) -> None:
    some = drawn.dictionary
    for left, right in itertools.product(range(256, len(some.ids)), repeat=2):
        made = drawn.expected(some.spelling[left] + some.spelling[right])
        assert some.neighbours(left, right) == (made == [some.ids[left], some.ids[right]])


def test_a_merge_that_makes_something_else_is_refused_by_name() -> None:
    tokens = BYTES | {b"ab": 256, b"ac": 257}
    broken = Vocabulary("broken", tokens, "pairs", (), {(97, 98): (7, 257)}, True, False)
    with pytest.raises(OptionError, match=r"broken: the merge of b'a' and b'b', priority 7, makes"):
        dictionary_of(broken)
    circular = Vocabulary("circular", BYTES, "pairs", (), {(97, 98): (0, 97)}, True, False)
    with pytest.raises(OptionError, match="expected b'ab'"):
        dictionary_of(circular)


def test_merges_of_what_is_no_byte_never_happen() -> None:
    merges = {(97, 98): (1, 256), (300, 301): (0, 302)}
    some = dictionary_of(Vocabulary("odd", BYTES | {b"ab": 256}, "pairs", (), merges, True, False))
    assert len(some.rules) == 1


# Every prefix


@pytest.mark.ids
@pytest.mark.parametrize("short", [0, 16], ids=["halving", "trying"])
@given(drawn=tables, data=texts)
@example(table(NEVER_PROPER), b"aaaaaaa")
@example(table(IMPROPER), b"abcab")
@example(table([("a", "a"), ("aa", "a"), ("a", "aa")], [1, 1, 1]), b"aaaaaaa")
def test_every_prefix_has_the_tokens_of_merging_it_alone(
    short: int, drawn: Table, data: bytes
) -> None:
    bpe = IncrementalBPE(DictionaryTables(drawn.dictionary, short))
    bpe.append(data)
    assert len(bpe) == len(data)
    for length in range(len(data) + 1):
        assert bpe.tokens(length) == drawn.expected(data[:length])
    assert bpe.tokens() == drawn.expected(data)


@given(tables, texts, st.integers(0, 40))
def test_how_the_bytes_come_does_not_matter(drawn: Table, data: bytes, cut: int) -> None:
    whole, parts = IncrementalBPE(drawn.dictionary), IncrementalBPE(drawn.dictionary)
    whole.append(data)
    parts.append(data[:cut])
    parts.append(data[cut:])
    assert [whole.last_token(i + 1) for i in range(len(data))] == [
        parts.last_token(i + 1) for i in range(len(data))
    ]


def test_a_token_that_merging_cannot_make_is_a_whole_prefix_or_nothing() -> None:
    ranks = BYTES | {b"abc": 256}
    some = dictionary_of(rank_vocabulary("whole", ranks, ".", {}))
    bpe = IncrementalBPE(some)
    bpe.append(b"abcd")
    assert [bpe.tokens(length) for length in (2, 3, 4)] == [[97, 98], [256], [97, 98, 99, 100]]
    assert bpe.last_token(3) == 256
    assert IncrementalModel(DictionaryTables(some)).spans("abc") == [(256, 0, 3)]


# The cost


@given(st.lists(st.binary(min_size=1, max_size=4), unique=True), st.binary(max_size=60))
def test_the_automaton_knows_the_longest_token_at_the_end(tokens: list[bytes], data: bytes) -> None:
    known = [*BYTES, *(token for token in tokens if len(token) > 1)]
    automaton = TokenAutomaton(known)
    for stop, state in enumerate(automaton.states(data), 1):
        ends = [place for place, token in enumerate(known) if data[:stop].endswith(token)]
        assert automaton.longest[state] == max(ends, key=lambda place: len(known[place]))


def test_the_last_token_is_found_with_few_questions() -> None:
    """Of 512 suffixes; by trying they are 256 on average, at most 511."""
    drawn = powers(9)
    tables_ = DictionaryTables(drawn.dictionary)
    last: list[int] = []
    tables_.extend(last, 0, b"a" * 2000)
    search, longest = tables_.search, tables_.forest.node[drawn.dictionary.number[b"a" * 512]]
    worst = tried = 0
    for stop in range(512, 2000):
        before = Asked(last[:stop])
        Asked.count = 0
        assert search.by_halving(longest, before) == last[stop]
        worst = max(worst, Asked.count)
        Asked.count = 0
        assert search.by_trying(longest, before) == last[stop]
        tried = max(tried, Asked.count)
    assert worst <= 20
    assert tried > 500


# Proper dictionaries


@given(pair_tables(), texts)
def test_a_properized_dictionary_is_proper_and_gives_the_same_tokens(
    drawn: Table, data: bytes
) -> None:
    try:
        proper = make_proper(drawn.dictionary)
    except OptionError:
        return
    assert is_proper(proper)
    merged = own_rules(proper)
    for length in range(len(data) + 1):
        assert merged(data[:length]) == drawn.expected(data[:length])
    made = proper.number
    for left, right in itertools.product([token for token in made if len(token) > 1], repeat=2):
        assert merged(left + right) == drawn.expected(left + right)


def test_an_improper_table_is_properized() -> None:
    """Priorities of (a, b) and (ab, c) change places."""
    some = table(IMPROPER).dictionary
    assert not is_proper(some)
    proper = make_proper(some)
    assert proper.priority[proper.number[b"ab"]] < proper.priority[proper.number[b"abc"]]
    assert make_proper(proper) is proper


def test_a_table_that_cannot_be_proper_is_refused_with_the_reason() -> None:
    drawn = table(NEVER_PROPER)
    with pytest.raises(OptionError) as refused:
        make_proper(drawn.dictionary)
    assert str(refused.value) == (
        "drawn: no proper order of the merges gives the same tokens: each of these would have to "
        "come before the next: b'aa' + b'a' (priority 0), b'a' + b'a' (priority 1), "
        "b'aa' + b'a' (priority 0)"
    )


@given(pair_tables(letters="ab", max_token=6))
@example(table(NEVER_PROPER))
def test_what_is_refused_has_no_proper_order(drawn: Table) -> None:
    """All orders, on the texts that two tokens make: one of them differs."""
    some = drawn.dictionary
    made = [token for token in range(len(some.ids)) if some.left[token] != BYTE]
    if len(made) > 5 or not is_refused(some):
        return
    pieces = [token for token in some.spelling if set(token) <= set(b"ab")]
    data = [left + right for left, right in itertools.product(pieces, repeat=2)]
    expected = [drawn.expected(text) for text in data]
    for order in itertools.permutations(made):
        place = {token: i for i, token in enumerate(order)}
        if all(
            place.get(some.left[t], -1) < place[t] > place.get(some.right[t], -1) for t in order
        ):
            merged = own_rules(in_order(some, order))
            assert [merged(text) for text in data] != expected


def is_refused(some: Dictionary) -> bool:
    try:
        make_proper(some)
    except OptionError:
        return True
    return False


def in_order(some: Dictionary, order: tuple[int, ...]) -> Dictionary:
    pairs = [(some.spelling[some.left[t]], some.spelling[some.right[t]]) for t in order]
    made = table([(left.decode(), right.decode()) for left, right in pairs]).dictionary
    ids = [some.ids[some.number[token]] for token in made.spelling]
    return Dictionary("", made.spelling, ids, made.left, made.right, made.priority)


# Real vocabularies


@pytest.mark.ids
@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part", "deepseek_part"])
@given(text=any_texts(max_size=200))
@example(text="a" * 300 + " " * 200 + "=" * 150 + "中" * 40)
def test_every_prefix_has_its_own_ids_with_real_vocabularies(name: str, text: str) -> None:
    tables_, merging = real_tables(name)
    bpe, data = IncrementalBPE(tables_), text.encode()
    bpe.append(data)
    for length in {*range(0, len(data), 7), len(data)}:
        assert bpe.tokens(length) == list(merging(data[:length]))
