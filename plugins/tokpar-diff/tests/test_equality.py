"""What is proved equal is equal: drawn patterns against all short texts, drawn tokenizers and
changes of them against drawn texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokpar_diff import compare, search
from tokpar_diff.differences import compare_rows
from tokpar_diff.equal_patterns import different_text
from tokpar_diff.rows import rows_of
from tokpar_diff.witness_texts import drawn_texts

from tests.support.patterns_drawn import Choice, patterns, words
from tests.support.profiles import at_most, drawn, is_quick
from tests.support.tokenizers_drawn import contents, hf_tokenizers, token_texts
from tokpar.patterns.pattern_reader import UnsupportedPatternError

TEXTS = [*words("aA1 \n", 4 if is_quick() else 5)]


def matches(pattern: str, texts: list[str]) -> list[list[tuple[int, int]]]:
    """The places of the engine's matches in each text."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return [[place for _, place in split.pre_tokenize_str(text)] for text in texts]


@st.composite
def pattern_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A pattern, and the same with rows in another order, repeated, left out, or of another one."""
    rows = list(draw(patterns()).rows)
    others = [*rows, *draw(patterns()).rows][: len(rows) + 1]
    changed = draw(st.lists(st.sampled_from(others), min_size=1, max_size=len(others)))
    return Choice(tuple(rows)).source, Choice(tuple(rows + changed)).source


@given(pattern_pairs())
def test_patterns_are_equal_if_they_match_alike_in_all_texts(pair: tuple[str, str]) -> None:
    try:
        text = different_text(*pair, "oniguruma")
    except UnsupportedPatternError:
        return
    if text is None:
        assert matches(pair[0], TEXTS) == matches(pair[1], TEXTS)
    else:
        ends = [[stop for start, stop in matches(p, [text])[0] if start == 0] for p in pair]
        assert ends[0] != ends[1], text


def test_patterns_that_differ_only_far_into_a_text() -> None:
    assert different_text("a{9}b|[ab]", "a{8}ab|[ab]", "oniguruma") is None
    assert different_text("a{9}b|[ab]", "a{9}b{2}|[ab]", "oniguruma") == "a" * 9 + "b"
    with pytest.raises(UnsupportedPatternError):
        different_text(r"(?<=a)b|\s\S", r"\s\S", "oniguruma")


Config = dict[str, Any]


def _vocabulary(config: Config) -> Any:
    return config["model"]["vocab"]


def exchange(config: Config, draw: Random) -> None:
    merges = config["model"].get("merges") or []
    if len(merges) > 1:
        i, j = draw.randrange(len(merges)), draw.randrange(len(merges))
        merges[i], merges[j] = merges[j], merges[i]


def drop_merge(config: Config, draw: Random) -> None:
    if config["model"].get("merges"):
        config["model"]["merges"].pop(draw.randrange(len(config["model"]["merges"])))


def drop_entry(config: Config, draw: Random) -> None:
    made = {
        "".join(m if isinstance(m, list) else m.split(" "))
        for m in config["model"].get("merges", ())
    }
    if isinstance(_vocabulary(config), dict):
        free = sorted(t for t in _vocabulary(config) if len(t) > 1 and t not in made)
        if free:
            del _vocabulary(config)[draw.choice(free)]


def add_entry(config: Config, draw: Random) -> None:
    if isinstance(_vocabulary(config), dict):
        text = "".join(draw.choice("abeĠ 12") for _ in range(draw.randint(1, 3)))
        _vocabulary(config).setdefault(text, 1 + max(_vocabulary(config).values()))


def put_normalizers(config: Config, draw: Random) -> None:
    rows: list[Config] = [
        {"type": "Lowercase"},
        {"type": "NFC"},
        {"type": "StripAccents"},
        {
            "type": "Replace",
            "pattern": {"String": draw.choice("abA")},
            "content": draw.choice("abA"),
        },
    ]
    config["normalizer"] = {
        "type": "Sequence",
        "normalizers": draw.sample(rows, draw.randint(0, 2)),
    }


def set_flags(config: Config, draw: Random) -> None:
    for token in config["added_tokens"][:1]:
        flag = draw.choice(["special", "rstrip", "lstrip", "single_word", "normalized"])
        token[flag] = not token[flag]


def drop_part(config: Config, draw: Random) -> None:
    config[draw.choice(["decoder", "post_processor", "pre_tokenizer", "truncation"])] = None


CHANGES: list[Callable[[Config, Random], None]] = [
    *(exchange, drop_merge, drop_entry, add_entry, put_normalizers, set_flags, drop_part)
]


@at_most(60)
@given(hf_tokenizers(), st.lists(st.sampled_from(CHANGES), max_size=2), st.integers(0, 1 << 30))
def test_what_is_equal_has_equal_rows_on_drawn_texts(
    own: Tokenizer, changes: list[Callable[[Config, Random], None]], seed: int
) -> None:
    config, draw = json.loads(own.to_str()), Random(seed)
    for change in changes:
        change(config, draw)
    try:
        other = Tokenizer.from_str(json.dumps(config))
        a = Tokenizer.from_str(own.to_str())
    except BaseException as error:  # the library refuses some files by a panic
        if type(error).__name__ not in ("Exception", "PanicException"):
            raise
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "DRAWN", 50)
        found = compare.diff(a, other)
    if not changes:
        assert found.answer == "equal", found
    texts = [*drawn_texts(seed, drawn(300), (*contents(own), *token_texts(own)))]
    for row_a, row_b, text in zip(rows_of(a, texts), rows_of(other, texts), texts, strict=True):
        for aspect in compare_rows(row_a, row_b):
            assert found.aspects[aspect] != "equal", (aspect, text, found.reasons)
