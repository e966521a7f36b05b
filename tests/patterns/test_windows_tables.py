"""The stored windows of known families: what is decided anew, and all that was stored before."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from tests.conftest import below_one, cases, drawn
from tests.recipes.stored import load_stored
from tests.support.cut_engines import ENGINES, random_words
from tests.support.pair_places import pair_places
from tokpar.certificate.pattern_proof import _stored_windows
from tokpar.cuts.window_tables import WindowFinder, window_finder
from tokpar.patterns.class_tables import Spelling, load_atoms, load_families, merge_ranges
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_windows
from tokpar.patterns.stored_windows import DecidedWindows, stored_windows
from tokpar.patterns.window_search import Windows

SPELLINGS = [
    (name, source) for name, family in load_families().items() for source in family.sources
]
FEW = [(name, source) for name, source in SPELLINGS if source.engine == "oniguruma"]
FROZEN = np.concatenate(
    [
        np.arange(low, high + 1)
        for low, high in merge_ranges(s for v in load_atoms().values() for s in v)
    ]
)


def label(value: object) -> str:
    return (
        f"{value.engine} {len(value.patterns[-1])}" if isinstance(value, Spelling) else str(value)
    )


each_spelling = pytest.mark.parametrize(("name", "source"), cases(SPELLINGS, FEW), ids=label)


@cache
def fresh(source: Spelling) -> Windows:
    if source.engine == "oniguruma":
        below_one()
    return decide_windows([SplitStage(pattern, source.engine) for pattern in source.patterns])


def stored(name: str, source: Spelling) -> DecidedWindows:
    found = stored_windows(name, source.engine, source.patterns)
    assert found is not None
    return found


@cache
def finder_of(name: str, source: Spelling) -> WindowFinder:
    return window_finder(stored(name, source))


@each_spelling
def test_the_stored_windows_are_those_of_the_engine(name: str, source: Spelling) -> None:
    """All its code points have symbols that the frozen ones have, or one that no window names."""
    kept, found = stored(name, source), fresh(source)
    assert kept.size == found.alphabet.size
    assert np.array_equal(kept.symbol_of[FROZEN], found.alphabet.symbol_of[FROZEN])
    others = np.ones(len(kept.symbol_of), np.bool_)
    others[FROZEN] = False
    assert (kept.symbol_of[others] == kept.size).all()
    assert np.array_equal(kept.pairs, found.pairs)


@each_spelling
def test_the_checker_accepts_what_is_stored(name: str, source: Spelling) -> None:
    """The checker proves just the pairs that are stored."""
    proved = _stored_windows(name, source.engine, source.patterns)
    assert not isinstance(proved, str)
    kept = stored(name, source)
    examples = {c: chr(int(np.flatnonzero(kept.symbol_of == c)[0])) for c in symbols(kept)}
    for c, d in product(examples, repeat=2):
        why = proved.refusal(examples[c], examples[d])
        assert (why is None) == kept.pairs[c, d], (c, d, why)


def symbols(kept: DecidedWindows) -> list[int]:
    """Those that a frozen character has."""
    return sorted(set(kept.symbol_of[FROZEN].tolist()))


@cache
def symbols_of(name: str, source: Spelling) -> dict[str, frozenset[int]]:
    """The symbols that the characters of each class are."""
    family = load_stored()[name]
    symbol_of = stored(name, source).symbol_of
    return {
        label: frozenset(
            int(c) for low, high in family.ranges(label) for c in set(symbol_of[low : high + 1])
        )
        for label in family.classes
    }


@each_spelling
def test_the_decided_pairs_are_those_of_the_classes(name: str, source: Spelling) -> None:
    """Whichever characters of the classes stand there."""
    family, found, pairs = load_stored()[name], symbols_of(name, source), stored(name, source).pairs
    for left, right in product(family.classes, repeat=2):
        safe = family.theorem(left, right) is not None
        said = {bool(pairs[pair]) for pair in product(found[left], found[right])}
        assert said == {safe}, (left, right)


@each_spelling
def test_the_cuts_of_drawn_texts_are_lossless_and_may_be_made_at_once(
    name: str, source: Spelling
) -> None:
    """On the engine itself, with characters of which nothing is known."""
    finder = finder_of(name, source)
    rng = random.Random(label(source))
    texts = [text for _, text in random_words(drawn(60), 12, rng)]
    texts += ["".join(rng.choices([*text, "ſ", "\U000125c4", "1", "22"], k=9)) for text in texts]
    for text in texts:
        cuts = pair_places(finder, text)
        parts = [text[:p] for p in cuts] + [text[p:] for p in cuts]
        parts += [text[low:high] for low, high in pairwise([0, *cuts, len(text)])]
        whole, *ends = pieces(source, [text, *parts])
        for k, p in enumerate(cuts):
            right = [p + end for end in ends[len(cuts) + k]]
            assert ends[k] + right == whole, (text, p)
        starts = [0, *cuts]
        together = ends[2 * len(cuts) :]
        made = [s + end for s, found in zip(starts, together, strict=True) for end in found]
        assert made == whole, text


def pieces(source: Spelling, texts: list[str]) -> list[list[int]]:
    if source.engine == "oniguruma":
        below_one()
    return [*ENGINES[source.engine](source.patterns, texts)]


def test_nothing_is_certified_beside_a_character_of_which_nothing_is_known() -> None:
    for name, source in FEW:
        finder = finder_of(name, source)
        for strange in "\U000125c4\U00016139\u017f":
            assert finder.symbol_of[ord(strange)] == finder.size
            for char in map(chr, FROZEN[:200].tolist()):
                assert not finder.is_sure(strange, char)
                assert not finder.is_sure(char, strange)


def test_other_patterns_have_no_stored_windows() -> None:
    source = load_families()["gpt2"].sources[0]
    assert stored_windows("gpt2", "my own", source.patterns) is None
    assert stored_windows("cl100k", source.engine, source.patterns) is None
    assert stored_windows("bert", source.engine, ()) is None
    assert isinstance(_stored_windows("cl100k", source.engine, source.patterns), str)


@pytest.mark.parametrize("pattern", [r"\s+$|\s|\S", r"a++$|\s|\S", r"\\s++$|[\s\S]", r"$|a"])
def test_a_dollar_of_two_characters_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        decide_windows([SplitStage(pattern, "regex")])


def test_seven_families_are_stored() -> None:
    seven = {"gpt2", "cl100k", "cl100k_tiktoken", "qwen2", "o200k", "tekken", "deepseek"}
    assert {name for name, _ in SPELLINGS} == seven
