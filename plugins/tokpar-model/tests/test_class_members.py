"""The classes of the shipped tables are those of the engines and of the tables of the planner."""

from __future__ import annotations

import numpy as np
import pytest
from tokpar_model.class_members import load_categories, load_pictographs, partition

from tests.recipes.engines import MEMBERS
from tests.support.tokenizers_drawn import PATTERNS
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.frozen_tables import load_tables
from tokpar.patterns.pattern_parser import PatternReader

KINDS = (r"\p{L}", r"\p{Lu}", r"\p{M}", r"\p{N}", r"\p{P}", r"\p{S}", r"[^\s\p{L}\p{N}]", r"\s")
SETS = (
    r"[\p{P}\p{S}]",
    r"[^\r\n\p{L}\p{N}]",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
    r"\P{L}",
    r"[A-Za-z]",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]",
    r"[^a-f\u00e0-\u00ef]",
    r"(?i:s)",
    r"(?i:[sdmt])",
    ".",
)


def known_characters() -> str:
    """The first, middle and last character of each range of the tables."""
    ranges = [(low, high) for low, high, _ in load_tables().ranges] + [*load_pictographs()]
    ranges += [span for spans in load_categories().values() for span in spans]
    codes = {code for low, high in ranges for code in (low, (low + high) // 2, high)}
    return "".join(map(chr, sorted(codes - {*range(0xD800, 0xE000)})))


@pytest.mark.parametrize("engine", MEMBERS)
@pytest.mark.parametrize("source", [*KINDS, *SETS])
def test_what_is_decided_of_a_class_is_what_the_engine_says(source: str, engine: str) -> None:
    found, text = partition((source,)), known_characters()
    symbols = found.symbol_of[[ord(char) for char in text]]
    inside = np.isin(symbols, found.classes[source])
    known = symbols < found.size
    members = MEMBERS[engine](source, text)
    decided = {char for char, sure in zip(text, known, strict=True) if sure}
    assert {c for c, own in zip(text, inside, strict=True) if own} == members & decided
    assert len(decided) > 0.9 * len([*filter(frozen, text)])


def frozen(char: str) -> bool:
    return load_tables().atom_of(char) is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_every_frozen_character_has_a_symbol_in_the_patterns_that_are_known(name: str) -> None:
    engine = "fancy-regex" if name in ("cl100k", "r50k") else "oniguruma"
    for pattern in PATTERNS[name]:
        symbols = partition(tuple(PatternReader(pattern, engine).sources))
        codes = np.concatenate([np.arange(low, high + 1) for low, high, _ in load_tables().ranges])
        assert (symbols.symbol_of[codes] < symbols.size).all()
        assert symbols.symbol_of[ord("§")] < symbols.size  # P or S: no class tells them apart
        assert symbols.symbol_of[0x1F9CC] < symbols.size or name == "deepseek"


def test_a_class_that_tells_apart_what_is_not_decided_does_not_know_it() -> None:
    assert partition((r"\p{P}",)).symbol_of[ord("§")] == 2
    assert partition((r"\p{N}",)).symbol_of[0x125C4] == 2
    assert partition((r"\s", r"\p{L}")).symbol_of[0x10FFFF] == 3


@pytest.mark.parametrize(
    "source",
    [r"\d", r"\w", r"\p{Han}", r"[\w]", r"[z-a]", r"[a--b]", "[[a]", "[", "[-", "[a-", "]", ""],
)
def test_a_class_that_is_not_in_the_tables_is_refused(source: str) -> None:
    with pytest.raises(RefusedError):
        partition((source,))


def test_a_folded_letter_that_engines_match_is_not_decided() -> None:
    """U+017F is an s and U+212A a k for `(?i:...)`; no table has them."""
    assert partition((r"(?i:s)",)).symbol_of[0x17F] == 2
    assert partition((r"(?i:[k])", r"[\s\S]")).symbol_of[0x212A] == 2
    assert partition((r"s",)).symbol_of[0x17F] < 2
