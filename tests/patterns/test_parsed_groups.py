"""Atomic groups that the parser of patterns takes, and those that it refuses; sets as ranges."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from tests.support.drawn_runs import adapter_of, named
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.patterns import charclass_cache
from tokpar.patterns.charclass_cache import CODE_POINTS
from tokpar.patterns.class_tables import merge_ranges
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError, _show


@pytest.mark.parametrize("pattern", ["(?>[a-c]+)", "(?>x*)y", r"(?>\s{1,3})", r"(?>\p{L}+)\d"])
def test_an_atomic_group_of_one_repeated_class_is_possessive(pattern: str) -> None:
    group, _, rest = pattern.removeprefix("(?>").partition(")")
    possessive = PatternReader(f"{group}+{rest}", "fancy-regex")
    assert PatternReader(pattern, "fancy-regex")._tree == possessive._tree


@pytest.mark.parametrize(
    "pattern", ["(?>(?:ab)+)", "(?>(?:ab)*?)", "(?>[a-c]+?)", "(?>ab+)", "(?>a|b)", "(?>(?:a|bc)+)"]
)
def test_any_other_atomic_group_is_refused(pattern: str) -> None:
    with pytest.raises(RefusedProofError, match="atomic group"):
        PatternReader(pattern, "fancy-regex")


@pytest.mark.parametrize("opening", ["(?=", "(?!"])
def test_a_look_ahead_over_a_choice_of_characters_is_one_over_a_set(opening: str) -> None:
    chosen = PatternReader(rf"a{opening}b|\d|(?:c))", "fancy-regex")._tree
    (_, one), (_, sets, at_end, is_negated) = chosen[1]
    assert one == "a"
    assert [each[1] for each in sets] == ["b", r"\d", "c"]
    assert (at_end, is_negated) == (False, opening == "(?!")


def test_ranges_are_merged_whatever_lies_inside_of_them() -> None:
    every = [(low, high) for low, high in product(range(6), repeat=2) if low <= high]
    for ranges in product(every, repeat=3):
        merged = merge_ranges(ranges)
        members = {k for low, high in ranges for k in range(low, high + 1)}
        assert {k for low, high in merged for k in range(low, high + 1)} == members
        assert all(one[1] + 1 < other[0] for one, other in pairwise(merged))


def test_a_long_pattern_is_shown_by_its_beginning() -> None:
    assert _show("a" * 199) == repr("a" * 199)
    assert _show("a" * 200) == repr("a" * 200 + "...")
    assert _show("ab" * 200) == repr("ab" * 100 + "...")


def test_digits_are_short_pre_tokens_and_words_are_not() -> None:
    """tiktoken's own call is asked for parts where it would look for pre-tokens again and again."""
    pairs = finder_for(facts_of(adapter_of(named("cl100k_part")))).pairs
    assert pairs is not None
    assert pairs.table.parts_often("1234567890" * 30)
    assert pairs.table.parts_often("1 2 3 4 5 6 7 8 9 " * 30)
    assert not pairs.table.parts_often("some words of a text, and a few more of them " * 30)


@pytest.mark.parametrize("engine", ["oniguruma", "fancy-regex"])
def test_a_stored_class_is_asked_about_on_both_sides_of_each_edge(engine: str) -> None:
    last = CODE_POINTS - 1
    right = ((0, 96), (98, 0xD7FF), (0xE000, last))
    assert charclass_cache._agrees("[^a]", engine, right)
    for wrong in (
        ((1, 96), *right[1:]),  # U+0000
        ((0, 95), *right[1:]),
        ((0, 97), *right[1:]),
        ((0, 96), (99, 0xD7FF), right[2]),
        (*right[:2], (0xE000, last - 1)),
    ):
        assert not charclass_cache._agrees("[^a]", engine, wrong)
