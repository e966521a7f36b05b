"""Engines that run another pattern than they were given: fancy-regex 0.19 in tiktoken 0.14 takes
`a+b?a+` for `a+(?:ba+)?`. Such a pattern is never cut."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product

import pytest
import tiktoken
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tokpar
from tests.support.paths import VOCAB
from tests.support.rewritten_patterns import CHANGED
from tests.support.windows_brute import ask, asked
from tokpar.certificate.checker import check
from tokpar.errors import OptionError
from tokpar.patterns import decided_pattern, engine_crosscheck, splits
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError, require_kept
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_pairs

FILE = VOCAB / "cl100k_part.tiktoken"
KEPT = [
    r"a+c?b+|[\s\S]",
    r"a+c?a{1,9}b|[\s\S]",
    r"a+ca+b|[\s\S]",
    r"(?:a+(?:ba)?)+|[\s\S]",
    r"a?c*a?b|[\s\S]",
]
ATOMS = "abc1 "


def encoding_of(pattern: str) -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"xa": 257, b"bb": 258}
    return tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


kept_encoding = functools.cache(encoding_of)
"""For tests that change nothing: what is found out about the pattern is kept with it."""


@pytest.mark.compiled_at_once
@pytest.mark.each_value
@pytest.mark.parametrize("pattern", [*CHANGED, *KEPT])
@pytest.mark.parametrize("text", ["xab", "xabb", "abbab", "acaabcab", "a1 b a "])
def test_ids_are_the_engines_own(pattern: str, text: str) -> None:
    encoding = kept_encoding(pattern)
    for strategy in ("auto", "cut"):
        found = tokpar.encode(text * 200, tokenizer=encoding, strategy=strategy, chunk_chars=1)
        assert found.ids.tolist() == encoding.encode_ordinary(text * 200)
        assert (found.report.chunks == 1) == (pattern in CHANGED)


@pytest.mark.parametrize("engine", ["oniguruma", "regex"])
@pytest.mark.parametrize("pattern", [*CHANGED, *KEPT])
def test_other_engines_run_these_patterns_as_they_are_written(pattern: str, engine: str) -> None:
    decide_pairs([SplitStage(pattern, engine)])
    PatternReader(pattern, engine).tree(_symbols(pattern), 9)


@pytest.mark.parametrize("pattern", [*CHANGED, *KEPT])
def test_planner_and_checker_refuse_the_same(pattern: str) -> None:
    tree = PatternReader(pattern, "fancy-regex").tree(_symbols(pattern), 9)
    if pattern in KEPT:
        decide_pairs([SplitStage(pattern, "fancy-regex")])
        require_kept(tree)
        return
    with pytest.raises(UnsupportedPatternError, match="fancy-regex may take"):
        decide_pairs([SplitStage(pattern, "fancy-regex")])
    with pytest.raises(RefusedProofError, match="fancy-regex may take"):
        require_kept(tree)


def _symbols(pattern: str) -> Callable[[str], list[int]]:
    """Gives each class a symbol of its own."""
    known: dict[str, int] = {}
    return lambda source: [known.setdefault(source, len(known))]


@pytest.mark.parametrize("pattern", [CHANGED[0], CHANGED[4]])
def test_a_rewritten_pattern_that_no_rule_foresees_is_seen_on_the_engine(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no rule foresees is seen when the pattern is decided."""
    monkeypatch.setattr(splits, "refuse_rewritten", lambda *_: None)
    encoding = encoding_of(pattern)
    found = tokpar.encode("xabbab" * 200, tokenizer=encoding, strategy="cut", chunk_chars=1)
    assert found.ids.tolist() == encoding.encode_ordinary("xabbab" * 200)
    assert "where the pattern means" in found.report.why


def test_an_engine_that_fails_on_a_text_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(pattern: str, texts: object) -> list[list[str]]:
        raise RuntimeError("backtrack limit")

    monkeypatch.setitem(engine_crosscheck._FINDERS, "fancy-regex", fails)
    engine_crosscheck.require_engine.cache_clear()
    decided_pattern._decide.cache_clear()
    found = tokpar.encode("ab" * 200, tokenizer=encoding_of(KEPT[0]), strategy="cut", chunk_chars=1)
    assert "fancy-regex fails on a text: backtrack limit" in found.report.why


def test_the_checker_does_not_believe_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, word = CHANGED[4], "xabbb"
    monkeypatch.setattr(splits, "refuse_rewritten", lambda *_: None)
    monkeypatch.setattr(decided_pattern, "require_engine", lambda *_: None)
    text = word * 200
    adapter = tokpar.load(encoding_of(pattern))
    found = tokpar.encode(text, tokenizer=adapter, strategy="cut", chunk_chars=1)
    assert found.ids.tolist() != adapter.encode(text).tolist()
    report = check(found, text, adapter)
    assert not report.ok
    assert "fancy-regex may take" in str(report)


def test_the_pure_engine_does_not_read_such_patterns() -> None:
    for pattern in CHANGED:
        with pytest.raises(OptionError, match=r"fancy-regex may take .* engine='tiktoken'"):
            tokpar.load(FILE, engine="pure", pat_str=pattern, special_tokens={})
    for pattern in KEPT:
        tokpar.load(FILE, engine="pure", pat_str=pattern, special_tokens={})


@st.composite
def repeated_twice(draw: st.DrawFn) -> str:
    """Something endless twice, something between, and what may stand around."""
    endless, between = (
        draw(st.sampled_from("ab")),
        draw(st.sampled_from(["c", "b", "[bc]", r"\p{N}"])),
    )
    first, second = draw(st.sampled_from("+*")), draw(st.sampled_from("+*"))
    count = draw(st.sampled_from(["?", "*", "??", "{0,2}", "+", ""]))
    row = f"{endless}{first}{between}{count}{endless}{second}"
    if draw(st.booleans()):
        row = f"(?:{endless}{first}(?:{between}{endless}{second})?)+"
    edges = st.sampled_from(["", "b", "c", "1", " ?", "b?"])
    return f"{draw(edges)}{row}{draw(edges)}|[\\s\\S]"


@settings(suppress_health_check=list(HealthCheck))
@given(pattern=repeated_twice(), engine=st.sampled_from(["fancy-regex", "oniguruma", "regex"]))
def test_what_is_decided_is_what_the_engine_does(pattern: str, engine: str) -> None:
    try:
        windows = decide_pairs([SplitStage(pattern, engine)], ask(ATOMS), asked(ATOMS))
    except UnsupportedPatternError:
        assume(False)
    (machine,) = windows.stages
    texts = ["".join(word) for size in range(1, 6) for word in product(ATOMS[:4], repeat=size)]
    for text, own in zip(texts, engine_crosscheck._FINDERS[engine](pattern, texts), strict=True):
        word = windows.alphabet.symbols(text)
        assert own == [text[start:stop] for start, stop in engine_crosscheck.matches(machine, word)]
