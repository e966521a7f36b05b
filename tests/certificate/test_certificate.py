"""The certificate accepts what the engines confirm, and catches every mutation of a seam or id."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import AddedToken as Added
from tokenizers import normalizers

import tokpar
from tests.support.certified import (
    KINDS,
    TEXTS,
    Small,
    bert_normalizer,
    bert_tokenizer,
    by_hand,
    candidates,
    changed_ids,
    cl100k_case,
    dummy_case,
    dummy_tokenizer,
    encoding_of,
    kinds,
    metaspace_tokenizer,
    pair,
    regex_tokenizer,
    with_seam,
    witness,
)
from tests.support.seams import part
from tokpar.arrays import IdArray
from tokpar.certificate.checker import check, check_seams, seam_findings
from tokpar.contract.interfaces import Locates
from tokpar.patterns.shipped_patterns import QWEN2
from tokpar.results.encoding import Encoding
from tokpar.types import Facts, Rows, Rule, Seam


class Bracketed(Small):
    """With one id in front and two behind, as a post-processor puts them."""

    special_tokens = None
    truncates_to = None
    pads = False

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return Rows.of([7, *rows[k].tolist(), 8, 9] for k in range(len(rows)))


class Cut(Small):
    """Truncated to four ids."""

    special_tokens = None
    truncates_to = None
    pads = False

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return Rows.of(rows[k][:4] for k in range(len(rows)))


def licensed(text: str, facts: Facts) -> list[Seam]:
    return [s for s in candidates(text, facts) if not list(seam_findings([s], text, facts))]


def serial_or_skip(tokenizer: Small, text: str) -> list[int]:
    """Serial ids; texts on which the engine itself panics have none."""
    try:
        return tokenizer.encode(text).tolist()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        assume(False)
        raise


def assert_true_to_engine(tokenizer: Small, text: str) -> int:
    """Every seam the checker licenses gives the serial ids; returns how many there were."""
    serial = serial_or_skip(tokenizer, text)
    seams = licensed(text, tokenizer.facts)
    for seam in seams:
        left = serial_or_skip(tokenizer, text[: seam.position])
        right = text[seam.position + (seam.theorem == "6.4") :]
        assert left + serial_or_skip(tokenizer, right) == serial, (seam, text, tokenizer.facts)
    return len(seams)


PLAIN_TEXTS = st.lists(
    st.sampled_from([*"aabbABsl   '..,11\n\t中é\u0301"]), min_size=2, max_size=20
).map("".join)


@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), text=TEXTS | PLAIN_TEXTS)
def test_licensed_seams_give_the_serial_ids(kind: str, data: st.DataObject, text: str) -> None:
    assert_true_to_engine(data.draw(KINDS[kind]), text)


ROW = normalizers.Sequence
CLEANING = bert_normalizer(True, True, None, True)
ONCE_WRONG: list[tuple[str, Callable[..., Small], Any, list[Added]]] = [
    ("a \u0301 b", regex_tokenizer, normalizers.StripAccents(), []),
    ("¨ a", regex_tokenizer, ROW([normalizers.NFKD(), normalizers.StripAccents()]), []),
    ("中 a", regex_tokenizer, CLEANING, []),
    ("ab.c", regex_tokenizer, normalizers.Strip(), [Added(" ", normalized=True)]),
    ("A|B", regex_tokenizer, ROW([normalizers.Lowercase(), normalizers.Replace("a|b", "c")]), []),
    ("㎡12 3456", regex_tokenizer, normalizers.NFKC(), []),
    ("1\u0301234567", regex_tokenizer, normalizers.StripAccents(), []),
    ("xa by", regex_tokenizer, normalizers.Lowercase(), [Added("A b", normalized=True)]),
    ("foo\u2e43bar", bert_tokenizer, CLEANING, []),
    ("foo\x0bbar\u061dbaz", bert_tokenizer, CLEANING, []),
    ("a <s>", dummy_tokenizer, None, [Added("<s>")]),
    ("<s> b", dummy_tokenizer, None, [Added("<s>")]),
    ("a b", dummy_tokenizer, None, [Added(" b")]),
    ("a  b", dummy_tokenizer, None, []),
]


@pytest.mark.parametrize(("text", "make", "normalizer", "added"), ONCE_WRONG)
def test_texts_on_which_a_rule_was_once_wrong(
    text: str, make: Callable[..., Small], normalizer: Any, added: list[Added]
) -> None:
    families = [["gpt2"], ["cl100k"]] if make is regex_tokenizer else [[]]
    for family in families:
        settings = [added] if make is dummy_tokenizer else [*family, normalizer, added]
        assert_true_to_engine(make(*settings), text)


def bracketed_case() -> tuple[Small, str, Encoding]:
    text = "One two 123456, e\u0301t trois?"
    tokenizer = regex_tokenizer("o200k", kind=Bracketed)
    seams = [
        Seam(3, "PAIR", "20", witness("o200k", "non-space", "space")),
        pair(7, "o200k"),
        pair(14, "o200k"),
        Seam(19, "PAIR", "20", witness("o200k", "non-space", "space")),
    ]
    return tokenizer, text, by_hand(tokenizer, text, seams)


def bert_case() -> tuple[Small, str, Encoding]:
    text = "The time, is now (really)中 now."
    tokenizer = bert_tokenizer(bert_normalizer(True, True, None, True))
    seams = [
        Seam(3, "PAIR", "4.8", witness("bert", "any", "space")),
        Seam(8, "PAIR", "4.8", (("pattern", "bert"),)),
        Seam(18, "PAIR", "4.8", (("pattern", "bert"),)),
        Seam(25, "PAIR", "4.8", (("pattern", "bert"),)),
    ]
    return tokenizer, text, by_hand(tokenizer, text, seams)


def metaspace_case() -> tuple[Small, str, Encoding]:
    text = "the time  of▁a day"
    tokenizer = metaspace_tokenizer(None, [], "always")
    seams = [
        Seam(3, "PAIR", "4.8", witness("metaspace", "any", "space")),
        Seam(9, "PAIR", "4.8", (("pattern", "metaspace"),)),
        Seam(12, "PAIR", "4.8", (("pattern", "metaspace"),)),
    ]
    return tokenizer, text, by_hand(tokenizer, text, seams)


CASES = [cl100k_case, bracketed_case, bert_case, metaspace_case, dummy_case]
case = pytest.mark.parametrize("make", CASES)


@pytest.mark.ids
@case
def test_a_right_encoding_has_no_findings(make: Callable[[], tuple[Any, str, Encoding]]) -> None:
    tokenizer, text, encoding = make()
    report = check(encoding, text, tokenizer)
    assert report.findings == check_seams(encoding, text, tokenizer).findings == ()
    assert report.ok
    assert (report.seams, report.level) == (len(encoding.seams), "ids")


def mutations(seam: Seam) -> Iterator[Seam]:
    """The seam with one field shifted or swapped, its token count left as it is."""
    change = functools.partial(dataclasses.replace, seam)
    yield from (change(position=seam.position + step) for step in (-1, 1))
    rules: list[Any] = [None, *Rule]
    yield from (change(rule=rule) for rule in rules if rule != seam.rule)
    theorems = ["19", "20", "4.8", "6.4", "29", "40", "42", "44", ""]
    yield from (change(theorem=theorem) for theorem in theorems if theorem != seam.theorem)
    yield change(witness=())
    yield change(witness=seam.witness[::-1] if len(seam.witness) > 1 else (("run", "1"),))
    yield change(witness=(*seam.witness, ("more", "1")))
    for k, (name, value) in enumerate(seam.witness):
        for other in ("gpt2", "a", "nl", "sp", "space", "other", "separator", "mark", "2"):
            if other != value:
                yield change(witness=(*seam.witness[:k], (name, other), *seam.witness[k + 1 :]))


def tells_edges(tokenizer: Any) -> bool:
    """True if the first step of a check sees where ids begin."""
    return bool(tokenizer.facts.tiles) and isinstance(tokenizer, Locates)


@pytest.mark.ids
@case
def test_every_changed_field_of_a_seam_is_found(
    make: Callable[[], tuple[Any, str, Encoding]],
) -> None:
    tokenizer, text, encoding = make()
    for k, seam in enumerate(encoding.seams):
        for mutant in mutations(seam):
            moved = mutant.position != seam.position
            changed = with_seam(encoding, k, mutant)
            if not moved or tells_edges(tokenizer):
                assert check_seams(changed, text, tokenizer).findings, mutant
            assert not check(changed, text, tokenizer).ok, mutant


@case
def test_a_token_count_off_by_one_is_found(make: Callable[[], tuple[Any, str, Encoding]]) -> None:
    tokenizer, text, encoding = make()
    for k, seam in enumerate(encoding.seams):
        for token in (seam.token - 1, seam.token + 1, -1, 10_000):
            changed = with_seam(encoding, k, dataclasses.replace(seam, token=token))
            if tells_edges(tokenizer):
                assert check_seams(changed, text, tokenizer).findings
            assert not check(changed, text, tokenizer).ok


@pytest.mark.ids
@case
def test_a_changed_id_is_found_at_level_ids(make: Callable[[], tuple[Any, str, Encoding]]) -> None:
    tokenizer, text, encoding = make()
    for ids in changed_ids(encoding.ids):
        report = check(encoding_of(ids, encoding.seams), text, tokenizer)
        assert "serial" in {finding.kind for finding in report.findings}


def test_seams_must_rise_and_lie_inside_the_text() -> None:
    tokenizer, text, encoding = cl100k_case()
    doubled = [encoding.seams[0], *encoding.seams]
    assert kinds(check(encoding_of(encoding.ids, doubled), text, tokenizer)) == {"order"}
    swapped = encoding.seams[::-1]
    assert "order" in kinds(check(encoding_of(encoding.ids, swapped), text, tokenizer))
    for position in (0, -1, len(text), len(text) + 1):
        outside = dataclasses.replace(encoding.seams[0], position=position)
        assert "position" in kinds(check(with_seam(encoding, 0, outside), text, tokenizer))


def test_uncertified_and_unknown_rules_are_told_apart() -> None:
    tokenizer, text, encoding = cl100k_case()
    rules = ((None, "uncertified"), ("K1", "unknown rule"), ("K4", "unknown rule"))
    for rule, kind in rules:
        mutant: Any = dataclasses.replace(encoding.seams[0], rule=rule)  # type: ignore[arg-type]
        assert kinds(check(with_seam(encoding, 0, mutant), text, tokenizer)) == {kind}


def test_unprovable_facts_license_no_seam_and_need_none() -> None:
    _, text, encoding = bracketed_case()
    tokenizer = regex_tokenizer("o200k", kind=Bracketed)
    tokenizer.facts = dataclasses.replace(tokenizer.facts, unprovable="it is random")
    assert kinds(check(encoding, text, tokenizer)) == {"facts"}
    assert check(encoding_of(encoding.ids, ()), text, tokenizer).ok


def test_a_surrogate_anywhere_licenses_no_seam() -> None:
    seams = [Seam(1, "PAIR", "20", witness("gpt2", "non-space", "space"))]
    facts = regex_tokenizer("gpt2").facts
    assert not list(seam_findings(seams, "a b c", facts))
    (finding,) = seam_findings(seams, "a b \ud800", facts)
    assert finding.kind == "surrogate"


@pytest.mark.parametrize(
    "change",
    [{"patterns": (QWEN2,)}, {"patterns": ()}, {"engine": "fancy-regex2"},
     {"scheme": "bert"}, {"scheme": "none"}, {"patterns": ("x",)}, {"prefix_space": True}],
)  # fmt: skip
def test_other_facts_do_not_license_the_same_seams(change: dict[str, Any]) -> None:
    tokenizer, text, encoding = cl100k_case()
    facts = dataclasses.replace(tokenizer.facts, **change)
    assert list(seam_findings(encoding.seams[1:], text, facts))


def refusals(tokenizer: Small, text: str) -> set[int]:
    """Places where no candidate is licensed."""
    return set(range(1, len(text))) - {seam.position for seam in licensed(text, tokenizer.facts)}


@pytest.mark.parametrize(
    ("token", "text", "unsafe"),
    [
        (Added("a b c"), "x a b c x", {3, 5}),
        (Added("a", rstrip=True), "xa b", {2}),
        (Added("x a", rstrip=True), "x a\n\nb", {3}),
        (Added("b", lstrip=True), "a.\nb", {3}),
        (Added("b", single_word=True), "1b.b,b'", {1}),
        (Added("b", single_word=True), "\u0301b.b,b'", {1}),  # a mark is a word character
        (Added("a ", rstrip=True), "a  b.c", {2}),
        (Added("\n", lstrip=True), "a \n\nb", {2, 3}),
    ],
)
def test_places_beside_added_tokens_are_refused(token: Added, text: str, unsafe: set[int]) -> None:
    """Without the token, or without its flags, the pre-tokenizer alone would allow most of them."""
    tokenizer = regex_tokenizer("gpt2", None, [token])
    assert unsafe <= refusals(tokenizer, text)
    assert_true_to_engine(tokenizer, text)


WRONG_UNDER_THE_RULE_OF_THUMB = [
    ("a \u0301  b", 3, normalizers.StripAccents()),
    ("a \u200b  a", 3, bert_normalizer(True, False, False, False)),
    ("x中  a", 2, bert_normalizer(True, True, False, False)),
    ("x¨  a", 2, normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])),
    ("aͺ  b", 2, normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])),
    ("ab. b", 3, normalizers.Replace(". ", "  ")),
    ("a.  b", 2, normalizers.Replace(".", " ")),
    ("a b", 1, normalizers.Strip()),
]


@pytest.mark.parametrize(("text", "place", "normalizer"), WRONG_UNDER_THE_RULE_OF_THUMB)
def test_a_space_after_a_non_space_really_breaks_beside_these_normalizers(
    text: str, place: int, normalizer: Any
) -> None:
    """Theorem 20 with 6.2: S[p] = ' ' after a non-space is not enough where L shrinks."""
    tokenizer = regex_tokenizer("cl100k", normalizer)
    assert place in refusals(tokenizer, text)
    halves = [*tokenizer.encode(text[:place]).tolist(), *tokenizer.encode(text[place:]).tolist()]
    assert halves != tokenizer.encode(text).tolist()


def test_an_added_token_that_the_normalizer_empties_licenses_no_seam() -> None:
    tokenizer = regex_tokenizer("gpt2", normalizers.Strip(), [Added(" ", normalized=True)])
    assert refusals(tokenizer, "ab.c d") == set(range(1, 6))


@pytest.mark.parametrize(("clean", "chinese"), [(False, True), (True, False)])
def test_bert_pairs_need_cleaning_and_spaced_ideographs(clean: bool, chinese: bool) -> None:
    facts = bert_tokenizer(bert_normalizer(clean, chinese, None, True)).facts
    pair = Seam(1, "PAIR", "4.8", (("pattern", "bert"),))
    space = Seam(2, "PAIR", "4.8", witness("bert", "any", "space"))
    assert [f.kind for f in seam_findings([pair, space], "a. b", facts)] == ["normalizer"]


@pytest.mark.parametrize("number", [2**40, 2**63, 2**64, -(2**63), 10**30])
@pytest.mark.parametrize("name", ["position", "token"])
def test_any_number_in_a_seam_is_a_finding(name: str, number: int) -> None:
    """An encoding that was made in memory passes no reader."""
    tokenizer, text, encoding = cl100k_case()
    seams = [*encoding.seams[:-1], dataclasses.replace(encoding.seams[-1], **{name: number})]
    found: Any = Encoding.of(encoding.ids, tuple(seams), encoding.report)  # type: ignore[arg-type]
    assert check(found, text, tokenizer).findings


def test_inserted_ids_are_known_where_nothing_is_cut_or_padded() -> None:
    tokenizer: Any = tokpar.load(part("bert_part"), truncation=False, padding=False)
    assert tuple(map(len, tokenizer.special_tokens)) == (1, 1)
    text = "One two three four five"
    encoding = tokpar.encode(text, tokenizer)
    assert check(encoding, text, tokenizer).ok
    for place in (0, len(encoding.ids) - 1):
        ids = encoding.ids.copy()
        ids[place] += 1
        changed = dataclasses.replace(encoding, ids=ids)
        [finding] = check_seams(changed, text, tokenizer).findings
        assert finding.kind == "inserted"
        expected = f"id {place}: expected {encoding.ids[place]} to be inserted, got {ids[place]}"
        assert finding.message == expected
    [finding] = check_seams(
        dataclasses.replace(encoding, ids=encoding.ids[:1]), text, tokenizer
    ).findings
    assert finding.message == "expected at least the 2 ids that are inserted, got 1"


def test_truncation_limits_the_check_and_the_report_says_so() -> None:
    text = "One two three four five"
    tokenizer = regex_tokenizer("o200k", kind=Cut)
    seams = [Seam(3, "PAIR", "20", witness("o200k", "non-space", "space"))]
    step = check_seams(by_hand(tokenizer, text, seams), text, tokenizer)
    assert step.findings == ()
    assert "limited" in step.notes[0]
    assert check(by_hand(tokenizer, text, seams), text, tokenizer).ok


def test_a_tokenizer_without_facts_licenses_nothing() -> None:
    class Bare:
        name = "bare"

        def encode(self, text: str) -> IdArray:
            return np.arange(len(text), dtype=np.uint32)

    seams = [Seam(1, "PAIR", "20", witness("gpt2", "non-space", "space"), 1)]
    ids = np.arange(3, dtype=np.uint32)
    assert kinds(check(encoding_of(ids, seams), "a b", Bare())) == {"facts"}
    assert check(encoding_of(ids, ()), "a b", Bare()).ok
