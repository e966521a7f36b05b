"""Text that a normalizer leaves alone, and seams inside it (theorem 45)."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, normalizers

import tokpar
from tests.conftest import at_most, cases, is_quick
from tests.support.certified import by_hand, encoding_of, kinds, with_seam
from tests.support.inside_pretokens import CJK, N, drawn, encoded, rules
from tests.support.seams import assert_lossless, part
from tests.support.tokenizers_drawn import NORMALIZERS, PATTERNS, ByteLevelSpec, build, plain_copy
from tokpar.certificate.check_context import CheckContext, RefusedError
from tokpar.certificate.checker import check
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.invariant_text import Inert
from tokpar.cuts.normalizer_invariant import InertGuard, inert_for
from tokpar.cuts.within_pretoken import pretoken_planner
from tokpar.interfaces import facts_of
from tokpar.overlap.licences import Licences, overlap_of
from tokpar.patterns.class_tables import load_atoms, load_pictographs
from tokpar.types import AddedToken as Added
from tokpar.types import Chunk, Facts, NormalizerStage, Piece, Seam

ENGINES = {
    "NFC": normalizers.NFC,
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "NFKD": normalizers.NFKD,
    "Lowercase": normalizers.Lowercase,
    "StripAccents": normalizers.StripAccents,
}
FIRSTS = ("e", "\u09c7", "가", "\u0344")
"""Characters of several kinds that are joined with what is behind them."""


def facts_with(*stages: NormalizerStage, added: Sequence[Added] = ()) -> Facts:
    return Facts("oniguruma", "BPE", "whole", normalizers=tuple(stages), added_tokens=tuple(added))


def staged(kind: str) -> NormalizerStage:
    if kind.startswith("Replace"):
        return NormalizerStage("Replace", (("pattern", "aa"), ("content", "b")))
    return NormalizerStage(kind)


def checker_keeps(facts: Facts, text: str) -> bool:
    try:
        Inert(CheckContext(text, facts, load_tables())).require(0, len(text))
    except RefusedError:
        return False
    return True


def all_frozen() -> Iterator[str]:
    spans = [span for spans in load_atoms().values() for span in spans]
    for low, high in sorted([*spans, *load_pictographs()]):
        yield from map(chr, range(low, high + 1))


FROZEN = "".join(dict.fromkeys(all_frozen()))


def inert_of(guard: InertGuard, chars: Iterable[str]) -> set[str]:
    """The characters of which `inert` is true. Where it looks a character up, so is done here."""
    assert guard.chars is not None
    has = guard.chars.has
    found = {c for c in chars if (guard.inert(c) if c.isascii() else has[ord(c)])}
    assert guard.inert("".join(c for c in found if not c.isascii()))
    assert all(guard.inert(c) == (c in found) for c in islice(chars, 0, None, 97))
    return found


@pytest.mark.parametrize("kind", cases(ENGINES, [*ENGINES][::2]))
def test_every_inert_character_is_left_alone_by_the_engine_and_by_python(kind: str) -> None:
    guard = InertGuard(facts_with(staged(kind)))
    inert = sorted(inert_of(guard, FROZEN))
    assert len(inert) > 150_000
    firsts = cases(FIRSTS, FIRSTS[1:3])
    engine, beside = ENGINES[kind](), [engine_of(kind, first) for first in firsts]
    for first, image in zip(firsts, beside, strict=True):
        text = "".join(f"\n{first}{char}\n" for char in inert)
        assert engine.normalize_str(text) == "".join(f"\n{image}{c}\n" for c in inert)
        if kind in ("NFC", "NFD", "NFKC", "NFKD"):
            whole = "".join(f"\n{first}{char}" for char in inert)
            own = unicodedata.normalize(kind, whole)  # type: ignore[arg-type]
            assert own == "".join(f"\n{image}{c}" for c in inert)


def engine_of(kind: str, text: str) -> str:
    image: str = ENGINES[kind]().normalize_str(text)
    return image


@pytest.mark.parametrize("kind", [*ENGINES, "Replace"])
def test_planner_and_checker_decide_alike(kind: str) -> None:
    facts = facts_with(staged(kind))
    guard, inert = InertGuard(facts), Inert(CheckContext("", facts, load_tables()))

    def accepted(char: str) -> bool:
        try:
            inert.require_text(char)
        except RefusedError:
            return False
        return True

    ranges = range(0x3400), range(0xA000, 0xAC80), range(0xD780, 0xD800), range(0xE000, 0x20000, 3)
    chars = [chr(point) for points in ranges for point in points]
    allowed, planned = {char for char in chars if accepted(char)}, inert_of(guard, chars)
    assert planned <= allowed
    # the planner refuses some of what it need not look up: all Hangul letters, all marks
    most = allowed - planned
    assert all(unicodedata.category(c)[0] == "M" or 0x1100 <= ord(c) < 0xD800 for c in most)


def test_nothing_behind_another_character_is_beyond_the_planes_that_are_looked_at() -> None:
    parts = (unicodedata.decomposition(chr(point)).split() for point in range(0x30000, 0x110000))
    assert not any(part for part in parts)


WITNESSES = {
    "singleton": ("NFC", "\u212b\u2126\u212a" * 4, 3),
    "class 0": ("NFC", "a\u0301" * 4, 3),
    "second of a pair": ("NFC", "\u09c7\u09be" * 4, 3),
    "Hangul": ("NFC", "\u1100\u1161" * 4, 3),
    "upper case": ("Lowercase", "AAAA", 2),
    "mark": ("StripAccents", "a\u0301" * 4, 3),
    "replaced": ("Replace", "aaaa", 1),
    "Strip": ("Strip", "    ", 2),
}


@pytest.mark.parametrize(
    "name",
    [
        "singleton",
        "class 0",
        "second of a pair",
        "Hangul",
        "upper case",
        "mark",
        "replaced",
        "Strip",
    ],
)
def test_theorem_45_needs_inert_characters(name: str) -> None:
    kind, text, p = WITNESSES[name]
    made: dict[str, Any] = {
        **ENGINES,
        "Replace": lambda: normalizers.Replace("aa", "b"),
        "Strip": normalizers.Strip,
    }
    normalizer = made[kind]()
    whole = normalizer.normalize_str(text)
    apart = normalizer.normalize_str(text[:p]) + text[p:]
    assert whole != text or whole != apart
    facts = facts_with(staged(kind))
    assert not InertGuard(facts).inert(text) or inert_for(facts).refusal is not None
    assert not checker_keeps(facts, text)


def byte_level(normalizer: Any, family: str = "qwen2", seed: int = 3) -> Tokenizer:
    tokenizer = plain_copy(build(ByteLevelSpec(family, seed=seed, merges=60)))
    tokenizer.normalizer = normalizer
    return tokenizer


def test_theorem_45_needs_safe_ends() -> None:
    """The region would end before a mark, which the normalizer joins with its last character."""
    text = "x" * 40 + "a\u0301" + " b"
    assert normalizers.NFC().normalize_str(text)[:41] != text[:41]
    tokenizer = tokpar.load(byte_level(normalizers.NFC()), add_special_tokens=False)
    witness = (("start", 0), ("stop", 41))
    seam = Seam(20, "K4", "24", witness)
    report = check(by_hand(tokenizer, text, [seam]), text, tokenizer)
    assert kinds(report) == {"region"}


def test_theorem_45_needs_tokens_of_inert_characters() -> None:
    native = byte_level(normalizers.Lowercase())
    native.add_tokens([AddedToken("AA", normalized=True)])
    assert native.encode("aaaa", add_special_tokens=False).ids == 2 * [native.token_to_id("AA")]
    facts = facts_of(tokpar.load(native))
    assert inert_for(facts).refusal == ("added token 'AA' is searched in another form than its own")
    assert not checker_keeps(facts, "aaaa")


def test_an_added_token_of_inert_characters_is_found_where_it_is_written() -> None:
    facts = facts_with(staged("Lowercase"), added=[Added("aa", 9, normalized=True)])
    guard = inert_for(facts)
    assert guard.refusal is None
    assert (guard.clear("xaay", 0, 2), guard.clear("xaya", 0, 4)) == (False, True)
    assert (checker_keeps(facts, "xaay"), checker_keeps(facts, "xaya")) == (False, True)


def test_theorem_45_tokens_tile_only_the_region() -> None:
    """Two windows, of which the left one begins before the region: nothing is licensed there."""
    text = "e\u0301 " + drawn("etaoinshrdlu", 600)
    tokenizer = tokpar.load(byte_level(normalizers.NFD()), add_special_tokens=False)
    tokens = facts_of(tokenizer)
    assert tokens.sizes is not None
    ids = tokenizer.encode("é b")
    assert int(tokens.sizes(ids).sum()) != len("é b".encode())
    licences = Licences.of(text, tokenizer)
    region = licences.planner.region(text, 2, len(text))
    assert region is not None
    assert licences.planner.region(text, 0, len(text)) is None
    least = tokens.longest_token + 1
    middle = 300
    outside = Chunk(0, middle + 40, 0, middle), Chunk(middle - 40, 602, middle, 602)
    inside = dataclasses.replace(outside[0], start=2), outside[1]
    found = []
    for chunks in (outside, inside):
        pieces = [Piece(tokenizer.encode(text[chunk.start : chunk.stop])) for chunk in chunks]
        overlap = overlap_of(text, chunks, (pieces[0], pieces[1]), tokenizer)
        found.append(by_edges(overlap, middle, region, licences))
    assert least < 200
    assert found[0] is None
    assert found[1] is not None


def by_edges(overlap: Any, near: int, region: Any, licences: Licences) -> Any:
    from tokpar.overlap.acceptance import by_two_edges

    return by_two_edges(overlap, near, region, licences.planner, 0)


TEXTS = {
    "letters": ("a" * N, {"K6"}),
    "spaces": (" " * N + "x", {"K6"}),
    "newlines": ("\n" * N, {"K6"}),
    "many letters": (drawn("etaoinshrdlu"), {"K4", "K5"}),
    "chinese": (drawn(CJK), {"K4"}),
    "emoji": ("😀🎉" * N, {"K4"}),
    "kana": (drawn("あいうカキク"), {"K4"}),
    "between changing text": ("Cafe\u0301 " * 40 + "x" * N + " " + "\u212b " * 40, {"K4"}),
}
FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", TEXTS)
def test_stretches_that_a_form_leaves_alone_are_divided(form: str, kind: str) -> None:
    text, expected = TEXTS[kind]
    tokenizer = byte_level(ENGINES[form]())
    for size in (64, 300):
        encoding = encoded(tokenizer, text, size)
        assert rules(encoding) & expected, rules(encoding)
        full = check(encoding, text, tokpar.load(tokenizer, add_special_tokens=False))
        assert full.ok, full.findings


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["ha" * N, "Cafe\u0301 " * 40 + "ha" * N + " \u212b" * 40])
def test_windows_of_a_stretch_meet_where_both_have_edges(form: str, text: str) -> None:
    for size in (64, 300):
        assert "K5" in rules(encoded(default_with(ENGINES[form]()), text, size))


@pytest.mark.parametrize("text", ["áé" * N, "가나" * N])
def test_composed_letters_are_left_alone_by_forms_that_compose(text: str) -> None:
    assert rules(encoded(byte_level(normalizers.NFC()), text, 300)) & {"K4", "K5"}
    assert not rules(encoded(byte_level(normalizers.NFD()), text, 300))


@pytest.mark.parametrize("mark", ["\u0301", "\u0344", "\u212b", "\u212a", "\u1161", "Q"])
def test_one_character_that_may_change_keeps_its_region_whole(mark: str) -> None:
    stages = [normalizers.NFC(), normalizers.Lowercase(), normalizers.Replace("Q", "r")]
    tokenizer = byte_level(normalizers.Sequence(stages))
    assert rules(encoded(tokenizer, "x" * N, 300)) == {"K6"}
    assert not rules(encoded(tokenizer, "x" * N + mark + "x" * N, 300)) & {"K4", "K5", "K6"}


@pytest.mark.parametrize(
    "other", [normalizers.Strip(), normalizers.Prepend("x"), normalizers.Replace(Regex("a+"), "a")]
)
def test_stages_about_which_nothing_is_proved_divide_nothing(other: Any) -> None:
    tokenizer = byte_level(normalizers.Sequence([normalizers.NFC(), other]))
    assert encoded(tokenizer, "a" * N, 64).report.plan == "serial"
    assert pretoken_planner(tokpar.load(tokenizer)).refusal is not None


@pytest.mark.parametrize("strategy", ["auto", "lopt", "blocks", "recursive"])
def test_every_strategy_keeps_the_ids(strategy: str) -> None:
    tokenizer = byte_level(normalizers.NFKC(), "llama3")
    text = "Ａé e\u0301 " * 30 + drawn("etaoin", 2000) + "e\u0301 中" * 30 + "é" * 500
    adapter = tokpar.load(tokenizer, add_special_tokens=False)
    encoding = tokpar.encode(text, adapter, strategy=strategy)
    assert encoding.ids.tolist() == adapter.encode(text).tolist()
    assert check(encoding, text, adapter).ok


PIECES = (
    *("a" * 30, "abab" * 9, "etaoinshrdlu" * 3, "x" * 40, " " * 30, "\n" * 20, "1234567", "ab"),
    *("中文字" * 9, "あいう" * 9, "😀👍🏽" * 6, "é" * 20, "áàâ" * 9, "가나다" * 9, "ǅ", "ﬁ" * 3),
    *("a\u0301" * 9, "\u0344", "\u0301\u0323", "\u212b\u2126\u212a", "\u1100\u1161\u11a8", "ΑΣ"),
    *("\u09c7\u09be", "Σ", "Q", "aa", " the", " e\u0301", ". ", "<A>", "aaa<s>aaa", "\u0338"),
)
NAMES = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Replace aa by b")


@pytest.mark.ids
@at_most(100)
@given(
    family=st.sampled_from(tuple(PATTERNS)),
    seed=st.integers(0, 40),
    wild=st.booleans(),
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple),
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8),
    times=st.sampled_from((1, 4, 20)),
    normalized=st.booleans(),
)
def test_drawn_texts_with_drawn_normalizers(
    family: str,
    seed: int,
    wild: bool,
    names: tuple[str, ...],
    pieces: list[str],
    times: int,
    normalized: bool,
) -> None:
    spec = ByteLevelSpec(family, seed=seed, merges=60, wild=wild, normalizers=names)
    tokenizer = plain_copy(build(spec))
    tokenizer.add_tokens([AddedToken("<s>", normalized=normalized), AddedToken("<A>")])
    text = "".join(piece * times for piece in pieces)
    encoding = encoded(tokenizer, text, 64)
    adapter = tokpar.load(tokenizer, add_special_tokens=False)
    report = check(encoding, text, adapter)
    assert report.ok, report.findings


@pytest.mark.parametrize("mark", ["e\u0301", "\u212b"])
def test_the_checker_finds_a_region_that_the_normalizer_changes(mark: str) -> None:
    text = "x" * 60 + mark + "x" * 60
    tokenizer = tokpar.load(byte_level(normalizers.NFC()), add_special_tokens=False)
    length = len(text)
    known = (("start", 0), ("stop", length))
    windows = (("right_start", 20), ("second", 33), ("left_stop", 60))
    run = (("piece_stop", length), ("token", 120), ("length", 1), ("least", 60))
    for seam in (
        Seam(30, "K4", "24", known),
        Seam(30, "K5", "5'", (*known, *windows)),
        Seam(30, "K6", "11", (*known, *run)),
    ):
        report = check(by_hand(tokenizer, text, [seam]), text, tokenizer)
        assert not report.ok


def default_with(normalizer: Any) -> Tokenizer:
    tokenizer = plain_copy(part("default"))
    tokenizer.normalizer = normalizer
    return tokenizer


def windowed() -> tuple[Any, str, Any]:
    tokenizer = tokpar.load(default_with(normalizers.NFC()), add_special_tokens=False)
    text = "e\u0301 " + "ha" * 450
    encoding = tokpar.encode(text, tokenizer, chunk_chars=64)
    assert "K5" in {seam.rule for seam in encoding.seams}
    return tokenizer, text, encoding


def test_the_checker_finds_a_window_whose_part_leaves_the_region() -> None:
    tokenizer, text, encoding = windowed()
    inside = [seam for seam in encoding.seams if seam.rule == "K5"]
    assert check(encoding, text, tokenizer).ok
    moved = encoding_of(encoding.ids, inside)  # without the cut at the region's start
    assert kinds(check(moved, text, tokenizer)) == {"normalizer"}


def test_the_checker_finds_miscounted_ids_beside_a_window() -> None:
    tokenizer, text, encoding = windowed()
    k = next(k for k, seam in enumerate(encoding.seams) if seam.rule == "K5")
    seam = encoding.seams[k]
    for token in (seam.token - 1, seam.token + 1, 0, len(encoding.ids)):
        wrong = with_seam(encoding, k, dataclasses.replace(seam, token=token))
        assert not check(wrong, text, tokenizer).ok
    ids = encoding.ids.copy()
    ids[seam.token] += 1
    wrong = encoding_of(ids, encoding.seams)
    assert not check(wrong, text, tokenizer).ok


def test_hidden_ids_are_tokenized_again() -> None:
    native = default_with(normalizers.NFC())
    native.enable_truncation(50)
    adapter = tokpar.load(native)
    text = "e\u0301 " + "ha" * 450
    encoding = tokpar.encode(text, adapter, chunk_chars=64)
    assert "K5" in {seam.rule for seam in encoding.seams}
    assert len(encoding.ids) == 50
    assert check(encoding, text, adapter).ok


@pytest.mark.ids
@pytest.mark.parametrize("name", [name for name in NORMALIZERS if name != "Prepend"])
def test_all_strategies_on_stretches(name: str) -> None:
    tokenizer = build(ByteLevelSpec("cl100k", seed=7, merges=60, normalizers=(name,)))
    text = "Ab e\u0301 " * 3 + "x" * 200 + " \u212b中文" * 20
    assert_lossless(tokenizer, text, (64,) if is_quick() else (7, 64))


def test_places_follow_from_lengths_only_where_text_is_left_alone() -> None:
    tokenizer = tokpar.load(byte_level(normalizers.NFC()), add_special_tokens=False)
    facts = facts_of(tokenizer)
    assert (facts.tiles, facts.pretoken_cuts_refused) == (False, None)
    assert facts.sizes is not None
    for text in ("中文 and more", "áé" * 30, "e\u0301\u0301é"):
        sizes = facts.sizes(tokenizer.encode(text))
        normal = unicodedata.normalize("NFC", text).encode()
        assert np.cumsum(sizes)[-1] == len(normal)
