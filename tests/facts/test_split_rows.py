"""Rows of several Splits and stages that look at two characters are cut where pairs certify it: the
corollary of theorem 42."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer

from tests.conftest import drawn
from tests.facts.test_stages import made, own_facts, require_exact
from tests.support.adversarial_texts import AdversarialTexts
from tests.support.seams import assert_lossless, refused, wrong_in_fact
from tests.support.stage_configs import BEHAVIORS, Json, byte_bpe, byte_level, split, stage
from tokpar.certificate.own_division import patterns_in_front
from tokpar.compiled.machine_tables import machine_of_all
from tokpar.facts.split_rows import literal, row_patterns
from tokpar.types import NormalizerStage

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

DEEPSEEK_CODER = [
    split("[\r\n]", kind="Regex"),
    split(r"\s?\p{L}+", kind="Regex"),
    split(r"\s?\p{P}+", kind="Regex"),
    split("[一-龥ࠀ-一가-퟿]+", kind="Regex"),
    stage("Digits", individual_digits=True),
    byte_level(use_regex=False),
]
ATOMS = (
    *"aab  .1\n'",
    "中",
    "文",
    "ф",
    "é",
    "+",
    "-",
    "٣",
    "½",
    "\u0301",
    "😀",
    "ab",
    "\u3000",
    "—",
)
TEXTS = AdversarialTexts((ATOMS,))
PATTERNS = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "a+|b", "ab?", r"\s+", "[ab]{2}", "b(?=a)|1+")


def ends_of_pieces() -> Json:
    """A BPE whose ids say where each piece ends."""
    chars = dict.fromkeys("".join(ATOMS) + "cx")
    tokens = [spelled for char in chars for spelled in (char, f"{char}</w>")]
    return byte_bpe([], tokens, end_of_word_suffix="</w>", fuse_unk=False)


def drawn_row(rng: random.Random) -> list[Json]:
    row = [split(rng.choice(PATTERNS), kind="Regex") for _ in range(rng.randint(0, 3))]
    row += [split(rng.choice(("ab", "a", "\n", "+-", ""))) for _ in range(rng.randint(0, 1))]
    for _ in range(rng.randint(1, 3)):
        behavior, invert = rng.choice(BEHAVIORS), rng.random() < 0.2
        row.append(
            rng.choice(
                [
                    stage("Digits", individual_digits=rng.random() < 0.6),
                    stage("Punctuation", behavior=behavior),
                    split(rng.choice("a .1"), behavior, invert),
                    split(
                        rng.choice(("ab", r"\d")), behavior, invert, rng.choice(("Regex", "String"))
                    ),
                    stage("UnicodeScripts"),
                ]
            )
        )
    return row


def test_the_row_of_deepseek_coder_is_cut_between_words_and_numbers() -> None:
    tokenizer = made(ends_of_pieces(), [], DEEPSEEK_CODER)
    assert own_facts(tokenizer).unprovable is None
    text = "a b, 12+3 = 中文a.\n\n  + b 🙂 é😀 "
    assert require_exact(tokenizer, text) >= 12
    assert_lossless(tokenizer, text, (3,))


def test_drawn_rows_of_splits_are_cut_where_the_engine_agrees() -> None:
    rng, tried = random.Random(0), 0
    for _ in range(drawn(30)):
        tokenizer = made(ends_of_pieces(), [], drawn_row(rng))
        if own_facts(tokenizer).scheme == "regex":
            tried += sum(require_exact(tokenizer, TEXTS.draw(rng)) for _ in range(12))
    assert tried > 50


def stages_of(row: list[Json]) -> tuple[NormalizerStage, ...]:
    plain = [{k: v for k, v in each.items() if k != "type"} for each in row]
    for each in plain:
        pattern = each.get("pattern", {})
        each["pattern"] = pattern.get("String", pattern or None)
    kinds = (each["type"] for each in row)
    return tuple(NormalizerStage(k, tuple(p.items())) for k, p in zip(kinds, plain, strict=True))


def test_planner_and_checker_read_the_same_patterns() -> None:
    rng, found = random.Random(0), 0
    for _ in range(drawn(400)):
        row = stages_of(drawn_row(rng))
        assert row_patterns(row) == patterns_in_front(row), row
        found += bool(row_patterns(row))
    assert found


def test_a_string_is_spelled_as_a_pattern_that_matches_it_alone() -> None:
    for text in ("a", "\n", " ", "a.b", "(x)", "[^]", "a{2}", "\\s", "#-&~", "$|?*+", "é中'<>"):
        tokenizer = made(ends_of_pieces(), [], [split(literal(text), kind="Regex")])
        around = f"x{text}y{text}"
        pieces = tokenizer.pre_tokenizer.pre_tokenize_str(around)
        plain = made(ends_of_pieces(), [], [split(text)]).pre_tokenizer.pre_tokenize_str(around)
        assert (
            [piece for piece, _ in pieces]
            == [piece for piece, _ in plain]
            == ["x", text, "y", text]
        )


@pytest.mark.parametrize(
    ("row", "text", "p"),
    [
        pytest.param(
            [stage("Punctuation"), split("ab(?!c)|a|b", kind="Regex")], "ab—", 1, id="behind"
        ),
        pytest.param(
            [split("[ab]{2}", "Removed", kind="Regex"), split("a")], "aab", 1, id="removed"
        ),
        pytest.param([stage("Digits", individual_digits=False)], "1½", 1, id="runs of digits"),
        pytest.param([split("a", "MergedWithPrevious")], "ba", 1, id="merged"),
        pytest.param([split("a", "Removed", True)], "bb", 1, id="inverted"),
        pytest.param([stage("FixedLength", length=2), split("a")], "ab b", 1, id="fixed length"),
    ],
)
def test_a_row_is_not_cut_by_what_it_does_not_surely_do(row: list[Json], text: str, p: int) -> None:
    """Behind a stage whose characters are not all known, only stages that look at two neighbours
    are asked; and only for what they surely split at."""
    tokenizer = made(ends_of_pieces(), [], row)
    assert refused(tokenizer, text, p)


@pytest.mark.parametrize(
    ("row", "text", "p"),
    [
        pytest.param(
            [split("[ab]{2}", "Removed", kind="Regex"), split("a")], "aab", 1, id="removed"
        ),
        pytest.param([stage("FixedLength", length=2), split("b")], "abaaa", 1, id="fixed length"),
        pytest.param([stage("UnicodeScripts"), split("a")], "b a", 1, id="scripts"),
        pytest.param([stage("Digits", individual_digits=False)], "1½", 1, id="runs of digits"),
        pytest.param(
            [stage("Punctuation"), split("ab(?!c)|a|b", kind="Regex")], "ab—", 1, id="behind"
        ),
    ],
)
def test_theorem_42_s_corollary_needs_each_condition(row: list[Json], text: str, p: int) -> None:
    tokenizer = made(ends_of_pieces(), [], row)
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)


def test_patterns_that_are_not_all_of_a_row_make_no_machine() -> None:
    """A digit that is not ASCII is split off by the engine, and not by the pattern."""
    tokenizer: Tokenizer = made(ends_of_pieces(), [], DEEPSEEK_CODER)
    assert isinstance(machine_of_all(own_facts(tokenizer)), str)
