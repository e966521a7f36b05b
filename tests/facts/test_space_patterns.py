"""Whether a pattern takes a space or a line end: planner, checker and engine say the same."""

from __future__ import annotations

import random

import pytest
from tokenizers import Regex, pre_tokenizers

from tests.conftest import drawn
from tests.support.stage_configs import CLIP
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.own_classes import OwnPattern
from tokpar.facts.space_patterns import class_pattern, never_holds
from tokpar.facts.space_stages import MARK, SpaceCut, find_space_cut
from tokpar.types import NormalizerStage

MEMBERS = (
    r"\s",
    r"\S",
    r"\d",
    r"\w",
    r"\D",
    r"\W",
    r"\n",
    r"\t",
    r"\p{L}",
    r"\p{Sc}",
    r"\-",
    r"\]",
)
MEMBERS += ("a", " ", "\n", "a-z", "!-~", "\t-\r", r"\t-\r", ".", "中", "\u3000")
KNOWN = (r"\s", " ", r"\S", r"\d", r"\p{L}", r"\n", ".", "[^\\S\n]", "[\r\n]", "[^ ]", r"[\s\p{P}]")


def taken_by_engine(source: str, char: str) -> bool:
    pieces = pre_tokenizers.Split(Regex(source), "removed").pre_tokenize_str(char)
    return not pieces


def class_drawn(rng: random.Random) -> str:
    members = "".join(rng.choice(MEMBERS) for _ in range(rng.randint(1, 4)))
    return f"[{rng.choice(('', '^'))}{members}]"


@pytest.mark.parametrize("char", [" ", "\n"])
def test_a_class_holds_a_space_as_the_engine_says(char: str) -> None:
    rng, known = random.Random(0), 0
    for source in (*KNOWN, *(class_drawn(rng) for _ in range(drawn(400)))):
        told = class_pattern(source)
        try:
            own = OwnPattern(source).holds(char)
        except RefusedError:
            own = None
        holds = None if told is None else told.holds(char)
        truth = None if own is holds is None else taken_by_engine(source, char)
        assert own in (None, truth), source
        assert holds in (None, truth), source
        known += own is not None and holds is not None
    assert known > len(KNOWN)


def test_white_classes_are_those_of_white_space_alone() -> None:
    for source, is_white in [
        (r"\s", True),
        ("[\r\n]", True),
        (r"[\n ]", True),
        ("\u3000", True),
        (r"[^\s]", False),
        (r"[\sa]", False),
        ("\u200b", False),
        ("[ -a]", False),
        ("\x1c", False),
    ]:
        told = class_pattern(f"{source}+")
        assert told is not None
        assert told.is_white is OwnPattern(f"{source}+").is_white is is_white, source


@pytest.mark.parametrize(
    ("pattern", "takes_none"),
    [
        (CLIP, True),
        (r"\p{L}+|[0-9]", True),
        (r"\s?\p{L}+", False),
        ("a(?= )", False),
        ("a$", False),
    ],
)
def test_a_pattern_takes_no_space_if_no_class_holds_one_and_nothing_looks_ahead(
    pattern: str, takes_none: bool
) -> None:
    own = OwnPattern(pattern)
    assert never_holds(pattern, " ") is takes_none
    assert (not own.holds(" ") and not own.looks_ahead) is takes_none


COUNTS: list[tuple[str, tuple[int, int | None] | None]] = [
    *(("a", (1, 1)), ("a+", (1, None)), ("a{2,}", (2, None)), ("a{2}", (2, 2))),
    *(("(?:a+)", (1, None)), ("a+?", None), ("ab", None), ("a|b", None), ("(?:a+)+", None)),
]


@pytest.mark.parametrize(("pattern", "count"), COUNTS)
def test_a_pattern_of_one_class_has_a_count(
    pattern: str, count: tuple[int, int | None] | None
) -> None:
    told = class_pattern(pattern)
    assert OwnPattern(pattern).count == count
    assert (None if told is None else (told.least, told.joins)) == (
        None if count is None else (count[0], count[1] != 1)
    )


@pytest.mark.parametrize(
    ("source", "is_sure"), [(" ", True), (r"\s", True), (" +", True), (" {2,}", False)]
)
def test_a_class_that_is_replaced_leaves_its_content_alone(source: str, is_sure: bool) -> None:
    """A stage behind it that divides at "▁" divides at each space, but for a class that must come
    twice, which leaves single spaces."""
    settings = ("pattern", {"Regex": source}), ("content", MARK)
    row = NormalizerStage("CharDelimiterSplit", (("delimiter", MARK),))
    found = find_space_cut([NormalizerStage("Replace", settings)], [row], None)
    assert isinstance(found, SpaceCut) == is_sure, found


def test_characters_that_tokens_join_with_a_space_are_told_apart_by_their_bytes() -> None:
    cut = SpaceCut("unjoined", joined_chars=frozenset("a é"), spared_chars=frozenset("x"))
    assert cut.spared_ascii == "a"
    assert [cut.everywhere(text, 0, len(text)) for text in ("b c", "a c", "é c", " é")] == [
        *(True, True, False, True)
    ]
    assert not cut.ends("é")
    sure = SpaceCut("non-space", joined_chars=frozenset("a"), spared_chars=frozenset("xé"))
    assert sure.spared_ascii == "x"
    assert sure.everywhere("é c", 0, 3)
