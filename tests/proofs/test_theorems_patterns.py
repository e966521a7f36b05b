"""The theorems about pre-tokenizers, tried on drawn patterns (proofs/): 14 to 23.

The oracle is the module `regex`, for short texts all of them; Oniguruma and fancy-regex are asked
what they make of the same patterns. Look-ahead is the only way to look beside a match.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import pytest
import regex
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.recipes.contexts import build as build_graph
from tests.recipes.contexts import contexts, decide
from tests.recipes.machine import Graph, explore
from tests.recipes.pattern import parse
from tests.support.cut_engines import ENGINES
from tests.support.pattern_pieces import engine_pieces
from tests.support.patterns_drawn import (
    ANY,
    CATEGORIES,
    Choice,
    One,
    Row,
    Times,
    alphabets,
    atoms_of,
    clean,
    dead,
    first_end,
    first_piece,
    members,
    patterns,
    pieces,
    words,
)
from tests.support.texts import WHITESPACE, texts
from tests.support.tokenizers_drawn import PATTERNS
from tokpar.patterns.pattern_reader import UnsupportedPatternError

SHORT = 5
FILTERING = settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.filter_too_much]
)
KINDS = ("", "+", "?")
any_pattern = patterns(kinds=KINDS, far=True)
strings = st.text("".join(CATEGORIES), min_size=2, max_size=12)


def compiled(pattern: Choice) -> regex.Pattern[str]:
    return regex.compile(pattern.alternatives)


# ------------------------------------------------------- theorems 14, 15, 17 and window lemma


@given(any_pattern, strings)
def test_theorem_14_a_cut_is_clean_if_the_first_ends_agree(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    for p in range(1, len(text)):
        left = sorted(pieces(search, text[:p]))[:-1]
        agree = all(first_end(search, text[s:]) == first_end(search, text[s:p]) for s in left)
        assert agree == clean(search, text, p)


@given(any_pattern, strings)
def test_theorem_14_patterns_that_look_to_the_right_are_restartable(
    pattern: Choice, text: str
) -> None:
    search, place = compiled(pattern), 0
    found = {0}
    while place < len(text):
        place += first_end(search, text[place:])
        found.add(place)
    assert found == pieces(search, text)


@given(any_pattern, alphabets(3))
def test_lemma_17_safe_pairs_are_those_that_never_move_a_first_end(
    pattern: Choice, alphabet: str
) -> None:
    search = compiled(pattern)
    moved, wrong = set(), set()
    ends = {word: first_end(search, word) for word in words(alphabet, 4)}
    for word in ends:
        for p in range(1, len(word)):
            if ends[word] != ends[word[:p]]:
                moved.add(word[p - 1 : p + 1])
            if not clean(search, word, p):
                wrong.add(word[p - 1 : p + 1])
    assert moved == wrong


@given(any_pattern, strings)
def test_theorem_15_one_true_boundary_is_enough_on_the_right(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for a in range(len(text)):
        right = pieces(search, text[a:], a)
        for p in whole & right:
            assert {q for q in whole if q >= p} == {q for q in right if q >= p}


@given(any_pattern, strings)
def test_theorem_15_clean_cuts_stay_clean_between_clean_cuts(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for q, p in pairwise([p for p in range(1, len(text)) if clean(search, text, p)]):
        assert clean(search, text[q:], p - q)
        assert clean(search, text[:p], q)
        assert pieces(search, text[q:p], q) == {r for r in whole if q <= r <= p}


@given(any_pattern, strings)
def test_the_window_lemma_for_drawn_patterns(pattern: Choice, text: str) -> None:
    search = compiled(pattern)
    whole = pieces(search, text)
    for p in (p for p in range(1, len(text)) if clean(search, text, p)):
        for b in range(p + 1, len(text) + 1):
            for a in range(p):
                if clean(search, text[:b], p) and clean(search, text[a:], p - a):
                    x, y = pieces(search, text[:b]), pieces(search, text[a:], a)
                    assert {q for q in x if q <= p} | {q for q in y if q >= p} == whole


# ------------------------------------------------------------------- theorem 18: dead pairs


def broken_pairs(search: regex.Pattern[str], alphabet: str, longest: int = SHORT) -> set[str]:
    """Pairs of characters at some wrong cut of some short text."""
    found = set()
    places = {word: pieces(search, word) for word in words(alphabet, longest)}
    for word, whole in places.items():
        for p in range(1, len(word)):
            if whole != places[word[:p]] | {p + q for q in places[word[p:]]}:
                found.add(word[p - 1 : p + 1])
    return found


def dead_pairs(pattern: Choice, alphabet: str) -> set[str]:
    return {x + y for x, y in product(alphabet, repeat=2) if dead(pattern, x, y)}


@given(patterns(kinds=KINDS), alphabets(3))
def test_theorem_18_a_dead_pair_is_safe(pattern: Choice, alphabet: str) -> None:
    found = dead_pairs(pattern, alphabet)
    assume(found)
    assert not found & broken_pairs(compiled(pattern), alphabet)


def test_theorem_18_finds_pairs() -> None:
    """Letters with an optional space before them, punctuation likewise, white space."""
    word, rest = (
        Row((Times(One(" "), "?"), Times(One(c), "+"))) for c in (r"\p{L}", r"[^\s\p{L}]")
    )
    pattern = Choice((word, rest, Row((Times(One(r"\s"), "+"),))))
    assert dead_pairs(pattern, "a. ") == {"a.", "a ", ".a", ". "}


# ---------------------------------------------------------- theorem 19: the decision procedure


def graph_of(pattern: str, alphabet: str, engine: str = "regex") -> Graph:
    """The machine of a covering pattern; other patterns end the example."""
    try:
        return build_graph(parse(pattern, engine, atoms_of(alphabet)), alphabet)
    except UnsupportedPatternError:
        assume(False)
        raise


def shortest_words(
    graph: Graph, starts: Iterator[tuple[int, bool, str]]
) -> list[tuple[int, bool, str]]:
    """(state, earlier match, word) for each pair of the first two, by breadth-first search."""
    found = {(state, had, word[-1:]): word for state, had, word in starts}
    todo = list(found)
    for state, had, last in todo:
        for k, (char, *_) in enumerate(graph.symbols):
            after = (graph.target[state][k], had or graph.matched[state][k], char)
            if after not in found:
                found[after] = found[state, had, last] + char
                todo.append(after)
    return [(state, had, found[state, had, last]) for state, had, last in todo]


def counterexample(
    graph: Graph, search: regex.Pattern[str], x: str, y: str
) -> tuple[str, str] | None:
    """u that ends in x, R that begins with y: m(uR) != m(u). The machine says where to look."""
    column = {char: k for k, names in enumerate(graph.symbols) for char in names}
    same = {char: names[0] for names in graph.symbols for char in names}
    for state, _, u in shortest_words(graph, iter([(0, False, "")])):
        if u and u[-1] == same[x]:
            u = u[:-1] + x
            start = (graph.target[state][column[y]], False, y)
            for _, _, r in shortest_words(graph, iter([start])):
                for more in ("", *column):
                    if first_end(search, u + r + more) != first_end(search, u):
                        return u, r + more
    return None


@FILTERING
@given(patterns(covering=True), alphabets(3))
def test_theorem_19_decides_every_pair(pattern: Choice, alphabet: str) -> None:
    """What is safe is broken by no short text; what is not has a text that breaks it."""
    graph, search = graph_of(pattern.alternatives, alphabet), compiled(pattern)
    safe = {x + y for x, y in contexts(graph).pairs}
    assert not safe & broken_pairs(search, alphabet, 4)
    assert dead_pairs(pattern, alphabet) <= safe
    for x, y in product(alphabet, repeat=2):
        if x + y not in safe:
            assert counterexample(graph, search, x, y) is not None, (x, y)


@FILTERING
@given(patterns(covering=True), alphabets(3))
def test_theorem_19_longer_contexts_are_safe(pattern: Choice, alphabet: str) -> None:
    search = compiled(pattern)
    found = contexts(graph_of(pattern.alternatives, alphabet))
    ahead, behind = ({*map("".join, rows)} for rows in (found.triples, found.left_triples))
    for word in words(alphabet, SHORT):
        for p in range(1, len(word)):
            if word[p - 1 : p + 2] in ahead or (p > 1 and word[p - 2 : p + 1] in behind):
                assert clean(search, word, p)


@FILTERING
@given(patterns(kinds=("", "", "", "+"), covering=True), alphabets(3))
def test_theorem_19_the_machine_finds_the_pieces_of_regex(pattern: Choice, alphabet: str) -> None:
    graph, search = graph_of(pattern.alternatives, alphabet), compiled(pattern)
    for word in words(alphabet, 4):
        assert first_piece(graph, word) == first_end(search, word)


@FILTERING
@pytest.mark.parametrize("engine", ["oniguruma", "fancy-regex"])
@given(pattern=patterns(covering=True), alphabet=alphabets(4), data=st.data())
def test_theorem_19_the_machine_finds_the_pieces_of_the_engines(
    engine: str, pattern: Choice, alphabet: str, data: st.DataObject
) -> None:
    graph = graph_of(pattern.alternatives, alphabet, engine)
    text = data.draw(st.text(alphabet, min_size=1, max_size=20))
    place, ends = 0, []
    while place < len(text):
        place += first_piece(graph, text[place:])
        ends.append(place)
    (found,) = ENGINES[engine]((pattern.alternatives,), [text])
    assert ends == found


@given(patterns(), alphabets(3))
def test_theorem_19_patterns_that_leave_gaps_are_refused(pattern: Choice, alphabet: str) -> None:
    """Exactly those: by a text without a match at its start, which the machine leads to."""
    try:
        graph = explore(parse(pattern.alternatives, "regex", atoms_of(alphabet)), alphabet)
    except UnsupportedPatternError:
        assume(False)
    reached = shortest_words(graph, iter([(0, False, "")]))
    search = compiled(pattern)
    unmatched = [word for _, _, word in reached if word and not search.match(word)]
    try:
        build_graph(parse(pattern.alternatives, "regex", atoms_of(alphabet)), alphabet)
    except UnsupportedPatternError:
        assert unmatched
    else:
        assert all(search.match(word) for word in words(alphabet, 4))
        assert not unmatched


# ------------------------------------------- theorems 20, 21 and W1: the families on any text

FAMILIES = tuple(PATTERNS)
NEWLINE_ROW = tuple(name for name in FAMILIES if name not in ("gpt2", "r50k"))
sides = texts(max_size=40)


def assert_clean(family: str, text: str, p: int) -> None:
    parts = engine_pieces(family, text[:p]) | {p + q for q in engine_pieces(family, text[p:])}
    assert parts == engine_pieces(family, text), (family, text, p)


@given(st.sampled_from(FAMILIES), sides, st.sampled_from(WHITESPACE), sides)
def test_theorem_20_a_non_space_and_then_white_space(
    family: str, left: str, space: str, right: str
) -> None:
    assume(left and left[-1] not in WHITESPACE)
    assume(space not in "\r\n" or family in ("gpt2", "r50k"))
    assert_clean(family, left + space + right, len(left))


@given(st.sampled_from(NEWLINE_ROW), sides, st.sampled_from("\r\n"), sides)
def test_theorem_21_a_newline_and_then_a_non_space(
    family: str, left: str, newline: str, right: str
) -> None:
    assume(right and right[0] not in WHITESPACE)
    assume(right[0] != "/" or family not in ("o200k", "tekken"))
    assert_clean(family, left + newline + right, len(left) + 1)


@given(st.sampled_from(NEWLINE_ROW), sides, st.text(" \t\n\r\u3000", max_size=4), sides)
@example("cl100k", "a", "\n ", "b")
def test_w1_the_start_of_an_indented_line(family: str, left: str, spaces: str, right: str) -> None:
    """Behind the last newline of a run of white space that goes on and ends before a non-space."""
    indent = spaces.replace("\n", "").replace("\r", "") or " "
    assume(right and right[0] not in WHITESPACE)
    text = left + spaces + "\n" + indent + right
    assert_clean(family, text, len(text) - len(right) - len(indent))


# ------------------------------------------------------------------- theorem 22: the digit phase

NO_NUMBERS = ("a", "A", " ", "[.]", r"\p{L}", r"\s", r"[a.]", r"[^\s\p{N}]")


@given(
    patterns(kinds=KINDS, classes=NO_NUMBERS),
    st.sampled_from([r"\p{N}{1,3}", r"\p{N}{1,3}+"]),
    st.integers(0, 4),
    st.lists(st.text("aA .\n", max_size=3) | st.text("1２", min_size=1, max_size=8), max_size=6),
)
def test_theorem_22_every_third_place_of_a_run_of_numbers(
    pattern: Choice, numbers: str, at: int, parts: list[str]
) -> None:
    rows = [row.source for row in pattern.rows]
    rows.insert(at, numbers)
    search, text = regex.compile("|".join(rows)), "".join(parts)
    for run in regex.finditer(r"\p{N}+", text):
        for p in range(run.start() + 3, run.end() + 1, 3):
            assert p == len(text) or clean(search, text, p)


def test_no_class_of_the_other_alternatives_takes_a_number() -> None:
    assert not any("1" in members(source) for source in NO_NUMBERS)


# ------------------------------------------------------------------ lemma 23: sequences of Splits


def sequence_pieces(first: regex.Pattern[str], then: regex.Pattern[str], text: str) -> set[int]:
    places = sorted(pieces(first, text))
    return {0}.union(*(pieces(then, text[i:j], i) for i, j in pairwise(places)))


@given(any_pattern, any_pattern, strings)
def test_lemma_23_cuts_of_two_stages(one: Choice, two: Choice, text: str) -> None:
    first, then = compiled(one), compiled(two)
    whole = pieces(first, text)
    places = sorted(whole)
    for p in range(1, len(text)):
        halves = pieces(first, text[:p]) | pieces(first, text[p:], p)
        u, v = max(q for q in places if q < p), min(q for q in places if q > p)
        inside = p not in whole and whole | {p} == halves
        if halves == whole or (inside and clean(then, text[u:v], p - u)):
            parts = sequence_pieces(first, then, text[:p])
            parts |= {p + q for q in sequence_pieces(first, then, text[p:])}
            assert parts == sequence_pieces(first, then, text)


@given(st.sampled_from(["a", r"\p{L}", r"\p{N}", r"[a.]", r"\s"]), st.booleans(), strings)
def test_lemma_23_class_runs(source: str, counted: bool, text: str) -> None:
    """(c) and (d): edges of runs are clean, and the rest is split in two at most."""
    search = regex.compile(source + ("{1,3}" if counted else "+"))
    for p in range(1, len(text)):
        before, behind = (bool(regex.match(source, c)) for c in text[p - 1 : p + 1])
        halves = pieces(search, text[:p]) | pieces(search, text[p:], p)
        if before != behind:
            assert halves == pieces(search, text)
        elif not counted or not before:
            assert halves == pieces(search, text) | {p}


CUTS_CAPITALS_APART = Choice((Row((One(r"\p{L}"), One(r"\p{Ll}"))), Row((One(ANY),))))


@given(
    st.lists(
        st.sampled_from(["a+", r"\p{L}+", r"\p{N}{1,3}", r"[a.]{1,2}", r"\p{L}{1,2}", r"\s+"]),
        max_size=2,
    ),
    patterns(covering=True),
    alphabets(3),
)
@example(
    [r"\p{L}+", r"\p{L}{1,2}"], CUTS_CAPITALS_APART, "1Aa"
)  # the second cuts runs of the first
@example([r"\p{L}{1,2}", "a+"], CUTS_CAPITALS_APART, "1Aa")
def test_lemma_23_what_is_decided_of_a_sequence_is_safe(
    early: list[str], last: Choice, alphabet: str
) -> None:
    spelled = [*early, last.alternatives]
    try:
        stages = tuple(parse(pattern, "regex", atoms_of(alphabet)) for pattern in spelled)
        found = decide(stages, frozenset(alphabet))
    except UnsupportedPatternError:
        assume(False)
    searches = [regex.compile(pattern) for pattern in spelled]

    def ends(text: str) -> set[int]:
        places = {0, len(text)}
        for search in searches:
            cut = sorted(places)
            places = places.union(*(pieces(search, text[i:j], i) for i, j in pairwise(cut)))
        return places

    known = {word: ends(word) for word in words(alphabet, SHORT)}
    for word, whole in known.items():
        for p in range(1, len(word)):
            if whole != known[word[:p]] | {p + q for q in known[word[p:]]}:
                assert (word[p - 1], word[p]) not in found.pairs
                assert (*word[p - 1 : p + 2],) not in found.triples
                assert p < 2 or (*word[p - 2 : p + 1],) not in found.left_triples


@pytest.mark.parametrize("source", [ANY, r"\s", r"[^\s\p{L}]"])
def test_classes_of_the_alphabet_are_those_of_regex(source: str) -> None:
    assert members(source) == {char for char in CATEGORIES if regex.fullmatch(source, char)}
