"""Rule PAIR through the public API: patterns of the user's own, cut by pairs (theorems 40 to 43).

Each cut that is found is made, and the engine itself says whether the ids stay; the checker, which
shares no code with the finder, must accept the same seams and no others that are planted.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Tokenizer

import tokpar
from tests.conftest import below_one, drawn
from tests.support.adversarial_texts import AdversarialTexts
from tests.support.paths import VOCAB
from tests.support.patterns_of_users import (
    ADDED,
    ATOMS,
    GAPS,
    PATTERNS,
    by_hugging_face,
    by_regex,
    drawn_pattern,
    tokens,
)
from tests.support.tokenizers_drawn import DATA
from tokpar.certificate.checker import seam_findings
from tokpar.certificate.class_check import require_class
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.loading import load
from tokpar.patterns import charclass_members
from tokpar.types import Facts, Seam

pytestmark = pytest.mark.ids


def by_tiktoken(patterns: tuple[str, ...], **_: Any) -> Any:
    [pattern] = patterns
    special = {"<s>": 100_000}
    return tiktoken.Encoding(
        "own", pat_str=pattern, mergeable_ranks=tokens(), special_tokens=special
    )


def finder(tokenizer: Any) -> CutFinder:
    return finder_for(facts_of(load(tokenizer)))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker asks for each class once, not once for each pattern, as the finder does."""
    held: dict[tuple[str, str], bytes] = {}

    def required(source: str, engine: str, inside: Any, outside: Any) -> None:
        if held.get((source, engine)) != inside.tobytes():
            require_class(source, engine, inside, outside)
            held[source, engine] = inside.tobytes()

    monkeypatch.setattr("tokpar.certificate.pattern_proof.require_class", required)


def certified(tokenizer: Any, text: str) -> list[Seam]:
    """The PAIR seams of a text. Each is lossless by the engine itself, and the checker agrees."""
    adapter = load(tokenizer)
    facts = facts_of(adapter)
    finding = finder_for(facts)
    if finding.refusal_for(text) is not None:
        return []
    whole = adapter.encode(text).tolist()
    seams = [finding.certify(text, p) for p in range(1, len(text))]
    found = [seam for seam in seams if seam is not None and seam.rule == "PAIR"]
    for seam in found:
        p = seam.position
        apart = adapter.encode(text[:p]).tolist() + adapter.encode(text[p:]).tolist()
        assert apart == whole, (facts.patterns, text, seam)
        assert [*seam_findings([seam], text, facts)] == []
    missing = {s.position for s in seams if s} ^ set(finding.places(text).tolist())
    assert not missing, (facts.patterns, text, [s for s in seams if s and s.position in missing])
    places = {seam.position for seam in seams if seam is not None}
    assert {seam.position for seam in found} >= set(searched(finding, text)) - edges(finding, text)
    for p in range(1, len(text)):
        assert (finding.find(text, p, p + 3) is None) == places.isdisjoint(range(p, p + 3))
    return found


def searched(finding: CutFinder, text: str) -> list[int]:
    """Where a search from each place on comes to."""
    each = [finding.find(text, p, p + 3) for p in range(1, len(text))]
    assert all(seam is None or p <= seam.position < p + 3 for p, seam in enumerate(each, 1))
    return [seam.position for seam in each if seam is not None]


def edges(finding: CutFinder, text: str) -> set[int]:
    return {p for p in range(1, len(text)) if finding.edges.certify(text, p) is not None}


BESIDE = ["a", "Ab", " ", "  ", "\n", "\r\n", "12345", "1234567", "'s", ".", "中", "é", "\t"]
BESIDE += ["<", "y>"]
FILES = [DATA / "default.json", VOCAB / "deepseek_part.json"]


def with_a_token(file: Path, **flags: Any) -> tuple[CutFinder, str]:
    """A finder of a tokenizer, and the content of one of its added tokens. Tokens that are added to
    deepseek_part find no copy that works alike, so one of its own is taken."""
    tokenizer, content = Tokenizer.from_file(str(file)), "<xy>"
    if file.stem == "default":
        tokenizer.add_tokens([NativeToken(content, normalized=False, **flags)])
    facts = facts_of(load(tokenizer))
    if file.stem != "default":
        content = min((token.content for token in facts.added_tokens), key=len)
    return finder_for(facts), content


def assert_all_places(finding: CutFinder, text: str) -> None:
    assert finding.refusal_for(text) is None
    expected = [p for p in range(1, len(text)) if finding.certify(text, p) is not None]
    assert finding.places(text).tolist() == expected


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@given(data=st.data())
def test_all_places_beside_added_tokens_are_those_that_are_certified(
    file: Path, data: st.DataObject
) -> None:
    """At once by arrays between the tokens, one by one near them."""
    flags = data.draw(st.sampled_from([{}, {"single_word": True}, {"lstrip": True}]))
    finding, content = with_a_token(file, **flags)
    some = st.lists(st.sampled_from([*BESIDE, content]), max_size=40).map("".join)
    parts = data.draw(st.lists(some.map(lambda each: each * 3), min_size=1, max_size=4))
    assert_all_places(finding, content.join(parts))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_space_after_an_unknown_character_is_one_of_all_places(file: Path) -> None:
    """Rule PAIR needs no symbol of the character: arrays find the place, too."""
    finding, _ = with_a_token(file)
    text = "a\U000125c4 b 1\U00016139 2\U000125c4\u3000 x"
    assert finding.pairs is not None
    assert finding.pairs.table.symbol_of[0x125C4] == finding.pairs.table.size
    assert_all_places(finding, text)
    assert 2 in finding.places(text)


@pytest.mark.parametrize("kind", ["NFKC", "NFKC, Lowercase", "Replace"])
def test_a_text_without_pairs_behind_a_normalizer_is_read_by_tables(kind: str) -> None:
    """Words joined by no-break spaces: no part of the text is normalized to find that out."""
    normalizers = below_one().normalizers
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    tokenizer.normalizer = {
        "NFKC": normalizers.NFKC(),
        "NFKC, Lowercase": normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        "Replace": normalizers.Replace("ab", "1"),
    }[kind]
    finding = finder(tokenizer)
    text = "\xa0".join(random.Random(kind).choices(["some", "words", "We", "sailed"], k=4_000))
    assert finding.find_each(text[:100], 1) == []
    with (
        patch.object(NormalizerGuard, "known_images", side_effect=AssertionError),
        patch.object(NormalizerGuard, "context", side_effect=AssertionError),
        patch.object(NormalizerGuard, "_map", side_effect=AssertionError),
    ):
        assert finding.find_each(text, 1) == []


# ------------------------------------------------------------- every cut found is lossless


MAKERS = {"fancy-regex": by_tiktoken, "oniguruma": by_hugging_face, "regex": by_regex}


@pytest.mark.parametrize("engine", MAKERS)
@pytest.mark.usefixtures("quick")
def test_cuts_of_drawn_patterns_are_lossless(engine: str) -> None:
    source = random.Random(engine)
    counts = Counter[str]()
    while counts["patterns"] < max(12, drawn(30)):
        count = 1 if engine == "fancy-regex" else source.choice((1, 1, 1, 2, 3))
        patterns = tuple(drawn_pattern(source) for _ in range(count))
        try:
            tokenizer = MAKERS[engine](patterns)
        except (ValueError, tokpar.TokparError):
            continue
        if finder(tokenizer).refusal is not None:
            counts["refused"] += 1
            continue
        counts["patterns"] += 1
        atoms = ATOMS if engine == "fancy-regex" else (*ATOMS, "<s>")
        for _ in range(8):
            text = AdversarialTexts((atoms,), most=12).draw(source)
            try:
                counts.update(seam.theorem for seam in certified(tokenizer, text))
            except tokpar.TokparError:  # an engine that gives up on a text
                counts["given up"] += 1
    assert counts["40"] > 50
    assert engine == "fancy-regex" or counts["42"] > 10


@pytest.mark.each_value
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", ["plain", "NFC", "NFKC, Lowercase", "Replace", "Strip", "prefix"])
@pytest.mark.usefixtures("quick")
def test_cuts_behind_normalizers_and_beside_added_tokens_are_lossless(
    pattern: str, kind: str
) -> None:
    normalizers = below_one().normalizers
    normalizer = {
        "NFC": normalizers.NFC(),
        "NFKC, Lowercase": normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        "Replace": normalizers.Replace("ab", "1"),
        "Strip": normalizers.Strip(),
    }.get(kind)
    source = random.Random(pattern + kind)
    counts = Counter[str]()
    for k in range(max(3, drawn(6))):
        flags = {name: source.random() < 0.3 for name in ("lstrip", "rstrip", "single_word")}
        flags = flags if k % 2 else {}
        tokenizer = by_hugging_face((pattern,), normalizer, flags, kind == "prefix")
        for _ in range(8):
            text = AdversarialTexts(((*ATOMS, *ADDED),)).draw(source)
            counts.update(seam.rule for seam in certified(tokenizer, text))
    assert counts["PAIR"] > 0 or (kind, pattern) == ("prefix", GAPS)  # never splits at a space


# ------------------------------------------------------------------------ what is refused


def test_what_cannot_be_decided_is_refused_with_the_reason() -> None:
    for pattern, reason in (
        (r"(?<=a)b+|[\s\S]", "unsupported group"),
        (r"a*", "may match the empty text"),
        (r"(a", "missing ')'"),
        (r"(?=ab)a|[\s\S]", "look-ahead over more than one character"),
        (r"(?:(?:a|b)?(?:a|c)){9,999}[abc]{999}d", "more than"),
    ):
        refusal = str(refused_facts(pattern))
        assert "its pattern is not decided" in refusal
        assert reason in refusal


def refused_facts(pattern: str) -> str | None:
    return finder_for(Facts("regex", "BPE", "regex", (pattern,))).refusal


def test_a_panic_of_an_engine_that_is_asked_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(sources: Any) -> Any:
        raise PanicException("index out of bounds")

    monkeypatch.setattr(charclass_members, "_answers", {})
    monkeypatch.setitem(charclass_members.__dict__["_EVERYWHERE"], "regex", panic)
    monkeypatch.setenv("TOKPAR_CACHE", "")
    refusal = refused_facts(r"\p{L}+|\P{L}")
    assert "index out of bounds" in str(refusal)
