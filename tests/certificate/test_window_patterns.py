"""The one parser of patterns, and the second one of tests/support: both read the same way."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.conftest import drawn
from tests.recipes.shipped import SPELLINGS
from tests.support.patterns_of_users import PATTERNS, drawn_pattern
from tests.support.second_parser import parse_expression
from tests.support.second_trees import UnsupportedPatternError, over, sources
from tokpar.regexes.pattern_parser import ENGINES, PatternReader, RefusedProofError

FAMILIES = sorted(
    {p for spellings in SPELLINGS.values() for _, patterns in spellings for p in patterns}
)
FOLDED = (
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'(?i:[sdmt]|ll|ve|re)", "(?i:ab?c)", "(?i:[a-z']+)", "(?i:s)",
    "(?i:x[sdmt])?", "(?i:a|(?:b|c)d)", "(?>a+)", r"\x41", r"[\]\-]", r"[^\s\p{L}[0-9]]", r"\'",
    r"\/",
)  # fmt: skip
DOUBLE = ("(?i:ss)", "(?i:s)(?i:t)", "(?i:s)+", "(?i:f+i)", "(?i:(?:s|a)t)", "(?i:fl|x)", "(?i)s+t")


def trees(pattern: str, engine: str) -> list[Any]:
    """As the second parser reads it, and as the first one does; None where it is refused."""
    found: list[Any] = []
    try:
        parsed = parse_expression(pattern, engine)
        numbers = {source: k for k, source in enumerate(sorted(set(sources(parsed))))}
        sets = {source: frozenset({k}) for source, k in numbers.items()}
        found.append(over(parsed, sets, 999))
    except UnsupportedPatternError:
        found.append(None)
    try:
        reader = PatternReader(pattern, engine)
        numbers = {source: k for k, source in enumerate(sorted(reader.sources))}
        found.append(reader.tree(lambda source: [numbers[source]], 999))
    except RefusedProofError:
        found.append(None)
    return found


@pytest.mark.each_value
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pattern", [*FAMILIES, *PATTERNS, *FOLDED])
def test_both_parsers_read_the_same(pattern: str, engine: str) -> None:
    second, first = trees(pattern, engine)
    assert first == second


@pytest.mark.parametrize("engine", ENGINES)
def test_drawn_patterns_are_read_the_same(engine: str) -> None:
    source = random.Random(engine)
    count = 0
    for _ in range(drawn(1500)):
        parts = [drawn_pattern(source) for _ in range(source.randint(1, 2))]
        parts += source.choices(FOLDED, k=source.randint(0, 2))
        source.shuffle(parts)
        joined = source.choice(("|", "", "|(?:", "|"))
        pattern = joined.join(parts) + ")" * (joined.count("(") * (len(parts) - 1))
        second, first = trees(pattern, engine)
        assert first == second, pattern
        count += first is not None
    assert count > drawn(300)


@pytest.mark.parametrize("pattern", DOUBLE)
def test_folds_to_one_character_are_refused(pattern: str) -> None:
    with pytest.raises(RefusedProofError, match="fold to one"):
        PatternReader(pattern, "oniguruma")
