"""What goes wrong without each hypothesis of Theorems 40 to 43, on the engines (proofs/)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from tests.support.windows_brute import Edges, edges_of
from tests.support.windows_drawn import DEEPSEEK
from tokpar.patterns.charclass_members import members
from tokpar.patterns.class_tables import Ranges, load_atoms, merge_ranges
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_reader import UnsupportedPatternError, read_pattern
from tokpar.patterns.shipped_patterns import CL100K, GPT2, O200K
from tokpar.patterns.splits import SplitStage, decide_pairs


def engine(patterns: Sequence[str], name: str = "regex", text: str = "") -> Edges:
    words = [text[i:j] for j in range(len(text) + 1) for i in range(j)]
    return edges_of([SplitStage(pattern, name) for pattern in patterns], words)


def clean(patterns: Sequence[str], text: str, p: int, name: str = "regex") -> bool:
    """The cut leaves all pieces alone."""
    edges = engine(patterns, name, text)
    return edges(text) == edges(text[:p]) | edges(text[p:]) << p


def windows(patterns: Sequence[str], name: str = "regex") -> Pairs:
    return decide_pairs([SplitStage(pattern, name) for pattern in patterns])


@pytest.mark.parametrize(
    ("patterns", "text", "p"),
    [
        pytest.param((GPT2,), "\n\nx", 2, id="edge of the whole"),
        pytest.param((r"aba*|[^a]a*|a+",), "ab", 1, id="beginning of the text"),
        pytest.param((O200K,), "x'll中AAx", 5, id="start inside the window"),
        pytest.param((r"(?<=a)b+|[\s\S]",), "abb", 2, id="look-behind"),
        pytest.param((r"ab|a|b",), "ab", 1, id="order"),
        pytest.param((r"ab(?=cc)|a|b|c",), "abcc", 3, id="two characters ahead"),
        pytest.param((r"\w+",), "a.!b", 2, id="gap over the cut"),
        pytest.param((r"ab|b",), "ab", 1, id="failed only in L"),
        pytest.param(DEEPSEEK, "\t\t中", 1, id="END of an earlier stage"),
        pytest.param((r"[ab]{2}", r"ab|[\s\S]"), "aab", 1, id="unclean stage"),
        pytest.param((r"1+", r"a+|b"), "aab", 1, id="no edge in any stage"),
    ],
)
def test_a_cut_that_no_window_may_certify(patterns: Sequence[str], text: str, p: int) -> None:
    assert not clean(patterns, text, p)
    try:
        decided = windows(patterns)
    except UnsupportedPatternError:
        return
    assert not decided.certifies(text[p - 1], text[p])


def test_theorem_40_needs_each_hypothesis_only_where_it_is_missing() -> None:
    """Next to each of these cuts there is one that a window does certify."""
    assert windows([GPT2]).certifies("a", "\n")
    assert windows([r"a|ab|b"]).certifies("a", "b")
    assert not windows([r"ab|a|b"]).certifies("a", "b")


def test_theorem_40_needs_letters_that_fold_to_letters() -> None:
    """Oniguruma takes one character for two."""
    assert not clean([r"(?i:ss)x|[\s\S]"], "ßx", 1, "oniguruma")
    for name in ("regex", "fancy-regex"):
        assert clean([r"(?i:ss)x|[\s\S]"], "ßx", 1, name)
    with pytest.raises(UnsupportedPatternError, match="fold"):
        read_pattern(r"(?i:ss)x", "oniguruma")


def test_theorem_40_needs_the_engine_that_runs() -> None:
    pattern = r"\p{N}{1,1}+|[\s\S]"
    for name in ("regex", "fancy-regex"):
        assert windows([pattern], name).certifies("1", "4")
        assert clean([pattern], "a14", 2, name)
    assert not clean([pattern], "a14", 2, "oniguruma")
    assert not windows([pattern], "oniguruma").certifies("1", "4")


def test_theorem_40_needs_every_symbol() -> None:
    """Decided over a and b alone, c being unknown: what c leads to is left out."""
    pattern = r"cab|[\s\S]"

    def decided(chars: str) -> Pairs:
        spans = tuple((ord(c), ord(c)) for c in chars)

        def ask(sources: object, engine: str) -> dict[str, tuple[tuple[int, int], ...]]:
            known = {r"[\s\S]": chars, "a": "a", "b": "b", "c": "c"}
            return {s: tuple((ord(c), ord(c)) for c in known[s] if c in chars) for s in known}

        return decide_pairs([SplitStage(pattern, "regex")], ask, spans)

    assert decided("ab").certifies("a", "b")
    assert not decided("abc").certifies("a", "b")
    assert not clean([pattern], "cab", 2)


def test_theorem_40_needs_characters_that_stand_outside_the_window() -> None:
    """Over the frozen code points alone, all of which are assigned, the first alternative never
    begins; it does with a character that no window holds."""
    pattern = r"\p{Cn}\S+|\S|\s+"
    frozen = merge_ranges(span for spans in load_atoms().values() for span in spans)

    def ask(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
        return {source: within(ranges) for source, ranges in members(sources, engine).items()}

    def within(ranges: Ranges) -> Ranges:
        pairs = ((max(a, c), min(b, d)) for a, b in ranges for c, d in frozen)
        return merge_ranges((low, high) for low, high in pairs if low <= high)

    assert decide_pairs([SplitStage(pattern, "regex")], ask, frozen).certifies("a", "b")
    assert not windows([pattern]).certifies("a", "b")
    assert not clean([pattern], "\U000e0fffab", 2)


def test_theorem_43_is_false_for_rows() -> None:
    """Each cut is clean, both together are not: the piece between them is too short for stage 1."""
    stages = (r"[aA]{3,}|[\s\S]", r"a[aA]|[\s\S]")
    assert clean(stages, "Aaaa", 1)
    assert clean(stages, "Aaaa", 3)
    edges = engine(stages)
    assert edges("Aaaa") == 0b11011
    assert edges("A") | edges("aa") << 1 | edges("a") << 3 == 0b11111


def test_theorem_43_needs_clean_cuts() -> None:
    """Edges alone do not compose: cl100k cuts before the digits of 12345 at 3 only."""
    edges = engine([CL100K])
    assert edges("12345") == 0b101001
    assert clean([CL100K], "12345", 3)
    assert not clean([CL100K], "12345", 2)
