"""Seams judged in columns and whole regions: as strict as one by one, and every fault is found."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as Added
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import cases
from tests.support.certified import (
    KINDS,
    REGEX_FAMILIES,
    TEXTS,
    Small,
    Tik,
    added_of,
    bert_normalizer,
    bert_tokenizer,
    by_hand,
    candidates,
    cl100k,
    dummy_tokenizer,
    encoding_of,
    kinds,
    metaspace_tokenizer,
    regex_tokenizer,
    witness,
)
from tests.support.seams import part
from tokpar.arrays import IdArray, byte_starts, spaces_behind_text
from tokpar.certificate.check_context import CheckContext, RefusedError
from tokpar.certificate.checker import check, check_seams, seam_findings, surely_licensed
from tokpar.certificate.fact_differences import AS_TOLD
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.id_proof import token_counts
from tokpar.certificate.region_check import everywhere_findings
from tokpar.certificate.rule_checker import RuleChecker
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.patterns.shipped_patterns import QWEN2
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.types import AddedToken, Facts, Report, Seam

# ------------------------------------------------------------------------------- columns


def licenses(judge: RuleChecker, seam: Seam, text: str) -> bool:
    """What the judge of single seams says."""
    try:
        judge.require_licence(seam)
    except RefusedError:
        return False
    return True


def changed_licences(seam: Seam) -> Iterator[Seam]:
    yield seam
    yield dataclasses.replace(seam, witness=(*seam.witness, ("more", "1")))
    yield dataclasses.replace(seam, witness=seam.witness[::-1])
    yield dataclasses.replace(seam, theorem={"20": "19"}.get(seam.theorem, "20"))
    rules: list[Any] = ["PAIR", "STAGE"]
    yield from (dataclasses.replace(seam, rule=rule) for rule in rules if rule != seam.rule)
    for k, (name, value) in enumerate(seam.witness):
        pairs = (*seam.witness[:k], (name, "gpt2" if value != "gpt2" else "o200k"))
        yield dataclasses.replace(seam, witness=(*pairs, *seam.witness[k + 1 :]))


def compared(text: str, facts: Facts) -> tuple[Columns, list[bool]]:
    """All candidates and changed ones, and which of them columns license. The judge licenses those,
    too; what columns leave to the judge is not asked for."""
    seams = [each for seam in candidates(text, facts) for each in changed_licences(seam)]
    columns, placed = Columns.of(seams), np.ones(len(seams), dtype=np.bool_)
    ground = CheckContext(text, facts, load_tables())
    sure = surely_licensed(columns, placed, ground, RuleChecker(ground))
    judge = RuleChecker(CheckContext(text, facts, load_tables()))
    for k in np.flatnonzero(sure).tolist():
        assert licenses(judge, columns.seam(k), text), (columns.seam(k), text)
    return columns, sure.tolist()


SPECIALS = [Added("a b"), Added("x", rstrip=True), Added(" b", single_word=True), Added("1.")]
DIGITS = "12345678 1234,56 \u0661\u0662\u0663\u0664 a123456.789\nb1234567"
EVERY = (
    "Hello wo\x1c rld,  it is\n 12345678\r\n x\u3000 é中 \u2028 y's 中文 1234.5 \x85 z\xa0 ¼ ab▁c"
)


@pytest.mark.parametrize("kind", [*KINDS][1:])
@given(data=st.data(), text=TEXTS)
def test_columns_never_license_what_the_judge_refuses(
    kind: str, data: st.DataObject, text: str
) -> None:
    compared(text, data.draw(KINDS[kind]).facts)


FACTS: dict[str, Callable[[], Facts]] = {
    **{
        name: functools.partial(lambda n: regex_tokenizer(n).facts, name) for name in REGEX_FAMILIES
    },
    "prefix": lambda: regex_tokenizer("gpt2", prefix_space=True).facts,
    "nfc": lambda: regex_tokenizer("qwen2", normalizers.NFC()).facts,
    "metaspace": lambda: metaspace_tokenizer(None, [], "always").facts,
    "bert": lambda: bert_tokenizer(bert_normalizer(True, True, None, True)).facts,
}


@pytest.mark.each_value
@pytest.mark.parametrize("name", [*FACTS])
@pytest.mark.parametrize("tokens", [[], SPECIALS], ids=["none", "specials"])
def test_columns_and_judge_agree_on_every_pair_of_characters(
    name: str, tokens: list[Added]
) -> None:
    """Without a normalizer columns and the judge agree on rules that look at two characters."""
    facts = dataclasses.replace(FACTS[name](), added_tokens=added_of(tokens))
    for text in (EVERY, DIGITS, "x  a b 1.\n" + EVERY):
        columns, sure = compared(text, facts)
        if not facts.normalizers and name != "bert":
            judge = RuleChecker(CheckContext(text, facts, load_tables()))
            seams = [columns.seam(k) for k in range(len(columns))]
            assert sure == [s.rule == "PAIR" and licenses(judge, s, text) for s in seams]
        assert any(sure) or tokens


def counted(tokenizer: Any, text: str, seams: Sequence[Seam]) -> Encoding:
    ids = tokenizer.encode(text)
    starts = byte_starts(text)
    begins = np.cumsum([0, *np.diff(tokenizer.locate(ids, text)).reshape(-1)])
    tokens = np.searchsorted(begins, starts[[seam.position for seam in seams]]).tolist()
    placed = [dataclasses.replace(s, token=n) for s, n in zip(seams, tokens, strict=True)]
    return encoding_of(ids, placed)


# ------------------------------------------------------------------------------- regions


DENSE = (
    "Hello there, it is 1234567 o'clock and more. Nächste Zeile: 中文 text and \tmore, "
    "two  spaces \u3000 here.\nOn and on it goes, \U0001f680 to the very end of it."
)
UNIVERSAL = Seam(0, "PAIR", "20", witness("cl100k_tiktoken", "non-space", "space"))


def dense_encoding(
    tokenizer: Any, text: str, places: Sequence[int], licence: Seam, regions: Any = None
) -> Encoding:
    """Planned seams of this licence at `places`, every space between them cut."""
    seams = [dataclasses.replace(licence, position=place) for place in places]
    if hasattr(tokenizer, "locate"):
        base = counted(tokenizer, text, seams)
    else:
        base = by_hand(tokenizer, text, seams)
    edges = [0, *places, len(text)]
    found = np.array(regions or [*pairwise(edges)], dtype=np.int64)
    return with_seams(base, Seams(base.seams.planned, Everywhere(licence, found)))


def with_seams(encoding: Encoding, seams: Seams, ids: IdArray | None = None) -> Encoding:
    return Encoding.of(encoding.ids if ids is None else ids, seams, Report("by hand"))


PLACES = (DENSE.index(" it"), DENSE.index(" text"), DENSE.index(" goes"))


def dense_case() -> tuple[Tik, str, Encoding]:
    return cl100k(), DENSE, dense_encoding(cl100k(), DENSE, PLACES, UNIVERSAL)


def test_a_dense_certificate_is_judged_without_its_seams() -> None:
    tokenizer, text, encoding = dense_case()
    report = check(encoding, text, tokenizer)
    assert report.findings == ()
    assert report.notes == (AS_TOLD,)
    assert report.seams == len(spaces_behind_text(text, 0, len(text)))
    with pytest.raises(LookupError):
        len(encoding.seams)


def regions_case(regions: list[tuple[int, int]], licence: Seam = UNIVERSAL) -> set[str]:
    tokenizer, text, encoding = dense_case()
    seams = Seams(encoding.seams.planned, Everywhere(licence, np.array(regions, dtype=np.int64)))
    return kinds(check(with_seams(encoding, seams), text, tokenizer))


END, (A, B, C) = len(DENSE), PLACES


@pytest.mark.parametrize(
    "regions",
    [
        [(0, B)],  # over a seam
        [(0, END)],
        [(A, B), (0, A)],  # not in order
        [(0, A), (0, A)],
        [(A, A)],
        [(B, A)],
        [(0, A), (A - 1, B)],  # with an overlap
        [(-1, A)],
        [(C, END + 1)],
        [(END, END + 5)],
        [(1, A)],  # an end that is no seam
        [(0, A - 1)],
        [(A + 1, B)],
        [(C, END - 1)],
        [(2**62, 2**62 + 1)],
    ],
)
def test_regions_must_lie_between_neighbouring_seams(regions: list[tuple[int, int]]) -> None:
    assert regions_case(regions) == {"region"}


@pytest.mark.parametrize("rule", ["K4", "EDGE", None])
def test_a_seam_that_is_refused_ends_no_region(rule: Any) -> None:
    tokenizer, text, encoding = dense_case()
    planned = [encoding.seams.planned.seam(k) for k in range(3)]
    planned[1] = dataclasses.replace(planned[1], rule=rule)
    seams = Seams(Columns.of(planned), encoding.seams.everywhere)
    found = check(with_seams(encoding, seams), text, tokenizer).findings
    assert {(f.kind, f.position) for f in found} >= {("region", A), ("region", B)}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"rule": "EDGE"}, "theorem"),
        ({"rule": None}, "theorem"),
        ({"rule": "STAGE"}, "theorem"),
        ({"theorem": "19"}, "theorem"),
        ({"theorem": "4.8"}, "theorem"),
        ({"rule": "STAGE", "theorem": "6.4"}, "scheme"),
        ({"witness": ()}, "witness"),
        ({"witness": witness("cl100k_tiktoken", "any", "space")}, "witness"),
        ({"witness": witness("cl100k_tiktoken", "non-space", "any")}, "witness"),
        ({"witness": witness("cl100k_tiktoken", "non-space", "space")[::-1]}, "witness"),
        ({"witness": witness("cl100k", "non-space", "space")}, "pattern"),
        ({"witness": witness("o200k", "non-space", "space")}, "pattern"),
    ],
)
def test_regions_need_a_licence_that_holds_at_every_space(
    change: dict[str, Any], kind: str
) -> None:
    assert regions_case([(0, A)], dataclasses.replace(UNIVERSAL, **change)) == {kind}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"prefix_space": True}, "prefix"),
        ({"scheme": "bert"}, "pattern"),
        ({"scheme": "dummy"}, "scheme"),
        ({"scheme": "whole"}, "scheme"),
        ({"patterns": (QWEN2,)}, "pattern"),
        ({"patterns": ("x",)}, "pattern"),
        ({"engine": "other"}, "pattern"),
        ({"unprovable": "it is random"}, "facts"),
    ],
)
def test_regions_are_refused_for_other_facts(change: dict[str, Any], kind: str) -> None:
    tokenizer, text, encoding = dense_case()
    facts = dataclasses.replace(tokenizer.facts, **change)
    assert kind in {f.kind for f in seam_findings(encoding.seams, text, facts)}
    alone = Seams(Columns(), Everywhere(UNIVERSAL, np.array([(0, len(text))])))
    assert {f.kind for f in seam_findings(alone, text, facts)} == {kind}


REFUSED: dict[str, tuple[Any, list[Added], str, set[str]]] = {
    "Strip": (normalizers.Strip(), [], "ab cd", {"normalizer"}),
    "Replace": (normalizers.Replace("a", " "), [], "ab cd", {"normalizer"}),
    "BertNormalizer": (bert_normalizer(True, True, None, True), [], "ab cd", {"normalizer"}),
    "StripAccents": (normalizers.StripAccents(), [], "ab cd", {"normalizer"}),
    "NFC": (normalizers.NFC(), [], "ab cd", set()),
    "tokens": (normalizers.NFC(), [Added("x", normalized=True)], "ab cd", {"added token"}),
    "a surrogate": (None, [], "ab cd \ud800", {"surrogate"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_regions_are_refused_where_the_text_is_not_what_the_pattern_gets(name: str) -> None:
    normalizer, tokens, text, found = REFUSED[name]
    facts = regex_tokenizer("cl100k", normalizer, tokens).facts
    licence = Seam(0, "PAIR", "20", witness("cl100k", "non-space", "space"))
    alone = Seams(Columns(), Everywhere(licence, np.array([(0, len(text))])))
    assert {finding.kind for finding in seam_findings(alone, text, facts)} == found


@pytest.mark.parametrize("scheme", ["bert", "metaspace"])
def test_regions_of_bert_and_metaspace_need_their_own_licence(scheme: str) -> None:
    tokenizer: Small = (
        bert_tokenizer(bert_normalizer(True, True, None, True))
        if scheme == "bert"
        else metaspace_tokenizer(None, [], "always")
    )
    text, licence = (
        "the time  of a day, now",
        Seam(0, "PAIR", "4.8", witness(scheme, "any", "space")),
    )
    encoding = dense_encoding(tokenizer, text, (3, 12), licence)
    report = check(encoding, text, tokenizer)
    assert report.ok
    assert report.seams == 5
    other = dataclasses.replace(licence, witness=witness("gpt2", "any", "space"))
    for wrong, kind in ((UNIVERSAL, "pattern"), (other, "pattern")):
        seams = Seams(encoding.seams.planned, Everywhere(wrong, np.array([(0, 3)])))
        assert kinds(check(with_seams(encoding, seams), text, tokenizer)) == {kind}
    changed = encoding.ids.copy()
    changed[1] = changed[2]
    assert not check(with_seams(encoding, encoding.seams, changed), text, tokenizer).ok


ABSORBED = Seam(0, "STAGE", "6.4", (("absorbed", "1"),))


@pytest.mark.parametrize(
    ("text", "regions", "found"),
    [
        ("a bc de", [(0, 7)], set()),
        (" a  bc \nde", [(0, 10)], set()),
        ("a bc de", [(0, 4)], {"region"}),
        ("a bc de", [(0, 1), (1, 7)], {"region"}),
        ("a bc ", [(0, 5)], {"context"}),
        ("a▁ bc", [(0, 5)], {"context"}),
        ("a <s> bc", [(0, 8)], {"added token"}),
    ],
)
def test_spaces_are_absorbed_in_whole_texts_without_added_tokens(
    text: str, regions: list[tuple[int, int]], found: set[str]
) -> None:
    facts = dataclasses.replace(dummy_tokenizer().facts, added_tokens=(AddedToken("<s>", 9),))
    seams = Seams(Columns(), Everywhere(ABSORBED, np.array(regions)))
    assert {finding.kind for finding in seam_findings(seams, text, facts)} == found


def test_spaces_are_absorbed_by_a_dummy_prefix_alone() -> None:
    seams = Seams(Columns(), Everywhere(ABSORBED, np.array([(0, 7)])))
    for facts in (
        cl100k().facts,
        dataclasses.replace(dummy_tokenizer().facts, chars_before_mark=frozenset("a")),
    ):
        assert list(seam_findings(seams, "a bc de", facts))


FLAGS: list[dict[str, Any]] = [
    {}, {"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"special": False}
]  # fmt: skip


@pytest.mark.parametrize("flags", FLAGS)
def test_an_added_token_that_forbids_a_cut_in_or_beside_a_region_is_found(
    flags: dict[str, Any],
) -> None:
    """Regions [0, A), [A, B), ...; the token stands at every place of the text."""
    facts = cl100k().facts
    starts = range(len(DENSE))
    for place, size in product(cases(starts, starts[::6]), (2, 5)):
        content = DENSE[place : place + size]
        tokens = (AddedToken(content, 9, **flags),)
        first = DENSE.index(content)
        inside = any(place > 0 for place in spaces_behind_text(content, 0, len(content)))
        forbids = inside or bool(flags.get("rstrip"))
        forbids = forbids or (bool(flags.get("single_word")) and content[0] == " ")
        for start, stop in ((0, A), (A, B), (B, C), (C, END)):
            region = Everywhere(UNIVERSAL, np.array([(start, stop)]))
            with_token = dataclasses.replace(facts, added_tokens=tokens)
            ground = CheckContext(DENSE, with_token, load_tables())
            ends = np.array(PLACES)
            found = [*everywhere_findings(region, ends, ends, ground)]
            touched = any(
                p <= stop and p + len(content) >= start
                for p in range(first, len(DENSE))
                if DENSE.startswith(content, p)
            )
            assert bool(found) == (touched and forbids), (content, start, stop)
            places = [] if found else spaces_behind_text(DENSE, start, stop).tolist()
            seams = [dataclasses.replace(UNIVERSAL, position=p) for p in places]
            assert not [*seam_findings(seams, DENSE, with_token)], content


@pytest.mark.parametrize("kind", ["regex behind normalizers", "bert", "metaspace"])
@given(data=st.data(), text=TEXTS)
def test_every_place_of_a_region_that_is_licensed_is_licensed_alone(
    kind: str, data: st.DataObject, text: str
) -> None:
    facts = data.draw(KINDS[kind]).facts
    licence = Seam(0, "PAIR", "4.8", witness(kind, "any", "space"))
    if kind.startswith("regex"):
        shipped = load_tables().pattern_of(facts.engine, facts.patterns)
        assert shipped is not None
        licence = Seam(0, "PAIR", "20", witness(shipped.name, "non-space", "space"))
    planned = Columns.of(
        dataclasses.replace(licence, position=p)
        for p in range(1, len(text))
        if data.draw(st.booleans())
        and not [*seam_findings([dataclasses.replace(licence, position=p)], text, facts)]
    )
    edges = [0, *planned.positions.tolist(), len(text)]
    for start, stop in pairwise(edges):
        region = Everywhere(licence, np.array([(start, stop)], dtype=np.int64))
        if [*seam_findings(Seams(planned, region), text, facts)]:
            continue
        for place in spaces_behind_text(text, start, stop).tolist():
            seam = dataclasses.replace(licence, position=place)
            assert not [*seam_findings([seam], text, facts)], (place, text)


# ------------------------------------------------------------------------------- ids


def test_counts_before_planned_seams_are_looked_at() -> None:
    tokenizer, text, encoding = dense_case()
    planned = encoding.seams.planned
    for k in range(len(planned)):
        for step in (-1, 1, 10_000, -10_000):
            tokens = planned.tokens.copy()
            tokens[k] += step
            seams = Seams(dataclasses.replace(planned, tokens=tokens), encoding.seams.everywhere)
            assert "token" in kinds(check(with_seams(encoding, seams), text, tokenizer))


def test_dense_ids_that_cross_a_space_are_found_by_the_check() -> None:
    ranks = {bytes([b]): b for b in range(256)} | {b" c": 256, b"b ": 257, b"ab": 258}
    pattern = cl100k().facts.patterns[0]
    tokenizer = tokpar.load(
        tiktoken.Encoding("t", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    )
    text = "ab cd"
    licence = Seam(0, "PAIR", "20", witness("cl100k_tiktoken", "non-space", "space"))
    encoding = dense_encoding(tokenizer, text, (), licence)
    assert check(encoding, text, tokenizer).ok
    forged = np.array([ord("a"), 257, ord("c"), ord("d")], dtype=np.uint32)
    step = check_seams(with_seams(encoding, encoding.seams, forged), text, tokenizer)
    assert {(f.kind, f.position) for f in step.findings} == {("token", 2)}


@pytest.mark.parametrize(
    ("tokens", "wrong"),
    [([0, 0, 3], []), ([2, 1, 3], [1]), ([-1, 0, 0], [0]), ([4, 1, 3], [0, 1, 2])],
)
def test_counts_never_fall_nor_pass_the_ids_there_are(tokens: list[int], wrong: list[int]) -> None:
    columns = Columns(
        np.arange(3), np.array(tokens), np.zeros(3, dtype=np.int64), (("PAIR", "", ()),)
    )
    assert [finding.seam for finding in token_counts(columns, 3)] == wrong


# ------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("settings", [{"strategy": "only_second"}, {"stride": 4}])
def test_a_truncation_that_refuses_longer_texts_hides_the_ids(settings: dict[str, Any]) -> None:
    """At exactly the length that is kept the tokenizer's own call works; one id more refuses."""
    native = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    native.pre_tokenizer = pre_tokenizers.Whitespace()
    native.enable_truncation(4, **settings)
    encoding = tokpar.encode("a b a b", native)
    step = check_seams(encoding, "a b a b", tokpar.load(native))
    assert step.findings == ()
    assert "hides the text's own ids" in step.notes[0]


def test_columns_that_do_not_fit_are_found() -> None:
    tokenizer, text, encoding = dense_case()
    good = encoding.seams.planned
    for wrong in (
        dataclasses.replace(good, tokens=good.tokens[:-1]),
        dataclasses.replace(good, codes=good.codes + 1),
        dataclasses.replace(good, codes=good.codes - 1),
    ):
        assert kinds(check(with_seams(encoding, Seams(wrong)), text, tokenizer)) == {"columns"}


def test_a_seam_lies_above_all_before_it() -> None:
    """Not above its neighbour alone."""
    adapter, text = tokpar.load(part("cl100k_part")), "some words and some more words"
    facts = facts_of(adapter)
    spaces = [p for p, char in enumerate(text) if char == " "]
    seams = [finder_for(facts).certify(text, p) for p in (spaces[3], spaces[0], spaces[1])]
    found = [*seam_findings(Seams.of([seam for seam in seams if seam]), text, facts)]
    assert [(finding.kind, finding.seam) for finding in found] == [("order", 1), ("order", 2)]


def test_seams_of_one_licence_are_told_from_those_inside_a_normalized_token() -> None:
    facts = regex_tokenizer("cl100k", normalizers.NFC(), [Added("m w", normalized=True)]).facts
    for text, held in (("an x y", True), ("am w y", False)):
        seam = finder_for(dataclasses.replace(facts, added_tokens=())).certify(text, 2)
        assert seam is not None
        assert (not [*seam_findings([seam], text, facts)]) == held
        assert (not [*seam_findings(Seams.of([seam]), text, facts)]) == held
