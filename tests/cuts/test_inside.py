"""Rung 2 of `auto`: text without certified cuts, divided inside its pre-tokens (K4, K5, K6)."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, pre_tokenizers

import tokpar
from tests.support.inside_pretokens import CJK, N, drawn, encoded, rules
from tests.support.seams import part, plain_settings, serial
from tests.support.texts import aperiodic, near_overlaps, periodic, runs, runs_at_offsets
from tests.support.tokenizers_drawn import (
    PATTERNS,
    TIKTOKEN_FAMILIES,
    ByteLevelSpec,
    TiktokenSpec,
    build,
    plain_copy,
)
from tokpar import pipeline
from tokpar.cuts.pretokens import Run, period_at, periodic_at, periodic_start, periodic_stop, run_of
from tokpar.cuts.within_pretoken import Region, pretoken_planner
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.facts.token_lengths import Vocabulary, vocabulary_of
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.methods.auto import AutoSplitter
from tokpar.overlap.acceptance import by_two_edges
from tokpar.overlap.licences import overlap_of
from tokpar.overlap.mergers import InsideMerger
from tokpar.plan import Plan
from tokpar.types import Chunk, Piece, Seam, Split

PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default")
ENGLISH = "Some words, and then some more of them. "


BASE64 = base64.b64encode(random.Random(7).randbytes(N)).decode()

# kind -> text, and the rules of which at least one must be among the seams
TEXTS: dict[str, tuple[str, set[str]]] = {
    "letters": ("a" * N, {"K6"}),
    "equals signs": ("=" * N, {"K6"}),
    "spaces": (" " * N, {"K6"}),
    "spaces, then a letter": (" " * N + "x", {"K6"}),
    "newlines": ("\n" * N, {"K6"}),
    "a run behind a certified cut": ("a b.\n" + "=" * N + " c", {"K6"}),
    "a space and letters": (" " + "a" * N, {"K5"}),
    "many letters": (drawn("etaoinshrdlu"), {"K4", "K5"}),
    "syllables": ("ha" * N, {"K5"}),
    "a period of five": (" " + "abcde" * N, {"K4", "K5"}),
    "spaces and newlines": (" \n" * N, {"K4", "K5"}),
    "chinese": (drawn(CJK), {"K4"}),
    "one chinese character": ("中" * N, {"K4", "K5"}),
    "one accented letter": ("é" * N, {"K4", "K5"}),
    "one emoji": ("😀" * N, {"K4", "K5"}),
    "digits": (drawn("0123456789"), {"K1", "K10"}),
    "base64": (BASE64, {"K1", "K10"}),
    "thai": (drawn("ภาษาไทยกำเด็กนี้"), {"K1", "K10", "K4"}),
    "a giant in english": (ENGLISH * 20 + "x" * N + " " + ENGLISH * 20, {"K5"}),
    "mixed": (ENGLISH * 9 + "x" * N + "中文字" * N + " 12 " + "=" * N + "\n\nEnd. ", {"K4", "K5"}),
}


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_without_cuts_are_divided_inside_pre_tokens(name: str, kind: str) -> None:
    text, expected = TEXTS[kind]
    for size in (64, 300, 1000):
        encoding = encoded(part(name), text, size)
        assert encoding.ids.tolist() == serial(part(name), text)
        assert encoding.report.chunks > 1
        assert rules(encoding) & expected, (size, rules(encoding))
        assert encoding.report.repairs == 0


@pytest.mark.parametrize("name", [name for name in PARTS if name != "deepseek_part"])
def test_emoji_with_joiners(name: str) -> None:
    assert rules(encoded(part(name), "😀👍🏽👩‍👩‍👧" * 300, 300)) == {"K4"}


def test_short_pre_tokens_without_certified_cuts_stay_one_region() -> None:
    """DeepSeek parts emoji from joiners, and no place between them is certified."""
    assert encoded(part("deepseek_part"), "😀👍🏽👩‍👩‍👧" * 300, 300).report.plan == "serial"


@cache
def without_regex(name: str) -> Tokenizer:
    tokenizer = plain_copy(part(name))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer


@pytest.mark.parametrize("size", [64, 300, 1000])
def test_a_tokenizer_without_regex_is_divided_too(size: int) -> None:
    tokenizer = without_regex("default")
    assert rules(encoded(tokenizer, "a" * N, size)) == {"K6"}
    assert rules(encoded(tokenizer, " " + "a" * N, size)) == {"K5"}
    assert "K4" in rules(encoded(tokenizer, ENGLISH * 60 + "12345" * 99 + drawn(CJK), size))


def test_a_long_text_is_divided_without_being_told_to() -> None:
    text = "中é" * 40_000 + " " + "a" * 150_000
    encoding = encoded(part("default"), text, None)
    assert {"K4", "K5"} <= rules(encoding)
    assert encoding.report.chunks > 5
    assert "inside pre-tokens: " in encoding.report.plan
    assert "windows (K5)" in encoding.report.plan


def test_a_run_is_not_tokenized() -> None:
    encoding = encoded(part("cl100k_part"), "a" * 1_000_000, None)
    assert encoding.report.plan == "inside pre-tokens: 1 runs (K6)"
    assert encoding.seams[0].position > 999_000


def test_a_run_longer_than_the_regex_of_the_engine_can_take() -> None:
    """tiktoken's own call gives up on this text; its parts are encoded."""
    text, tokenizer = " " * 1_100_000 + "x", part("o200k_part")
    adapter = tokpar.load(tokenizer)
    with pytest.raises(tokpar.EngineError):
        adapter.encode(text)
    encoding = tokpar.encode(text, adapter)
    assert rules(encoding) == {"K6", "K10"}
    assert tokenizer.decode(encoding.ids.tolist()) == text


# ---------------------------------------------------------------------------- what stays whole


def test_a_character_that_engines_may_read_differently_keeps_its_region_whole() -> None:
    for odd in ("\U000125c4", "\u2e43"):
        text = "中" * 1500 + odd + "中" * 1500
        assert encoded(part("cl100k_part"), text, 64).report.plan == "serial"


def test_places_whose_parts_would_scan_otherwise_are_not_taken() -> None:
    """o200k: all of it is one pre-token, but a part that ends in capitals falls apart before them
    (counterexample 9.4)."""
    encoding = encoded(part("o200k_part"), ("A" * 300 + "中") * 20, 64)
    assert encoding.seams == ()
    assert encoded(part("tekken_part"), ("A" * 300 + "中") * 20, 64).lossless


def test_a_lone_surrogate_keeps_the_text_whole() -> None:
    text = "a" * N + "\ud800"
    for tokenizer in (part("cl100k_part"), without_regex("default")):
        adapter = tokpar.load(tokenizer, **plain_settings(tokenizer))
        try:
            expected = adapter.encode(text).tolist()
        except Exception as own:
            with pytest.raises(type(own)):
                tokpar.encode(text, adapter, chunk_chars=64)
        else:
            encoding = tokpar.encode(text, adapter, chunk_chars=64)
            assert encoding.ids.tolist() == expected
            assert encoding.seams == ()


@pytest.mark.parametrize("special", ["<|endoftext|>", "a<|endoftext|>", "\n<|endoftext|> "])
def test_added_tokens_are_never_beside_a_seam_inside(special: str) -> None:
    tokenizer = part("cl100k_part")
    for text in ("中" * N + special + "中" * N, special + "a" * N + special, "a" * N + special):
        encoding = encoded(tokenizer, text, 64, allowed_special="all")
        assert tokenizer.encode(text, allowed_special="all") == encoding.ids.tolist()
        for seam in encoding.seams:
            if seam.rule in ("K4", "K5", "K6"):
                named = dict(seam.witness)
                assert "<|" not in text[int(named["start"]) : int(named["stop"])]


def test_an_added_token_anywhere_keeps_a_text_without_regex_whole() -> None:
    tokenizer = plain_copy(without_regex("default"))
    tokenizer.add_tokens([AddedToken("qq", single_word=True)])
    assert encoded(tokenizer, "a" * N + "qq", 64).report.plan == "serial"
    assert encoded(tokenizer, "a" * N + "q", 64).report.plan != "serial"
    tokenizer = plain_copy(without_regex("default"))
    tokenizer.add_tokens(["qq"])
    seams = encoded(tokenizer, "a" * N + "qq", 64).seams
    assert [(seam.position, seam.rule) for seam in seams] == [(N, "K9")]


def test_a_tokenizer_that_changes_the_text_is_not_divided() -> None:
    for odd in ({"normalizers": ("NFC", "Strip")}, {"prefix_space": True}):
        tokenizer = build(ByteLevelSpec("gpt2", seed=3, merges=40, **odd))
        assert encoded(tokenizer, "a" * N, 64).report.plan == "serial"
        assert pretoken_planner(tokpar.load(tokenizer)).refusal is not None


# ------------------------------------------------------------------------- any small tokenizer


def specs() -> st.SearchStrategy[Any]:
    rarely = st.sampled_from((False, False, False, True))
    numbers = {"seed": st.integers(0, 99), "merges": st.integers(0, 60), "wild": rarely}
    families = st.sampled_from(sorted(PATTERNS))
    return st.one_of(
        st.builds(ByteLevelSpec, family=families, ignore_merges=rarely, **numbers),
        st.builds(TiktokenSpec, family=st.sampled_from(TIKTOKEN_FAMILIES), **numbers),
    )


def repetitive() -> st.SearchStrategy[str]:
    letters = st.text("ab", min_size=40, max_size=300)
    kinds = st.one_of(periodic(), aperiodic(), near_overlaps(), runs_at_offsets(), runs(), letters)
    return st.lists(kinds, min_size=1, max_size=3).map("".join)


@pytest.mark.ids
@given(spec=specs(), text=repetitive(), size=st.sampled_from([1, 2, 7, 20, 64]))
def test_small_tokenizers_on_repetitive_texts(spec: Any, text: str, size: int) -> None:
    encoding = encoded(build(spec), text, size)
    assert encoding.ids.tolist() == serial(build(spec), text)


@pytest.mark.ids
@given(spec=specs(), text=repetitive(), size=st.sampled_from([1, 2, 7, 20, 64]))
def test_small_tokenizers_without_a_regex_have_the_serial_ids(
    spec: Any, text: str, size: int
) -> None:
    if isinstance(spec, TiktokenSpec):
        spec = ByteLevelSpec("gpt2", spec.seed, spec.merges, spec.wild)
    tokenizer = plain_copy(build(spec))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert encoded(tokenizer, text, size).ids.tolist() == serial(tokenizer, text)


# ------------------------------------------------------------------------------- the merger


@dataclass(frozen=True)
class Shifted:
    """`auto`, whose windows begin a place later than where a token should begin."""

    inner: AutoSplitter

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        split = self.inner.split(text, tokenizer, attempt)
        chunks = [
            replace(chunk, start=chunk.start + 1)
            if chunk.cut is not None and chunk.cut.rule is None
            else chunk
            for chunk in split.chunks
        ]
        return replace(split, chunks=chunks)


def test_windows_out_of_phase_are_refused_and_mended() -> None:
    tokenizer, text = tokpar.load(part("cl100k_part")), " " + "a" * N
    splitter = Shifted(AutoSplitter(300))
    chunks = splitter.split(text, tokenizer, 0).chunks
    pieces = [Piece(tokenizer.encode(text[chunk.start : chunk.stop])) for chunk in chunks]
    assert None in InsideMerger().merge(text, chunks, pieces, tokenizer)
    plan = Plan(tokenizer, splitter, SerialExecutor(), InsideMerger())
    encoding = pipeline.encode_batch([text], plan)[0]
    assert encoding.ids.tolist() == tokenizer.encode(text).tolist()
    assert encoding.report.repairs > 0


def join_of(tokenizer: Any, text: str, a: int, b: int, longest: int = 0) -> Any:
    """What the merger makes of text[:b] and text[a:], both alone, near the middle of [a, b)."""
    adapter = tokpar.load(tokenizer)
    inside = pretoken_planner(adapter)
    inside = replace(inside, facts=replace(inside.facts, longest_token=longest))
    cut = Seam((a + b) // 2, None, "5'", (("start", 0), ("stop", len(text))))
    chunks = Chunk(0, b, 0, a + 1), Chunk(a, len(text), a + 1, len(text), cut=cut)
    sides = Piece(adapter.encode(text[:b])), Piece(adapter.encode(text[a:]))
    overlap = overlap_of(text, chunks, sides, adapter)
    region = Region(0, len(text), np.array([0, len(text)], dtype=np.int64))
    join = by_two_edges(overlap, cut.position, region, inside, 0)
    if join is None:
        return None
    return [*sides[0].ids[: join.left].tolist(), *sides[1].ids[join.right :].tolist()]


def test_one_common_token_edge_joins_nothing() -> None:
    """Tekken's " contin": " cont|i" and "n|tin" agree on one edge, and joining there is wrong."""
    tokenizer, text = part("tekken_part"), " contin"
    left, right = serial(tokenizer, text[:6]), serial(tokenizer, text[3:])
    assert len(left) == len(right) == 2
    assert left[:1] + right[1:] != serial(tokenizer, text)
    assert join_of(tokenizer, text, 3, 6) is None


@given(spec=specs(), text=st.text("ab", min_size=6, max_size=60), data=st.data())
def test_two_common_token_edges_join_what_they_should(
    spec: Any, text: str, data: st.DataObject
) -> None:
    a = data.draw(st.integers(1, len(text) - 4))
    b = data.draw(st.integers(a + 3, len(text) - 1))
    spec = replace(spec, **({"ignore_merges": False} if isinstance(spec, ByteLevelSpec) else {}))
    if isinstance(spec, TiktokenSpec):
        spec = ByteLevelSpec("gpt2", spec.seed, spec.merges, spec.wild)
    ids = join_of(build(spec), text, a, b)
    assert ids is None or ids == serial(build(spec), text)


def test_both_parts_stay_longer_than_any_token() -> None:
    tokenizer, text = build(ByteLevelSpec("gpt2", 1, 0)), "abcdefghij" * 4
    assert join_of(tokenizer, text, 4, 30, longest=10) is not None
    assert join_of(tokenizer, text, 4, 30, longest=20) is None


def test_a_fused_chunk_that_would_scan_otherwise_grows_on() -> None:
    """The chunks around a failed window become one; seams of K4 beside it need not stay."""
    adapter = tokpar.load(part("default"))
    text = " " + "ab" * N
    chunks = AutoSplitter(300).split(text, adapter, 0).chunks
    windows = [k for k, c in enumerate(chunks) if c.cut is not None and c.cut.rule is None]
    failed = windows[1:3]
    mended = InsideMerger().mend(text, chunks, failed, adapter)
    assert len(mended) == len(chunks) - len(failed)
    assert [c.core_start for c in mended] == [
        c.core_start for k, c in enumerate(chunks) if k not in failed
    ]
    pieces = [Piece(adapter.encode(text[c.start : c.stop])) for c in mended]
    joins = InsideMerger().merge(text, mended, pieces, adapter)
    firsts = [0, *(join.right for join in joins if join is not None)]
    lasts = [*(join.left for join in joins if join is not None), len(pieces[-1].ids)]
    kept = zip(pieces, firsts, lasts, strict=True)
    ids = [id_ for piece, first, last in kept for id_ in piece.ids[first:last].tolist()]
    assert ids == adapter.encode(text).tolist()


# ------------------------------------------------------------------------------- the planner


@pytest.mark.each_value
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part", "default"])
def test_the_plan_counts_its_seams(name: str, kind: str) -> None:
    splitter, adapter = AutoSplitter(300), tokpar.load(part(name))
    text = TEXTS[kind][0]
    split = splitter.split(text, adapter, 0)
    numbers = [int(word) for word in split.plan.replace(",", "").split() if word.isdigit()]
    assert sum(numbers) == len(split.chunks) - 1


def test_every_chunk_scans_as_in_the_text() -> None:
    adapter = tokpar.load(part("cl100k_part"))
    inside = pretoken_planner(adapter)
    for text, _ in TEXTS.values():
        region = inside.region(text, 0, len(text))
        assert region is not None
        for chunk in AutoSplitter(300).split(text, adapter, 0).chunks:
            assert chunk.run or inside.is_closed(text, region, chunk.start, chunk.stop)


def test_a_part_that_scans_otherwise_is_not_closed() -> None:
    inside = pretoken_planner(tokpar.load(part("o200k_part")))
    text = "亚洲AVx"
    region = inside.region(text, 0, len(text))
    assert region is not None
    assert region.edges.tolist() == [0, 5]  # and the library's o200k parts it nowhere else
    assert not inside.is_closed(text, region, 0, 4)
    assert inside.is_closed(text, region, 0, 1)


def by_hand(tokens: Sequence[bytes], data: bytes, p: int) -> bool:
    """Some token occurs in the data across p."""
    return any(
        data[i : i + len(token)] == token
        for token in tokens
        for i in range(max(0, p - len(token) + 1), p)
    )


@given(
    tokens=st.lists(st.text("abé", min_size=1, max_size=4), min_size=1, max_size=8),
    text=st.text("abé", min_size=3, max_size=30),
    data=st.data(),
)
def test_forced_places_are_those_that_no_token_reaches_across(
    tokens: list[str], text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(1, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    known = [token.encode() for token in tokens] + [b"\xa9a"]
    found = Vocabulary(known).find_uncrossed(text, (0, len(text)), start, stop)
    free = [
        p for p in range(start, stop) if not by_hand(known, text.encode(), len(text[:p].encode()))
    ]
    assert found == (free[0] if free else None)


@given(
    tokens=st.lists(st.binary(min_size=1, max_size=4), max_size=20),
    text=st.binary(max_size=6),
)
@example(tokens=[b"abc", b"abcde"], text=b"abc")
@example(tokens=[b"\xff\xff\xff\xff", b"\xff\xff\0", b"\xff\xff"], text=b"\xff\xff\xff\xff\xff")
@example(tokens=[b"a\0", b"a", b""], text=b"a")
def test_the_longest_token_is_found_as_by_trying_all(tokens: list[bytes], text: bytes) -> None:
    fitting = [len(token) for token in tokens if text.startswith(token)]
    longest = max(fitting, default=0)
    assert Vocabulary(tokens).longest_at(text) == longest
    for least in range(1, 8):
        assert Vocabulary(tokens).longest_at(text, least) == (longest if longest >= least else 0)


def test_a_vocabulary_is_sorted_once() -> None:
    facts = facts_of(tokpar.load(part("cl100k_part")))
    assert vocabulary_of(facts, 1) is vocabulary_of(facts, 1)
    assert vocabulary_of(replace(facts, tokens=None), 1) is None
    assert vocabulary_of(replace(facts, longest_token=1), 1) is None


@given(word=st.text("ab", min_size=1, max_size=6), before=st.text("abc", max_size=9), n=...)
def test_periods_are_found_and_followed_to_their_ends(word: str, before: str, n: bool) -> None:
    text = before + word * 40 + ("c" if n else "")
    place = len(before) + 7
    period = period_at(text, place, place + 20)
    assert period is not None
    assert len(word) % period == 0
    start = periodic_start(text, 0, place, period)
    stop = periodic_stop(text, place, len(text), period)
    assert start <= len(before)
    assert all(text[i] == text[i + period] for i in range(start, stop - period))
    assert start == 0 or text[start - 1] != text[start - 1 + period]
    assert stop == len(text) - n


def test_text_that_does_not_repeat_itself_has_no_period() -> None:
    assert period_at("abcdefghij", 0, 10) is None
    assert period_at("aab", 0, 3) is None
    assert period_at("", 0, 0) is None


def test_windows_in_a_stretch_begin_where_a_token_does() -> None:
    adapter = tokpar.load(part("cl100k_part"))
    text = " " + "a" * N
    stretch = periodic_at(text, (0, len(text)), 2000, pretoken_planner(adapter).scanner, adapter)
    assert stretch is not None
    assert (stretch.start, stretch.stop, stretch.cycle) == (1, len(text), 8)
    edges = {int(start) for start, _ in adapter.locate(adapter.encode(text), text)}
    assert {stretch.edge_from(place) for place in range(1000, 2000)} <= edges


@pytest.mark.ids
@pytest.mark.parametrize(
    ("name", "char", "length"), [("cl100k_part", "a", 8), ("tekken_part", "=", 32)]
)
def test_runs_are_probed(name: str, char: str, length: int) -> None:
    adapter = tokpar.load(part(name))
    run = run_of(pretoken_planner(adapter).scanner, adapter, char)
    assert run is not None
    assert run.length == length
    assert run.least - run.length > facts_of(adapter).longest_token
    for count in range(run.least, run.least + 3 * length):
        ids = serial(part(name), char * count)
        times = run.times(count)
        assert ids == [run.token] * times + serial(part(name), char * (count - times * length))


def test_a_run_leaves_as_much_as_was_probed() -> None:
    run = Run(token=7, length=4, least=20)
    assert [run.times(count) for count in (0, 15, 19, 20, 23, 24, 36)] == [0, 0, 0, 1, 1, 2, 5]


def test_the_witness_of_a_window_lies_in_order() -> None:
    text = "b. " + "ha" * N
    encoding = encoded(part("cl100k_part"), text, 64)
    seams = [seam for seam in encoding.seams if seam.rule == "K5"]
    assert len(seams) > 5
    for seam in seams:
        named = {name: int(value) for name, value in seam.witness}
        places = named["right_start"], seam.position, named["second"], named["left_stop"]
        assert list(places) == sorted(set(places))
        assert (named["start"], named["stop"]) == (2, len(text))


def test_many_tokens_are_made_ready_for_long_texts_or_several():
    """Until then pre-tokens are divided by windows (K5), which need none of them."""
    facts = replace(facts_of(tokpar.load("default")), token_count=1 << 20)
    assert vocabulary_of(facts, (1 << 23) - 1) is None
    assert vocabulary_of(facts, 1) is not None
    assert vocabulary_of(replace(facts, token_count=1 << 15), 1) is not None
