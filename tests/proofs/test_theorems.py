"""The theorems about the inside of a pre-token, tried on small drawn tables (proofs/).

Greedy merging is written out once more here, over strings, so that nothing is proved of the
library by the library. Each hypothesis has a stored case that fails without it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.merge_tables import (
    Table,
    Token,
    Tokens,
    before,
    behind,
    boundaries,
    edges,
    encode,
    greedy,
    run,
    tables,
)
from tests.support.plain_bpe import merge_by_heap, pair_rule
from tests.support.seams import part, serial, wrong_in_fact
from tests.support.texts import fibonacci_word, made_of, thue_morse_word
from tests.support.tokenizers_drawn import PATTERNS

LONGEST_TEXT = 18


def adversarial(least: int, most: int, letters: str = "abc") -> st.SearchStrategy[str]:
    """Any text, or one that repeats itself with any period, or never quite does."""
    sizes = st.integers(least, most)
    word = st.text(letters[:2], min_size=1, max_size=most)
    return st.one_of(
        st.text(letters, min_size=least, max_size=most),
        st.builds(lambda part, size: (part * size)[:size], word, sizes),
        st.builds(fibonacci_word, st.just("a"), st.just("b"), sizes),
        st.builds(thue_morse_word, st.just("a"), st.just("b"), sizes),
    )


def of_tokens(table: Table) -> st.SearchStrategy[str]:
    """The table's tokens side by side, or built backwards from tokens over the start."""
    return made_of(sorted(table.tokens)).map(lambda text: text[:LONGEST_TEXT])


texts = adversarial(1, LONGEST_TEXT) | st.text("ab", min_size=4, max_size=16)
cases = st.tuples(tables(), texts) | tables().flatmap(
    lambda table: st.tuples(st.just(table), of_tokens(table))
)
chance = st.randoms(use_true_random=False)


@given(tables(), texts)
def test_the_reference_merges_as_the_library_does(table: Table, text: str) -> None:
    assume(not table.by_bytes)
    ids = {token: k for k, token in enumerate(sorted(table.tokens))}
    merges = {
        (ids[left], ids[right]): (k, ids[left + right])
        for k, (left, right) in reversed([*enumerate(table.merges)])
    }
    merged = merge_by_heap([ids[atom] for atom in text], pair_rule(merges))
    assert merged == [ids[token] for token in encode(table, text)]


# --------------------------------------------------------------- lemmas 3 and 4: consistency


@given(tables(), texts)
def test_lemma_3_the_steps_between_two_boundaries_are_those_of_the_part(
    table: Table, text: str
) -> None:
    _, steps = run(table, text)
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            intact = next((k for k, p in enumerate(steps) if p in (i, j)), len(steps))
            inside = [p - i for p in steps[:intact] if i < p < j]
            assert run(table, text[i:j])[1][: len(inside)] == inside


def consistent(encoded: Callable[[str], Sequence[str]], text: str) -> bool:
    """Lemma 4 for one text."""
    places = sorted(edges(encoded(text)))
    return all(
        edges(encoded(text[i:j]), i) == {p for p in places if i <= p <= j}
        for k, i in enumerate(places)
        for j in places[k + 1 :]
    )


@given(cases)
def test_lemma_4_the_result_between_two_boundaries_is_that_of_the_part(
    case: tuple[Table, str],
) -> None:
    table, text = case
    assert consistent(lambda part: encode(table, part), text)


def test_lemma_4_needs_that_no_token_bypasses_the_merges() -> None:
    """ "abc" is a token that no merge makes, given only to whole pieces."""

    def shortcut(part: str) -> Tokens:
        return (part,) if part == "abc" else tuple(part)

    assert not consistent(shortcut, "abca")


def test_lemma_4_needs_that_no_atom_is_dropped() -> None:
    """Without x, a and b become neighbours."""
    kept = encode(Table((("a", "b"),)), "axb".replace("x", ""))
    assert kept == ("ab",)
    assert "".join(kept) != "axb"


def test_lemma_4_needs_merging_unigram_paths_look_at_the_whole() -> None:
    """The best path over {aa, b, ba, ab}: boundaries inside depend on the far end."""
    scores = {"a": -10.0, "aa": -1.0, "b": -1.0, "ba": -4.0, "ab": -4.5}

    def best(part: str) -> Tokens:
        paths: list[tuple[float, Tokens]] = [(0.0, ())]
        for end in range(1, len(part) + 1):
            paths.append(
                max(
                    (paths[start][0] + scores[part[start:end]], (*paths[start][1], part[start:end]))
                    for start in range(max(0, end - 2), end)
                    if part[start:end] in scores
                )
            )
        return paths[-1][1]

    text = "b" + "a" * 8 + "b"
    common = edges(best(text[:8])) & edges(best(text[2:]), 2)
    assert common == {2, 4, 6, 8}
    assert common.isdisjoint(edges(best(text)))


# ------------------------------------------------------------ theorem 5: two common boundaries


@given(cases)
def test_theorem_5_both_directions(case: tuple[Table, str]) -> None:
    table, text = case
    whole = boundaries(table, text)
    left = [boundaries(table, text[:j]) for j in range(len(text) + 1)]
    right = [boundaries(table, text[i:], i) for i in range(len(text) + 1)]
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            assert ({i, j} <= whole) == (i in left[j] and j in right[i])


@pytest.mark.parametrize(
    ("merges", "left", "right"),
    [((("b", "c"), ("a", "bc")), True, False), ((("a", "b"), ("ab", "c")), False, True)],
)
def test_theorem_5_needs_both_sides(
    merges: tuple[tuple[str, str], ...], left: bool, right: bool
) -> None:
    table = Table(merges)
    assert (1 in boundaries(table, "ab"), 2 in boundaries(table, "bc", 1)) == (left, right)
    assert encode(table, "abc") == ("abc",)


def overlaps(
    encoded: Callable[[str], Sequence[str]], text: str, front: str = "", back: str = ""
) -> Iterator[tuple[int, int, set[int], set[int]]]:
    """(a, b, edges of X, edges of Y) for all X = text[:b] + back and Y = front + text[a:]."""
    left = [edges(encoded(text[:b] + back)) for b in range(len(text) + 1)]
    right = [edges(encoded(front + text[a:]), a - len(front)) for a in range(len(text) + 1)]
    for a in range(len(text)):
        for b in range(a + 1, len(text) + 1):
            yield a, b, left[b], right[a]


def joined(x: set[int], y: set[int], p: int) -> set[int]:
    """The boundaries of X up to p and of Y from p on."""
    return {q for q in x if q <= p} | {q for q in y if q >= p}


@given(tables(), adversarial(4, 14), *[st.text("abc", max_size=3)] * 2)
def test_theorem_5_prime_two_common_boundaries_join(
    table: Table, text: str, front: str, back: str
) -> None:
    """X goes on with anything behind j, Y begins with anything before i."""
    whole = boundaries(table, text)
    for a, b, x, y in overlaps(lambda part: encode(table, part), text, front, back):
        common = sorted(p for p in x & y if a <= p <= b)
        for i, j in pairwise(common):
            assert joined(x, y, i) == joined(x, y, j) == whole


def joined_at_one(table: Table, text: str, b: int, a: int) -> list[tuple[int, Tokens]]:
    """What each common boundary strictly inside the overlap [a, b) gives, if it is the only one."""
    x, y = encode(table, text[:b]), encode(table, text[a:])
    common = [p for p in edges(x) & edges(y, a) if a < p < b]
    return [(p, before(x, p) + behind(y, p - a)) for p in common if len(common) == 1]


ONE_IS_NOT_ENOUGH = Table((("a", "b"), ("ab", "ab")))


def test_theorem_5_prime_one_common_boundary_is_not_enough() -> None:
    """ "abab": [ab, a] and [b, ab] share 2, and the whole is one token."""
    assert joined_at_one(ONE_IS_NOT_ENOUGH, "abab", 3, 1) == [(2, ("ab", "ab"))]
    assert encode(ONE_IS_NOT_ENOUGH, "abab") == ("abab",)


def test_no_smaller_text_shows_that_one_is_not_enough() -> None:
    """One inner boundary strictly inside an overlap that is no whole side takes four atoms; a
    single merge does not show it either."""
    letters = "ab"
    for left in letters:
        for right in letters:
            table = Table(((left, right),))
            for n in range(4, 8):
                for k in range(2**n):
                    text = "".join(letters[k >> p & 1] for p in range(n))
                    whole = boundaries(table, text)
                    for a in range(1, n - 2):
                        for p, _ in joined_at_one(table, text, min(n - 1, a + 3), a):
                            assert p in whole


def test_theorem_5_prime_needs_the_same_atoms_up_to_j() -> None:
    """X agrees with the text up to i, not up to j: "ab" and "ac"."""
    table = Table((("a", "b"),))
    x, y = encode(table, "ac"), encode(table, "b")
    assert (x, y) == (("a", "c"), ("b",))
    assert {1, 2} <= edges(x) & edges(y, 1)
    assert before(x, 1) + y != encode(table, "ab")


def test_a_whole_piece_shortcut_needs_parts_longer_than_the_longest_token() -> None:
    """ "abc" is a token no merge makes: two parts "abc" of "abcabc" are one token each."""

    def encoded(part: str) -> Tokens:
        return (part,) if part == "abc" else tuple(part)

    assert encoded("abcabc") == tuple("abcabc")
    assert edges(encoded("abcab")) & edges(encoded("bcabc"), 1) >= {3, 4}
    assert encoded("abc") + encoded("abc") == ("abc", "abc")


@given(tables(), adversarial(8, 14), st.data())
def test_with_a_shortcut_parts_and_windows_longer_than_the_longest_token_join(
    table: Table, text: str, data: st.DataObject
) -> None:
    """Some tokens no merge makes; they are given to whole pieces only."""
    ends = st.tuples(st.integers(0, len(text) - 3), st.integers(2, 3))
    drawn = data.draw(st.lists(ends, min_size=1, max_size=3))
    tokens = table.tokens | {text[i : i + n] for i, n in drawn}
    longest = max(map(len, tokens))

    def encoded(part: str) -> Tokens:
        return (part,) if part in tokens else encode(table, part)

    whole = edges(encoded(text))
    for a, b, x, y in overlaps(encoded, text):
        if min(b, len(text) - a) > longest:
            for i, _ in pairwise(sorted(p for p in x & y if a <= p <= b)):
                assert joined(x, y, i) == whole
    for p in range(longest + 1, len(text) - longest):
        if forced(tokens, text, p):
            assert edges(encoded(text[:p])) | edges(encoded(text[p:]), p) == whole


# ------------------------------------------------------------------------ corollary 7: pairs


@given(tables(), st.data())
def test_corollary_7_a_sequence_is_valid_if_its_pairs_are(
    table: Table, data: st.DataObject
) -> None:
    tokens = data.draw(st.lists(st.sampled_from(sorted(table.tokens)), min_size=2, max_size=6))
    if data.draw(st.booleans()):  # mostly valid ones: take the encoding, change at most one place
        tokens = list(encode(table, "".join(tokens)))
    pairs = all(encode(table, u + v) == (u, v) for u, v in pairwise(tokens))
    canonical = all(encode(table, token) == (token,) for token in tokens)
    assert (pairs and canonical) == (encode(table, "".join(tokens)) == tuple(tokens))


def test_corollary_7_needs_canonical_tokens_where_there_is_no_pair() -> None:
    """Improper: (aa, b) comes first, but "aab" is never made of a, a, b in that order."""
    table = Table((("a", "b"), ("a", "a"), ("aa", "b")))
    assert "aab" in table.tokens
    assert encode(table, "aab") == ("a", "ab")


@given(tables(), texts, texts, chance)
def test_a_window_around_a_seam_checks_it_both_ways(
    table: Table, left: str, right: str, rng: random.Random
) -> None:
    """Encoding the tokens around a seam again is a sound and complete check of it."""
    x, y = encode(table, left), encode(table, right)
    window = x[-rng.randint(1, len(x)) :] + y[: rng.randint(1, len(y))]
    kept = encode(table, "".join(window)) == window
    assert kept == (encode(table, left + right) == x + y)


# --------------------------------------------------------------- lemma 24: vocabulary-forced cuts


def forced(tokens: frozenset[str], text: str, p: int) -> bool:
    """No token occurs across p."""
    longest = max(map(len, tokens))
    return not any(
        text[s:e] in tokens
        for s in range(max(0, p - longest), p)
        for e in range(p + 1, min(len(text), p + longest) + 1)
    )


@given(cases)
def test_lemma_24_a_forced_place_parts_the_encoding(case: tuple[Table, str]) -> None:
    table, text = case
    whole = encode(table, text)
    for p in range(1, len(text)):
        if forced(table.tokens, text, p):
            assert encode(table, text[:p]) + encode(table, text[p:]) == whole


def test_lemma_24_needs_the_absence_of_all_tokens_not_of_the_pair() -> None:
    """ "ab" is no token, but "abc" holds the pair."""
    table = Table((("b", "c"), ("a", "bc")))
    assert "ab" not in table.tokens
    assert not forced(table.tokens, "abc", 1)
    assert encode(table, "a") + encode(table, "bc") != encode(table, "abc")


# ----------------------------------------------------------------- LoPT's claim in WordPiece


def wordpiece(vocabulary: frozenset[str], limit: int, text: str, start: int = 0) -> list[Token]:
    """(start, stop, token) of each token; words are what stands between spaces."""
    found: list[Token] = []
    for word in regex.finditer(r"[^ ]+", text):
        pieces = greedy(vocabulary, word[0]) if len(word[0]) <= limit else None
        whole = [(0, len(word[0]), "[UNK]")]
        found += [
            (start + word.start() + s, start + word.start() + e, t) for s, e, t in pieces or whole
        ]
    return found


PLAIN = frozenset({"a", "##a"})
vocabularies = st.frozensets(
    st.text("ab", min_size=1, max_size=3).flatmap(lambda w: st.sampled_from((w, "##" + w))),
    max_size=9,
).flatmap(lambda drawn: st.sampled_from((drawn | PLAIN, drawn | PLAIN | {"b", "##b"})))
lines = st.lists(st.text("ab", min_size=1, max_size=7), min_size=1, max_size=4).map(" ".join)


@given(vocabularies, st.integers(1, 5), lines, st.integers(0, 2))
def test_lopt_a_common_token_of_wordpiece_joins_where_enough_is_shared(
    vocabulary: frozenset[str], limit: int, text: str, more: int
) -> None:
    serial = wordpiece(vocabulary, limit, text)
    for a in range(len(text) - limit - more + 1):
        b = a + limit + more
        x, y = wordpiece(vocabulary, limit, text[:b]), wordpiece(vocabulary, limit, text[a:], a)
        for token in set(x) & set(y):
            if a <= token[0] and token[1] <= b:
                assert x[: x.index(token) + 1] + y[y.index(token) + 1 :] == serial


def test_lopt_in_wordpiece_an_overlap_of_one_less_than_the_limit_is_not_enough() -> None:
    """Four letters, words of three at most: both sides see three, the whole is unknown."""
    x, y = wordpiece(PLAIN, 3, "aaa"), wordpiece(PLAIN, 3, "aaa", 1)
    assert set(x) & set(y) == {(2, 3, "##a")}
    assert wordpiece(PLAIN, 3, "aaaa") == [(0, 4, "[UNK]")]


# ----------------------------------------- theorem 15, window lemma, split closure: pre-tokens

FAMILIES = {
    name: regex.compile(patterns[0].replace(r"\s++$", r"\s++\Z"))
    for name, patterns in PATTERNS.items()
    if len(patterns) == 1
} | {"two ahead": regex.compile(r"aA(?=1(?! ))|[\s\S]")}
"""Restartable pre-tokenizers; the last one is made up and looks two characters ahead."""
family_names = st.sampled_from(sorted(FAMILIES))
bits = ("a", "A", "1", "11", " ", "  ", "\n", " \n", "\n \nb", ".", "'s", ".\n", "/", "aA1", "aA1 ")
mixed = st.lists(st.sampled_from(bits), min_size=2, max_size=7).map("".join)


def scan(family: str, text: str, start: int = 0) -> set[int]:
    """Pre-token boundaries, both ends included."""
    places = {start, start + len(text)}
    for match in FAMILIES[family].finditer(text):
        places |= {start + match.start(), start + match.end()}
    return places


def clean(family: str, text: str, p: int) -> bool:
    """The cut leaves all pre-tokens as they are (theorem 14)."""
    return scan(family, text) == scan(family, text[:p]) | scan(family, text[p:], p)


@given(family_names, mixed)
def test_theorem_15_one_true_boundary_is_enough_on_the_right(family: str, text: str) -> None:
    whole = scan(family, text)
    for a in range(len(text)):
        right = scan(family, text[a:], a)
        for p in whole & right:
            assert {q for q in whole if q >= p} == {q for q in right if q >= p}


@pytest.mark.parametrize(
    ("family", "text", "b", "a"), [("llama3", "a\n \nb", 3, 2), ("o200k", "亚洲AVx", 4, 2)]
)
def test_theorem_15_needs_a_boundary_of_the_text(family: str, text: str, b: int, a: int) -> None:
    assert a in scan(family, text[:b])
    assert a in scan(family, text[a:], a)
    assert scan(family, text) != {p for p in scan(family, text[:b]) if p <= a} | scan(
        family, text[a:], a
    )


@given(family_names, mixed)
def test_clean_cuts_stay_clean_in_what_is_between_other_clean_cuts(family: str, text: str) -> None:
    """What makes the window lemma hold for any number of chunks."""
    cuts = [p for p in range(1, len(text)) if clean(family, text, p)]
    for k, q in enumerate(cuts):
        for p in cuts[k + 1 :]:
            assert clean(family, text[q:], p - q)
            assert clean(family, text[:p], q)
            inside = {r for r in scan(family, text) if q <= r <= p}
            assert scan(family, text[q:p], q) == inside


@given(family_names, mixed)
def test_the_window_lemma_for_two_chunks(family: str, text: str) -> None:
    whole = scan(family, text)
    cuts = [p for p in range(1, len(text)) if clean(family, text, p)]
    for p in cuts:
        for b in range(p + 1, len(text) + 1):
            if clean(family, text[:b], p):
                for a in range(p + 1):
                    if clean(family, text[a:], p - a):
                        x, y = scan(family, text[:b]), scan(family, text[a:], a)
                        assert joined(x, y, p) == whole


@given(family_names, st.text("aA1 \n.'/s", min_size=8, max_size=30), st.integers(2, 6))
def test_the_window_lemma_for_many_chunks(family: str, text: str, step: int) -> None:
    """Chunks that overlap are joined at cuts clean in the text and in both chunks."""
    chunks = [(a, min(len(text), a + 2 * step)) for a in range(0, len(text), step)]
    result, last = scan(family, text[: chunks[0][1]]), 0
    for (a, b), (c, d) in pairwise(chunks):
        cuts = [
            p
            for p in range(max(c, last) + 1, b)
            if clean(family, text, p)
            and clean(family, text[a:b], p - a)
            and clean(family, text[c:d], p - c)
        ]
        assume(cuts)
        last = cuts[0]
        result = joined(result, scan(family, text[c:d], c), last)
    assert result == scan(family, text)


@pytest.mark.parametrize(
    ("family", "text", "b", "a", "p"),
    [
        ("llama3", "a\n \nb", 3, 2, 2),  # no cut of the text: "\n \n" is one piece
        ("llama3", "111111", 5, 1, 3),  # no cut of Y: its run of digits begins at 1
        ("two ahead", "aA1 ", 3, 1, 2),  # no cut of X: without the space "aA" is one piece
    ],
)
def test_the_window_lemma_needs_the_cut_everywhere(
    family: str, text: str, b: int, a: int, p: int
) -> None:
    x, y = scan(family, text[:b]), scan(family, text[a:], a)
    everywhere = [
        clean(family, text, p),
        clean(family, text[:b], p),
        clean(family, text[a:], p - a),
    ]
    assert everywhere.count(False) == 1
    assert joined(x, y, p) != scan(family, text)


# ------------------------------------------------------------------ published claims, smallest


@pytest.mark.parametrize(
    ("name", "text", "stop", "serial_end", "merged_end"),
    [
        ("cl100k_part", "３" * 45 + "１０", 44, ["１０"], ["１", "０"]),
        ("o200k_part", "a" + "中" * 43 + "亚洲AVx", 46, ["亚洲", "AV", "x"], ["亚洲AV", "x"]),
    ],
)
def test_a_common_run_longer_than_the_longest_token_is_no_proof(
    name: str, text: str, stop: int, serial_end: list[str], merged_end: list[str]
) -> None:
    tokenizer = part(name)
    whole, left, right = (
        [tokenizer.decode_single_token_bytes(i) for i in serial(tokenizer, t)]
        for t in (text, text[:stop], text[1:])
    )
    first = len(text[0].encode())
    assert b"".join(left[1:]) == text[1:stop].encode()
    assert left[1:44] == right[:43]
    assert first == len(left[0])
    assert len(b"".join(left[1:44])) == 129
    merged = left[:44] + right[43:]
    assert [t.decode() for t in whole[-len(serial_end) :]] == serial_end
    assert [t.decode() for t in merged[-len(merged_end) :]] == merged_end
    assert b"".join(merged) == b"".join(whole) == text.encode()


def test_lopt_in_bert_with_an_overlap_of_99_characters() -> None:
    tokenizer, word = part("bert_part"), "unbelievable" * 8 + "unbel"

    def tokens(start: int, stop: int) -> set[tuple[int, int, int]]:
        encoding = tokenizer.encode(word[start:stop], add_special_tokens=False)
        spans = zip(encoding.offsets, encoding.ids, strict=True)
        return {(s + start, e + start, i) for (s, e), i in spans}

    assert len(word) == 101
    assert len(tokens(0, 100) & tokens(1, 101)) == 29
    assert tokens(0, 101) == {(0, 101, tokenizer.token_to_id("[UNK]"))}


def test_ids_that_agree_may_stand_at_different_places() -> None:
    tokenizer = part("cl100k_part")
    assert serial(tokenizer, "111"[:2]) == serial(tokenizer, "111"[1:])


@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part"])
def test_a_paragraph_break_is_no_boundary(name: str) -> None:
    assert wrong_in_fact(part(name), "end.\n\nNext", 4)
    assert wrong_in_fact(part(name), "a\n\n\nb", 3)


@pytest.mark.parametrize("atom", "1a=\n")
def test_the_midpoint_filter_is_wrong_in_runs_of_257(atom: str) -> None:
    """Overlap of 128, the length of the longest token, on both sides of 129."""
    tokenizer, text = part("cl100k_part"), atom * 257

    def spans(start: int, stop: int) -> list[tuple[int, int]]:
        lengths = [len(tokenizer.decode([i])) for i in serial(tokenizer, text[start:stop])]
        return list(pairwise(accumulate(lengths, initial=start)))

    kept = [t for t in spans(0, 257) if t[0] < 129] + [t for t in spans(1, 257) if t[0] >= 129]
    assert kept != spans(0, 257)
