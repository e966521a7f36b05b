"""Text that a normalizer leaves alone (theorem 45)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers

import tokpar
from tests.conftest import at_most, cases
from tests.support.endless_texts import encoded
from tests.support.tokenizers_drawn import PATTERNS, ByteLevelSpec, build, plain_copy
from tokpar.certificate.checker import check
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.normalizer_invariant import InertGuard, inert_for
from tokpar.patterns.class_tables import load_atoms, load_pictographs
from tokpar.types import AddedToken as Added
from tokpar.types import Facts, NormalizerStage

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


def byte_level(normalizer: Any, family: str = "qwen2", seed: int = 3) -> Tokenizer:
    tokenizer = plain_copy(build(ByteLevelSpec(family, seed=seed, merges=60)))
    tokenizer.normalizer = normalizer
    return tokenizer


def test_theorem_45_needs_tokens_of_inert_characters() -> None:
    native = byte_level(normalizers.Lowercase())
    native.add_tokens([AddedToken("AA", normalized=True)])
    assert native.encode("aaaa", add_special_tokens=False).ids == 2 * [native.token_to_id("AA")]
    facts = facts_of(tokpar.load(native))
    assert inert_for(facts).refusal == ("added token 'AA' is searched in another form than its own")


def test_an_added_token_of_inert_characters_is_found_where_it_is_written() -> None:
    facts = facts_with(staged("Lowercase"), added=[Added("aa", 9, normalized=True)])
    guard = inert_for(facts)
    assert guard.refusal is None
    assert (guard.clear("xaay", 0, 2), guard.clear("xaya", 0, 4)) == (False, True)


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


def test_places_follow_from_lengths_only_where_text_is_left_alone() -> None:
    tokenizer = tokpar.load(byte_level(normalizers.NFC()), add_special_tokens=False)
    facts = facts_of(tokenizer)
    assert not facts.tiles
    assert facts.sizes is not None
    for text in ("中文 and more", "áé" * 30, "e\u0301\u0301é"):
        sizes = facts.sizes(tokenizer.encode(text))
        normal = unicodedata.normalize("NFC", text).encode()
        assert np.cumsum(sizes)[-1] == len(normal)


def test_lengths_are_not_told_behind_a_normalizer_of_which_nothing_is_proved() -> None:
    for other in (normalizers.Strip(), normalizers.Prepend("x"), normalizers.NFC()):
        tokenizer = byte_level(normalizers.Sequence([normalizers.NFC(), other]))
        facts = facts_of(tokpar.load(tokenizer))
        assert (facts.sizes is not None) == isinstance(other, normalizers.NFC)
