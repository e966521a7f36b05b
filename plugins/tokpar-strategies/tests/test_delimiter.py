"""`delimiter`, the baseline: where it cuts, when it is exact, where it is wrong."""

from __future__ import annotations

import random
from typing import Any

import pytest
from honest_encodings import assert_honest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_strategies.delimiter import build, nearest_cuts

import tokpar
from tests.support.delimiter_sizes import plain, sizes
from tests.support.drawn_runs import any_tokenizer, drawn_text
from tests.support.profiles import drawn
from tests.support.seams import part, serial


def encoded(text: str, tokenizer: Any, **options: Any) -> tokpar.Encoding:
    return tokpar.encode(
        text, tokenizer, strategy="delimiter", allow_approximate=True, workers=2, **options
    )


def positions(encoding: tokpar.Encoding) -> list[int]:
    return [seam.position for seam in encoding.seams]


# where it cuts

SIDES = st.sampled_from(["after", "before"])


def slow_cuts(text: str, delimiter: str, size: int, side: str) -> list[int]:
    """Each target asks every place of the text."""
    after = side == "after"
    places = [
        p
        for p in range(1, len(text))
        if (text[:p].endswith(delimiter) if after else text.startswith(delimiter, p))
    ]
    cuts: list[int] = []
    for target in range(size, len(text), size) if places else ():
        nearest = min(places, key=lambda place: (abs(place - target), place))
        cuts += [nearest] if nearest > max(cuts, default=0) else []
    return cuts


@given(
    text=st.text("ab ", max_size=60),
    delimiter=st.text("ab ", min_size=1, max_size=3),
    size=st.integers(1, 20),
    side=SIDES,
)
@example(text="a b cd e", delimiter=" ", size=3, side="after")
@example(text="aaaaaa", delimiter="aa", size=1, side="after")
@example(text="aaaaaa", delimiter="aa", size=1, side="before")
def test_cuts_are_at_the_delimiter_nearest_to_each_target(
    text: str, delimiter: str, size: int, side: Any
) -> None:
    found = list(nearest_cuts(text, delimiter, size, side))
    assert found == slow_cuts(text, delimiter, size, side)


def test_a_chunk_keeps_the_delimiter_it_ends_with_or_begins_with() -> None:
    text = "a b cd e"
    parts = {"after": ["a ", "b cd ", "e"], "before": ["a b", " cd", " e"]}
    for side, expected in parts.items():
        splitter, _ = build(chunk_chars=3, side=side)  # type: ignore[arg-type]
        chunks = splitter.split(text, tokpar.load(), 0).chunks
        assert [text[chunk.start : chunk.stop] for chunk in chunks] == expected
    assert len(splitter.split(text, tokpar.load(), 1).chunks) == 1


# when it is exact


@pytest.mark.ids
@given(data=st.data(), tokenizer=any_tokenizer(), side=SIDES)
def test_what_it_calls_lossless_is(data: st.DataObject, tokenizer: Any, side: str) -> None:
    text = drawn_text(data, tokenizer)
    size = data.draw(sizes(text), label="size")
    usual = st.sampled_from([" ", "\n", ".", ",", "a"])
    delimiter = data.draw(st.one_of(usual, st.sampled_from(text)) if text else usual)
    options = {"chunk_chars": size, "delimiter": delimiter, "side": side}
    assert_honest(tokenizer, text, strategy="delimiter", **options)


PROSE = "We came. We saw, they left. It was 1 of 3. " * 8


def test_one_uncertified_cut_makes_the_whole_approximate() -> None:
    tokenizer, text = part("cl100k_part"), PROSE + "google.com " + PROSE
    encoding = encoded(text, tokenizer, chunk_chars=5, delimiter=".", side="after")
    rules = {seam.rule for seam in encoding.seams}
    assert rules == {"PAIR", None}
    assert not encoding.lossless
    findings = tokpar.check(encoding, text, tokenizer).findings
    assert "uncertified" in {finding.kind for finding in findings}


def test_a_space_is_never_left_out_as_the_absorb_rule_would() -> None:
    tokenizer = part("llama_style")
    encoding = encoded(
        "one. two. three. four.", tokenizer, chunk_chars=5, delimiter=".", side="after"
    )
    assert {seam.rule for seam in encoding.seams} == {None}


# where it is wrong: fails as soon as one of these is no counterexample any more


def show(text: str, delimiter: str, found: list[int], expected: list[int]) -> None:
    left, right = text.split(delimiter, 1)
    print(f"{left + delimiter!r} + {right!r}: {found}, serial: {expected}")


REFUTED = [
    ("cl100k_part", "google.com", "."),
    ("cl100k_part", "end.\n\nNext", "."),
    ("cl100k_part", "f(x)", "("),
    ("cl100k_part", "a the", " "),
    ("cl100k_part", "a \n b", " "),
    ("cl100k_part", "a\n\nthe", "\n"),
    ("cl100k_part", "a,b", ","),
    ("o200k_part", "google.com", "."),
    ("o200k_part", ".\n/", "."),
    ("o200k_part", "a the", " "),
    ("deepseek_part", "a the", " "),
    ("bert_part", "foo\x0bbar", "\x0b"),
    ("bert_part", "foo\u00adbar", "\u00ad"),
    ("llama_style", "one. two", "."),
    ("metaspace_unigram", "one.two", "."),
]


@pytest.mark.parametrize(("name", "text", "delimiter"), REFUTED)
def test_a_cut_behind_a_delimiter_is_wrong(name: str, text: str, delimiter: str) -> None:
    """Behind a space 92 % of the cuts in English prose are wrong (cl100k)."""
    tokenizer = part(name)
    cut = text.index(delimiter) + len(delimiter)
    encoding = encoded(text, plain(tokenizer), chunk_chars=cut, delimiter=delimiter, side="after")
    expected = serial(tokenizer, text)
    show(text, delimiter, encoding.ids.tolist(), expected)
    assert positions(encoding)[0] == cut
    assert encoding.ids.tolist() != expected
    assert not encoding.lossless


@pytest.mark.parametrize("strategy", ["delimiter", "overlap"])
def test_the_report_says_approximate_and_how_many_seams_are_certified(strategy: str) -> None:
    rng, kinds = random.Random(70), set()
    for _ in range(drawn(60)):
        words = rng.choice((["one", " two", ". ", "1"], [" one", " two"], ['"a",', "  ", "..."]))
        text = "".join(rng.choices(words, k=200))
        encoding = tokpar.encode(
            text, strategy=strategy, allow_approximate=True, chunk_chars=rng.choice((40, 90))
        )
        seams = list(encoding.seams)
        if not seams:
            continue
        certified = sum(seam.rule is not None for seam in seams)
        kinds.add(encoding.lossless)
        assert encoding.lossless == (certified == len(seams))
        expected = f"approximate strategy; {certified:,} of {len(seams):,} seams of this text are"
        if encoding.lossless:
            expected = "approximate strategy; each seam of this text is"
        assert encoding.report.why == f"{expected} certified"
    assert kinds == ({True, False} if strategy == "delimiter" else {False})


def test_an_exact_strategy_is_not_called_approximate() -> None:
    text = "The quick brown fox. " * 2000
    for options in ({}, {"allow_approximate": True}):
        report = tokpar.encode(text, strategy="cut", chunk_chars=99, **options).report
        assert "approximate" not in report.why
