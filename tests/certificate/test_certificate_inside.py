"""Seams inside a pre-token: the checker accepts right ones, and finds what makes one wrong."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as Added
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import cases
from tests.support.certified import (
    REGEX_FAMILIES,
    by_hand,
    byte_level_model,
    encoding_of,
    ids_by_hand,
    kinds,
    pair,
    regex_tokenizer,
    with_seam,
    witness,
)
from tests.support.certified_inside import (
    HEAD,
    LETTERS,
    LONG,
    TAIL,
    adapter,
    certificate,
    crossed,
    forced,
    forced_case,
    forced_places,
)
from tests.support.seams import part
from tests.support.tokenizers_drawn import PATTERNS, WordPieceSpec, build
from tokpar.arrays import IdArray, byte_starts
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.certificate.checker import check, seam_findings
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.pretoken_regions import Scanner
from tokpar.certificate.within_pretoken_rule import Vocabulary
from tokpar.encoding import Encoding
from tokpar.spans import postprocess_single
from tokpar.types import Facts, Rows, Seam

CJK = "".join(random.Random(4).choices("中文的一是在不了有和人这大为上个国我以要他时来用们", k=300))


@functools.cache
def whole() -> Any:
    """A BPE that merges over the whole text; its longest token has seven bytes."""
    return tokpar.load(Tokenizer.from_str(byte_level_model()))


def halves(tokenizer: Any, text: str, position: int) -> list[int]:
    left, right = tokenizer.encode(text[:position]), tokenizer.encode(text[position:])
    return [*left.tolist(), *right.tolist()]


def serial(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text).tolist()
    return ids


def edges_of(tokenizer: Any, text: str) -> list[int]:
    """Code points at which a token of the serial encode begins, tokens inside characters aside."""
    ids = tokenizer.encode(text)
    spans = tokenizer.locate(ids, text)
    starts = {int(byte): place for place, byte in enumerate(byte_starts(text))}
    return [starts[byte] for byte in spans[:, 0].tolist() if byte in starts]


def agreeing(
    position: int, start: int, stop: int, right_start: int, second: int, left_stop: int
) -> Seam:
    names = ("start", "stop", "right_start", "second", "left_stop")
    values = (start, stop, right_start, second, left_stop)
    return Seam(position, "K5", "5'", tuple(zip(names, values, strict=True)))


def run(
    position: int, start: int, stop: int, piece_stop: int, id_: int, size: int, n0: int
) -> Seam:
    names = ("start", "stop", "piece_stop", "token", "length", "least")
    values = (start, stop, piece_stop, id_, size, n0)
    return Seam(position, "K6", "11", tuple(zip(names, values, strict=True)))


def common(position: int, left: tuple[int, int], right: tuple[int, int], begin: int) -> Seam:
    names = ("left_start", "left_stop", "right_start", "right_stop", "token_start")
    values = (*left, *right, begin)
    return Seam(position, "K8", "12", tuple(zip(names, values, strict=True)))


def changed(seam: Seam, **values: int) -> Seam:
    """The seam with some values of its witness replaced."""
    witness = tuple((name, values.get(name, value)) for name, value in seam.witness)
    assert values.keys() <= dict(witness).keys()
    return dataclasses.replace(seam, witness=witness)


# ------------------------------------------------------------------------------- right ones


@functools.cache
def agreeing_seams(name: str, text: str, start: int, stop: int) -> tuple[Seam, ...]:
    """K5 seams at token edges, at least 140 characters apart, between tokens of several bytes."""
    tokenizer, seams, last = adapter(name), [], start
    edges = edges_of(tokenizer, text)
    for before, p, second in zip(edges, edges[1:], edges[2:], strict=False):
        narrow = min(p - before, second - p) == 1 and text[p].isascii()
        if last + 140 < p < stop - 140 and not narrow:
            seams.append(agreeing(p, start, stop, p - 30, second, p + 30))
            last = p
    assert len(seams) > 1
    return tuple(seams)


def agreeing_case() -> tuple[Any, str, Encoding]:
    tokenizer = adapter("cl100k_part")
    seams = agreeing_seams("cl100k_part", LONG, HEAD, TAIL)
    return tokenizer, LONG, certificate(tokenizer, LONG, seams)


def ideographs_case() -> tuple[Any, str, Encoding]:
    text = f"{CJK * 2}。"
    tokenizer = adapter("o200k_part")
    seams = agreeing_seams("o200k_part", text, 0, len(text))
    return tokenizer, text, certificate(tokenizer, text, seams)


def deepseek_case() -> tuple[Any, str, Encoding]:
    """Three patterns, one after the other."""
    text = f"Look: 12{CJK * 2}345"
    tokenizer = adapter("deepseek_part")
    seams = agreeing_seams("deepseek_part", text, 0, len(text))
    return tokenizer, text, certificate(tokenizer, text, seams)


RULED = f"Hello{'=' * 700} end"


def run_case() -> tuple[Any, str, Encoding]:
    tokenizer = adapter("cl100k_part")
    edge, stop = 5, RULED.index(" end")
    seams = [
        pair(edge, "cl100k_tiktoken"),
        run(edge + 256, edge, stop, stop, 8315, 64, 193),
    ]
    return tokenizer, RULED, certificate(tokenizer, RULED, seams)


def mixed_case() -> tuple[Any, str, Encoding]:
    """All kinds side by side, and several of them in one pre-token."""
    tokenizer, text = adapter("cl100k_part"), f"{'=' * 500} {LONG}{'-' * 400}\nand 1234567"
    low, high = 501 + HEAD, 501 + TAIL
    places = [501 + p for p in forced_places()]
    places = [places[0], places[-1]]
    found = agreeing_seams("cl100k_part", text, low, high)
    halfway = next(s for s in found if all(abs(s.position - p) > 140 for p in places))
    inside = [forced(p, low, high) for p in places] + [halfway]
    seams = [
        run(128, 0, 500, 500, 8315, 64, 193),
        Seam(500, "K1", "20", witness("cl100k_tiktoken", "non-space", "space")),
        *sorted(inside, key=lambda seam: seam.position),
        Seam(text.index(" end"), "K1", "20", witness("cl100k_tiktoken", "non-space", "space")),
        pair(text.index("and"), "cl100k_tiktoken"),
    ]
    return tokenizer, text, certificate(tokenizer, text, seams)


def whole_case() -> tuple[Any, str, Encoding]:
    """No regex: everything is one piece, newlines and spaces too."""
    tokenizer, text = whole(), "ab sd. 12\n中 lvre 'T a b12 1.\tAB é a. sssb 12 3, x\u3000b a 3 'd9"
    edges = edges_of(tokenizer, text)
    seams, last = [], 0
    for p, second in pairwise(edges):
        if last + 8 <= p <= len(text) - 8:
            free = not crossed(tokenizer, text, p)
            far = agreeing(p, 0, len(text), p - 3, second, second + 2)
            seams.append(forced(p, 0, len(text)) if free else far)
            last = p
    assert {seam.rule for seam in seams} == {"K4", "K5"}
    return tokenizer, text, certificate(tokenizer, text, seams)


def whole_run_case() -> tuple[Any, str, Encoding]:
    tokenizer, text = whole(), " " * 61
    seams = [run(30, 0, 61, 61, serial(tokenizer, text)[0], 2, 10)]
    return tokenizer, text, certificate(tokenizer, text, seams)


SIGNS = "the-time.unbelievable(abcd)" * 30


def words_case() -> tuple[Any, str, Encoding]:
    """Three windows that share 120 characters each, with a cut between words before them."""
    tokenizer, text = adapter("bert_part"), f"And then {SIGNS}"
    windows = [(4, 300), (180, 500), (380, len(text))]
    spans = tokenizer.locate(tokenizer.encode(text), text).tolist()
    seams = [Seam(8, "K3", "4.8", witness("bert", "any", "space"))]
    for left, right in pairwise(windows):
        begin, stop = next((b, e) for b, e in spans if b > right[0] + 60 and e > b + 2)
        seams.append(common(stop, left, right, begin))
    return tokenizer, text, certificate(tokenizer, text, seams)


CASES = [
    forced_case, agreeing_case, ideographs_case, deepseek_case, run_case, mixed_case, whole_case,
    whole_run_case, words_case,
]  # fmt: skip
case = pytest.mark.parametrize("make", CASES)


@pytest.mark.ids
@case
def test_a_right_certificate_has_no_findings(make: Callable[[], tuple[Any, str, Encoding]]) -> None:
    tokenizer, text, encoding = make()
    assert encoding.seams
    for level in ("seams", "ids"):
        assert check(encoding, text, tokenizer, level).findings == ()


@case
def test_a_stored_certificate_holds_the_new_rules(
    make: Callable[[], tuple[Any, str, Encoding]],
) -> None:
    tokenizer, text, encoding = make()
    stored = from_bytes(to_bytes(encoding, text, tokenizer.name))
    assert stored.seams == encoding.seams
    assert check(stored, text, tokenizer).ok


@pytest.mark.ids
@case
def test_a_shifted_or_renamed_seam_is_found(
    make: Callable[[], tuple[Any, str, Encoding]],
) -> None:
    tokenizer, text, encoding = make()
    seams = [*enumerate(encoding.seams)]
    for k, seam in cases(seams, seams[:: 1 + len(seams) // 12]):
        change = functools.partial(dataclasses.replace, seam)
        rules: list[Any] = ["K1", "K4", "K5", "K6", "K8", "K7", None]
        theorems = {"24", "5'", "5", "11", "12", "20", ""} - {seam.theorem}
        mutants = [
            *(change(position=seam.position + step) for step in (-1, 1)),
            *(change(rule=rule) for rule in rules if rule != seam.rule),
            *(change(theorem=theorem) for theorem in theorems),
            change(witness=()),
            change(witness=seam.witness[::-1]),
            change(witness=(*seam.witness, ("more", 1))),
            change(witness=tuple((name, str(value)) for name, value in seam.witness[:-1])),
            *(change(token=token) for token in (seam.token + 1, -1, 10**6)),
        ]
        for mutant in mutants:
            level = "seams" if tokenizer.facts.tiles else "ids"
            assert not check(with_seam(encoding, k, mutant), text, tokenizer, level).ok, mutant


@case
def test_numbers_that_are_none_are_refused(make: Callable[[], tuple[Any, str, Encoding]]) -> None:
    tokenizer, text, encoding = make()
    for k, seam in enumerate(encoding.seams):
        for place, (name, value) in enumerate(seam.witness):
            for other in (-1, "x", 10**12) if isinstance(value, int) else ():
                pairs = (*seam.witness[:place], (name, other), *seam.witness[place + 1 :])
                mutant = dataclasses.replace(seam, witness=pairs)
                assert not check(with_seam(encoding, k, mutant), text, tokenizer).ok, mutant


def findings(make: Callable[[], tuple[Any, str, Encoding]], k: int, **values: int) -> set[str]:
    """Kinds of findings when values of one seam's witness are replaced."""
    tokenizer, text, encoding = make()
    seam = changed(encoding.seams[k], **values)
    return kinds(check(with_seam(encoding, k, seam), text, tokenizer))


# ------------------------------------------------------------------------------- K4


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"start": HEAD - 1}, "region"),
        ({"start": HEAD + 1}, "region"),
        ({"start": HEAD + 20}, "region"),
        ({"stop": TAIL - 1}, "region"),
        ({"stop": TAIL + 1}, "region"),
        ({"start": TAIL, "stop": HEAD}, "witness"),
        ({"start": TAIL, "stop": len(LONG)}, "piece"),
        ({"stop": len(LONG) + 1}, "witness"),
    ],
)
def test_k4_needs_a_region_between_certain_cuts(values: dict[str, int], kind: str) -> None:
    assert findings(forced_case, 0, **values) == {kind}


def test_k4_may_stand_in_any_region_around_it() -> None:
    cuts = [0, LONG.index(" words"), HEAD], [TAIL, LONG.index("."), len(LONG)]
    for start in cuts[0]:
        for stop in cuts[1]:
            assert findings(forced_case, 0, start=start, stop=stop) == set()


def test_k4_is_refused_where_a_token_occurs_across() -> None:
    tokenizer = adapter("cl100k_part")
    edges = set(edges_of(tokenizer, LONG))
    wrong = 0
    for p in range(HEAD + 150, HEAD + 250):
        encoding = by_hand(tokenizer, LONG, [forced(p, HEAD, TAIL)])
        found = kinds(check(encoding, LONG, tokenizer, level="seams"))
        assert found == ({"vocabulary"} if crossed(tokenizer, LONG, p) else set())
        assert (encoding.ids.tolist() == serial(tokenizer, LONG)) >= (not found)
        wrong += p not in edges
    assert wrong > 30


def test_k4_needs_more_of_the_pre_token_on_both_sides_than_any_token() -> None:
    tokenizer = adapter("cl100k_part")
    edges = [p for p in edges_of(tokenizer, LONG) if HEAD < p < TAIL]
    for p in edges:
        (finding,) = [*seam_findings([forced(p, HEAD, TAIL)], LONG, tokenizer.facts)] or [None]
        short = p - HEAD <= 128 or TAIL - p <= 128
        assert (finding is not None and finding.kind == "share") == short


def test_k4_counts_the_share_between_its_neighbours() -> None:
    tokenizer = adapter("cl100k_part")
    first = forced_places()[0]
    near = next(p for p in range(first + 1, TAIL) if not crossed(tokenizer, LONG, p))
    assert near < first + 128
    seams = [forced(first, HEAD, TAIL), forced(near, HEAD, TAIL)]
    encoding = certificate(tokenizer, LONG, seams)
    assert [f.kind for f in check(encoding, LONG, tokenizer).findings] == ["share", "share"]


def looked_up() -> Any:
    """A tiktoken encoding with a token that merging never makes; a piece equal to it is found."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abab": 256}
    encoding = tiktoken.Encoding(
        "looked up", pat_str=PATTERNS["gpt2"][0], mergeable_ranks=ranks, special_tokens={}
    )
    return tokpar.load(encoding)


def test_k4_beside_a_share_that_is_itself_a_token_would_be_wrong() -> None:
    """0'.7a: E(w) = [w] for w in V, though merging never reaches w."""
    tokenizer, text = looked_up(), "ababcccccccc"
    assert not crossed(tokenizer, text, 4)
    assert halves(tokenizer, text, 4) != serial(tokenizer, text)
    (finding,) = seam_findings([forced(4, 0, 12)], text, tokenizer.facts)
    assert finding.kind == "share"
    assert not list(seam_findings([forced(6, 0, 12)], text, tokenizer.facts))


def test_a_part_that_falls_apart_otherwise_is_refused_and_wrong() -> None:
    """9.4: lower case was seen on the left, which the right part alone does not know."""
    tokenizer = adapter("o200k_part")
    text = f"a{'中' * 600}亚洲AVx"
    place = next(p for p in range(200, 400) if not crossed(tokenizer, text, p))
    (finding,) = seam_findings([forced(place, 0, len(text))], text, tokenizer.facts)
    assert finding.kind == "split-closed"
    assert halves(tokenizer, text, place) != serial(tokenizer, text)


def test_a_left_part_that_falls_apart_otherwise_is_refused() -> None:
    """\\s*[\\r\\n]+ ends at the last newline, whichever that is."""
    tokenizer = tokpar.load(regex_tokenizer("qwen2").tokenizer)
    text = f"a{' ' * 20}\n{' ' * 40}\nb"
    kinds_found = {
        finding.kind
        for p in range(35, 50)
        for finding in seam_findings([forced(p, 0, len(text))], text, tokenizer.facts)
    }
    assert kinds_found == {"split-closed"}


def with_special() -> Any:
    return tokpar.load(part("cl100k_part"), allowed_special="all")


def test_an_added_token_over_the_region_is_found() -> None:
    tokenizer = with_special()
    head, tail = LETTERS[:400], LETTERS[400:]
    for text in (f"{head}<|endoftext|>{tail}", f"{head}{tail}<|endoftext|>"):
        place = forced_places()[0] - HEAD - 1
        (finding,) = seam_findings([forced(place, 0, len(text))], text, tokenizer.facts)
        assert finding.kind == "added token"
        assert not list(
            seam_findings([forced(place, 0, len(text))], text, adapter("cl100k_part").facts)
        )


def test_an_added_token_beside_the_region_does_no_harm() -> None:
    tokenizer = with_special()
    text = f"a<|endoftext|> {LETTERS} <|endoftext|>"
    start, stop = text.index(f" {LETTERS}"), text.rindex(" ")
    place = forced_places()[0] - HEAD + start
    encoding = certificate(tokenizer, text, [forced(place, start, stop)])
    assert check(encoding, text, tokenizer).ok
    assert encoding.ids.tolist() == halves(tokenizer, text, place)


def test_an_added_token_across_a_seam_without_regex_is_found_and_wrong() -> None:
    native = Tokenizer.from_str(byte_level_model())
    native.add_tokens([Added("qzqz", normalized=False)])
    tokenizer, text = tokpar.load(native), "xqxqxqxqxqzqzxqxqxqxqxq"
    place = text.index("qzqz") + 2
    assert not crossed(tokenizer, text, place)
    assert halves(tokenizer, text, place) != serial(tokenizer, text)
    assert [f.kind for f in seam_findings([forced(place, 0, 23)], text, tokenizer.facts)] == [
        "added token"
    ]
    assert not list(seam_findings([forced(place, 0, 23)], text, whole().facts))


def test_a_character_on_which_engines_may_differ_is_refused() -> None:
    tokenizer = adapter("cl100k_part")
    place = forced_places()[0] - HEAD
    text = f" {LETTERS}"
    for odd, good in [("\U000125c4", False), ("\u2e43", False), ("😀", True), ("中", True)]:
        found = [*seam_findings([forced(place, 0, len(text) + 1)], text + odd, tokenizer.facts)]
        assert [f.kind for f in found] == ([] if good else ["context"])


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"pretoken_cuts_refused": "it drops bytes"}, "undivided"),
        ({"tiles": False}, "undivided"),
        ({"model": "Unigram"}, "scheme"),
        ({"model": "WordPiece"}, "scheme"),
        ({"scheme": "dummy"}, "scheme"),
        ({"scheme": "bert"}, "scheme"),
        ({"scheme": "none"}, "scheme"),
        ({"scheme": "whole"}, "region"),
        ({"prefix_space": True}, "normalizer"),
        ({"normalizers": (tokpar.types.NormalizerStage("NFC"),)}, "normalizer"),
        ({"family": "gpt2"}, "family"),
        ({"family": None}, "family"),
        ({"engine": "oniguruma"}, "family"),
        ({"patterns": ("x",)}, "family"),
        ({"longest_token": 0}, "facts"),
        ({"tokens": None}, "facts"),
        ({"longest_token": 100}, "facts"),
        ({"unprovable": "it is random"}, "facts"),
    ],
)
def test_other_facts_license_no_seam_inside(change: dict[str, Any], kind: str) -> None:
    facts = dataclasses.replace(adapter("cl100k_part").facts, **change)
    seam = forced(forced_places()[0], HEAD, TAIL)
    assert [finding.kind for finding in seam_findings([seam], LONG, facts)] == [kind]


def test_the_model_may_be_spelt_in_any_case() -> None:
    facts = dataclasses.replace(adapter("cl100k_part").facts, model="bpe")
    assert not list(seam_findings([forced(forced_places()[0], HEAD, TAIL)], LONG, facts))


@given(
    st.sets(st.binary(min_size=1, max_size=5).map(lambda b: bytes(c % 3 for c in b)), max_size=12),
    st.lists(st.integers(0, 2), min_size=2, max_size=12).map(bytes),
    st.integers(1, 11),
)
def test_a_token_across_a_place_is_found_as_by_trying_all(
    tokens: set[bytes], text: bytes, place: int
) -> None:
    place = min(place, len(text) - 1)
    across = {
        text[i:j] for i in range(place) for j in range(place + 1, len(text) + 1)
    } & tokens  # fmt: skip
    found = Vocabulary(tokens).token_across(text[:place], text[place:])
    assert found in across if across else found is None


# ------------------------------------------------------------------------------- K5


def test_k5_needs_its_places_in_order_and_a_second_token_edge() -> None:
    tokenizer, text, encoding = agreeing_case()
    seam = encoding.seams[0]
    p, values = seam.position, dict(seam.witness)
    second, edges = int(values["second"]), edges_of(tokenizer, text)
    inside = next(q for q in range(p + 1, p + 30) if q not in edges)
    for change, kind in [
        ({"right_start": p}, "witness"),
        ({"right_start": HEAD - 1}, "witness"),
        ({"right_start": p + 1}, "witness"),
        ({"second": p}, "witness"),
        ({"left_stop": second}, "witness"),
        ({"left_stop": TAIL + 1}, "witness"),
        ({"second": inside}, "second"),
        ({"start": HEAD + 3}, "region"),
        ({"stop": TAIL - 3}, "region"),
    ]:
        assert findings(agreeing_case, 0, **change) == {kind}, change


def test_k5_is_refused_wherever_joining_gives_other_ids() -> None:
    tokenizer = adapter("cl100k_part")
    expected, edges = serial(tokenizer, LONG), edges_of(tokenizer, LONG)
    wrong = 0
    for p in range(HEAD + 150, HEAD + 250):
        right = [q + p for q in edges_of(tokenizer, LONG[p:])]
        encoding = by_hand(tokenizer, LONG, [agreeing(p, HEAD, TAIL, p - 9, right[1], p + 30)])
        found = kinds(check(encoding, LONG, tokenizer, level="seams"))
        assert (encoding.ids.tolist() == expected) == (p in edges)
        assert found == (set() if p in edges else {"pair"})
        wrong += p not in edges
    assert wrong > 30


def test_an_id_divided_beside_a_k5_seam_is_found() -> None:
    """The bytes stay the same, so only the pair tells."""
    tokenizer, text, encoding = agreeing_case()
    (seam, *_) = encoding.seams
    ids, spans = encoding.ids, tokenizer.locate(encoding.ids, text)
    for k in (seam.token - 1, seam.token):
        start, stop = spans[k].tolist()
        assert stop - start > 1
        pieces = [tokenizer.encode(char) for char in text[start:stop]]
        divided = np.concatenate((ids[:k], *pieces, ids[k + 1 :])).astype(np.uint32)
        more = len(divided) - len(ids)
        token = seam.token + (more if k < seam.token else 0)
        mutant = dataclasses.replace(seam, token=token)
        assert tokenizer.decode(divided.tolist()) == text
        report = check(encoding_of(divided, [mutant]), text, tokenizer)
        assert kinds(report) & {"pair", "second"}


def test_k5_looks_at_more_bytes_than_any_token_has() -> None:
    """0'.7a: E(ab.ab) = [abab] for the piece "abab", so that stretch alone would say nothing."""
    tokenizer, text = looked_up(), "xyzabababzyx"
    encoding = certificate(tokenizer, text, [agreeing(5, 0, 12, 1, 6, 9)])
    assert check(encoding, text, tokenizer).ok


def test_k5_is_refused_without_the_tokenizer() -> None:
    tokenizer, text, encoding = agreeing_case()
    found = list(seam_findings(encoding.seams, text, tokenizer.facts))
    assert {finding.kind for finding in found} == {"tokenizer"}


class Hiding:
    """An adapter behind truncation: finishing shows the first four ids only."""

    name = "hiding"

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.facts: Facts = inner.facts

    def encode(self, text: str) -> IdArray:
        ids: IdArray = self.inner.encode(text)
        return ids

    def locate(self, ids: IdArray, text: str) -> Any:
        return self.inner.locate(ids, text)

    special_tokens = None
    truncates_to = 4
    pads = False

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return Rows.of(rows[k][:4] for k in range(len(rows)))


def test_k5_and_k6_are_judged_where_truncation_hides_the_ids() -> None:
    for make in (agreeing_case, run_case, whole_case):
        tokenizer, text, encoding = make()
        report = check(
            encoding_of(encoding.ids[:4], encoding.seams), text, Hiding(tokenizer), "seams"
        )
        assert report.ok
        assert "limited" in report.notes[0]
    tokenizer, text, encoding = agreeing_case()
    edges = edges_of(tokenizer, text)
    for p in (p for p in range(HEAD + 150, HEAD + 200) if p not in edges):
        right = [q + p for q in edges_of(tokenizer, text[p:])]
        seam = dataclasses.replace(agreeing(p, HEAD, TAIL, p - 9, right[1], p + 30), token=3)
        report = check(encoding_of(encoding.ids[:4], [seam]), text, Hiding(tokenizer))
        assert kinds(report) == {"pair"}


def test_no_rule_inside_holds_for_facts_without_a_longest_token() -> None:
    tokenizer, text, encoding = agreeing_case()
    other = Hiding(tokenizer)
    other.facts = dataclasses.replace(tokenizer.facts, longest_token=0)
    assert "facts" in kinds(check(encoding_of(encoding.ids[:4], encoding.seams), text, other))


# ------------------------------------------------------------------------------- K6


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"start": 0}, "run"),
        ({"start": 6}, "region"),
        ({"stop": 704}, "region"),
        ({"piece_stop": 704}, "run"),
        ({"piece_stop": 706}, "run"),
        ({"token": 8314}, "run"),
        ({"length": 32}, "run"),
        ({"length": 128}, "witness"),
        ({"length": 128, "least": 321}, "run"),
        ({"length": 256}, "witness"),
        ({"length": 0}, "witness"),
        ({"length": 48}, "run"),
        ({"least": 192}, "witness"),
        ({"least": 64}, "witness"),
        ({"least": 509}, "run"),
    ],
)
def test_k6_needs_every_number_of_the_run(values: dict[str, int], kind: str) -> None:
    assert findings(run_case, 1, **values) == {kind}


def test_k6_allows_any_longer_probe_that_the_run_reaches() -> None:
    for least in (194, 300, 508):
        assert findings(run_case, 1, least=least) == set()


def test_k6_is_refused_out_of_phase_and_near_the_end() -> None:
    tokenizer, text, encoding = run_case()
    edge, stop = 5, text.index(" end")
    expected = serial(tokenizer, text)
    assert halves(tokenizer, text, edge + 250) != expected
    for p in range(edge + 200, stop):
        seam = run(p, edge, stop, stop, 8315, 64, 193)
        joined = by_hand(tokenizer, text, [encoding.seams[0], seam])
        ok = check(joined, text, tokenizer).ok
        assert ok == ((p - edge) % 64 == 0 and stop - p >= 129)
        assert not ok or joined.ids.tolist() == expected


def test_k6_is_refused_out_of_phase_where_the_ids_are_hidden() -> None:
    tokenizer, text, encoding = run_case()
    first, seam = encoding.seams
    for step in (-1, 1, 32):
        shifted = dataclasses.replace(seam, position=seam.position + step)
        found = check(encoding_of(encoding.ids[:4], [first, shifted]), text, Hiding(tokenizer))
        assert kinds(found) == {"run"}


def test_k6_needs_the_seam_before_it_at_the_start_of_the_run() -> None:
    tokenizer, text, encoding = run_case()
    seam = encoding.seams[1]
    assert kinds(check(encoding_of(encoding.ids, [seam]), text, tokenizer)) == {"run"}


def test_k6_needs_nothing_but_its_token_before_the_seam() -> None:
    tokenizer, text, encoding = run_case()
    first, seam = encoding.seams
    smaller = tokenizer.encode("=" * 32)
    assert len(smaller) == 1
    ids, k = encoding.ids, first.token
    divided = np.concatenate((ids[:k], smaller, smaller, ids[k + 1 :])).astype(np.uint32)
    later = dataclasses.replace(seam, token=seam.token + 1)
    assert tokenizer.decode(divided.tolist()) == text
    assert kinds(check(encoding_of(divided, [first, later]), text, tokenizer, level="seams")) == {
        "ids"
    }


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (f"Hello {'a' * 700} end", 5),  # the pre-token begins with a space
        (f"Hello{'=' * 350}-{'=' * 349} end", 5),
        (f"Hello{'=' * 700}\n end", 5),  # it takes the newline in
        ("7" * 700, 0),  # three by three
        ("中" * 700, 0),  # each character is three bytes
    ],
)
def test_k6_is_for_one_ascii_character_that_fills_its_pre_token(text: str, start: int) -> None:
    tokenizer = adapter("cl100k_part")
    stop = text.index(" end") if " end" in text else len(text)
    token = serial(tokenizer, text[start:])[0]
    before = [pair(5, "cl100k_tiktoken")] if start else []
    if text[start] == " ":
        before = [Seam(5, "K1", "20", witness("cl100k_tiktoken", "non-space", "space"))]
    for length in (1, 3, 8, 64):
        seam = run(start + 192, start, stop, stop, token, length, 129 + length)
        found = kinds(check(certificate(tokenizer, text, [*before, seam]), text, tokenizer))
        assert found & {"run", "piece", "region"}


def test_k6_follows_the_characters_behind_the_run() -> None:
    """The last space belongs to the next word."""
    tokenizer, text = adapter("cl100k_part"), f"x{' ' * 900}word"
    before = Seam(1, "K1", "20", witness("cl100k_tiktoken", "non-space", "space"))
    good = run(257, 1, len(text), 900, 58040, 128, 276)
    encoding = certificate(tokenizer, text, [before, good])
    assert check(encoding, text, tokenizer).ok
    mutant = changed(dataclasses.replace(good, token=encoding.seams[1].token), piece_stop=901)
    assert kinds(check(with_seam(encoding, 1, mutant), text, tokenizer)) == {"run"}


# ------------------------------------------------------------------------------- K8


def merged(tokenizer: Any, text: str, seams: Sequence[Seam]) -> Encoding:
    """What a merger makes of K8 seams: each window gives the ids between its two seams."""
    starts = byte_starts(text)
    ids: list[int] = []
    joined = []
    windows = [tuple(v for _, v in seams[0].witness)[:2]]
    windows += [tuple(v for _, v in seam.witness)[2:4] for seam in seams]
    last = -1
    for k, (start, stop) in enumerate(windows):
        part = tokenizer.encode(text[start:stop])
        spans = tokenizer.locate(part, text[start:stop]) + starts[start]
        end = starts[seams[k].position] if k < len(seams) else starts[-1] + 1
        keep = (spans[:, 0] >= last) & (spans[:, 1] <= end)
        ids += part[keep].tolist()
        if k < len(seams):
            last = int(end)
            joined.append(dataclasses.replace(seams[k], token=len(ids)))
    return encoding_of(np.array(ids, dtype=np.uint32), joined)


def shared(tokenizer: Any, text: str, left: tuple[int, int], right: tuple[int, int]) -> list[Seam]:
    """A seam after every token that both windows have at the same place."""
    starts = byte_starts(text)
    found = []
    for start, stop in (left, right):
        ids = tokenizer.encode(text[start:stop])
        spans = tokenizer.locate(ids, text[start:stop]) + starts[start]
        found.append({(b, e, i) for (b, e), i in zip(spans.tolist(), ids.tolist(), strict=True)})
    places = {int(byte): place for place, byte in enumerate(starts)}
    both = sorted(found[0] & found[1])
    return [
        common(places[e], left, right, places[b])
        for b, e, _ in both
        if right[0] <= places[b] < places[e] <= left[1] and 0 < places[e] < len(text)
    ]


def test_k8_with_one_character_too_few_in_common_is_refused_and_wrong() -> None:
    """Theorem 12 is tight: 101 letters are one unknown token, 100 are not."""
    tokenizer, text = adapter("bert_part"), ("unbelievable" * 9)[:101]
    seams = shared(tokenizer, text, (0, 100), (1, 101))
    assert seams
    assert len(serial(tokenizer, text)) == 1
    for seam in seams:
        encoding = merged(tokenizer, text, [seam])
        assert encoding.ids.tolist() != serial(tokenizer, text)
        assert kinds(check(encoding, text, tokenizer, level="seams")) == {"overlap"}
    assert not shared(tokenizer, text + "x", (0, 101), (1, 102))


@pytest.mark.parametrize("filling", ["é", "\u200b", "\t", "中", "\x7f"])
def test_k8_counts_only_characters_that_stay_one_each(filling: str) -> None:
    tokenizer = adapter("bert_part")
    for text, good in [(SIGNS, True), (f"{SIGNS[:250]}{filling}{SIGNS[250:]}", False)]:
        seams = shared(tokenizer, text, (0, 300), (180, len(text)))
        assert seams
        for seam in seams[::9]:
            encoding = merged(tokenizer, text, [seam])
            assert encoding.ids.tolist() == serial(tokenizer, text)
            assert kinds(check(encoding, text, tokenizer)) == (set() if good else {"overlap"})


def test_k8_measures_characters_that_the_normalizer_leaves() -> None:
    """Accents: 140 characters in common are 70 normalized ones, and a merge there is wrong."""
    tokenizer, text = adapter("bert_part"), "e\u0301" * 120
    seams = shared(tokenizer, text, (0, 200), (60, 240))
    assert seams
    encoding = merged(tokenizer, text, seams[:1])
    assert encoding.ids.tolist() != serial(tokenizer, text)
    assert kinds(check(encoding, text, tokenizer, level="seams")) == {"overlap"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"left_start": 9}, "window"),
        ({"right_stop": 400}, "window"),
        ({"right_stop": 499}, "window"),  # the next seam says 500
        ({"left_stop": 279}, "overlap"),
        ({"right_start": 201}, "overlap"),
        ({"token_start": 179}, "witness"),
        ({"left_start": 181}, "witness"),
    ],
)
def test_k8_needs_every_number_of_its_windows(values: dict[str, int], kind: str) -> None:
    assert kind in findings(words_case, 1, **values)


def test_k8_takes_the_window_of_the_seam_before_as_its_left_one() -> None:
    for values in ({"left_start": 179}, {"left_start": 181}, {"left_stop": 501}):
        assert findings(words_case, 2, **values) == {"window"}


def pieces_of_words(tokens: str) -> Any:
    """WordPiece with these tokens; words of more than nine characters are unknown."""
    vocabulary = {token: id_ for id_, token in enumerate(["[UNK]", *tokens.split()])}
    native = Tokenizer(
        models.WordPiece(vocab=vocabulary, unk_token="[UNK]", max_input_chars_per_word=9)
    )
    native.normalizer = normalizers.BertNormalizer()
    native.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokpar.load(native)


def test_k8_with_a_left_window_of_its_own_is_refused_and_wrong() -> None:
    """A window that begins inside the word, after the start of the last seam's window, finds a
    token of its own there. It begins before that seam, which is not enough."""
    tokenizer = pieces_of_words(
        "- a aa b baa bbaa bbb ##- ##a ##aaba ##ab ##aba ##b ##bbaa ##bbb ##bbba ##bbbb"
    )
    text = "aaabbbaba--b-abb-bb--bab"
    first = common(5, (0, 9), (0, 12), 4)
    then = common(8, (1, 12), (2, 24), 7)
    assert then in shared(tokenizer, text, (1, 12), (2, 24))
    encoding = merged(tokenizer, text, [first, then])
    assert encoding.ids.tolist() != serial(tokenizer, text)
    assert kinds(check(encoding, text, tokenizer, level="seams")) == {"window"}


def test_the_last_window_of_k8_seams_reaches_the_end() -> None:
    *_, seam = words_case()[2].seams
    end = int(dict(seam.witness)["right_stop"])
    assert findings(words_case, 2, right_stop=end - 1) == {"window"}


def test_the_common_token_lies_after_the_last_seam() -> None:
    *_, encoding = words_case()
    last = encoding.seams[1].position
    assert findings(words_case, 2, right_start=200, token_start=last - 1) == {"witness"}
    assert findings(words_case, 2, right_start=200, token_start=last) == {"pair"}


def test_k8_needs_one_and_the_same_token_in_both_windows() -> None:
    tokenizer, text, encoding = words_case()
    seam = encoding.seams[1]
    begin = int(dict(seam.witness)["token_start"])
    assert findings(words_case, 1, token_start=begin - 1) == {"pair"}
    assert findings(words_case, 1, token_start=begin + 1) == {"pair"}
    ids = encoding.ids.copy()
    for k in (seam.token - 1, seam.token):
        ids[k] += 1
        assert kinds(check(encoding_of(ids, encoding.seams), text, tokenizer, level="seams")) == {
            "ids"
        }
        ids[k] -= 1
    for count in (seam.token - 1, seam.token + 1, 0):
        mutant = dataclasses.replace(seam, token=count)
        assert "ids" in kinds(check(with_seam(encoding, 1, mutant), text, tokenizer, level="seams"))


def test_k8_windows_of_one_token_that_begin_it_differently_are_refused() -> None:
    """The right window begins inside a word: there it is no ## token, and has another id."""
    tokenizer = adapter("bert_part")
    text = f"thethethe-{SIGNS}"
    begin, stop = tokenizer.locate(tokenizer.encode(text), text).tolist()[1]
    assert text[begin:stop] == "the"
    assert edges_of(tokenizer, text[begin:])[1] == stop - begin
    encoding = certificate(tokenizer, text, [common(stop, (0, 150), (begin, len(text)), begin)])
    assert kinds(check(encoding, text, tokenizer)) == {"pair"}


def test_an_added_token_across_an_end_of_a_window_is_found() -> None:
    tokenizer, text = adapter("bert_part"), f"{SIGNS[:300]}[MASK]{SIGNS[300:]}"
    for left_stop, good in [(300, True), (303, False), (306, True)]:
        seams = shared(tokenizer, text, (0, left_stop), (100, len(text)))
        found = {
            kind
            for seam in seams[::9]
            for kind in kinds(check(certificate(tokenizer, text, [seam]), text, tokenizer))
        }
        assert found == (set() if good else {"added token"})


def test_the_character_behind_the_left_window_must_be_sure() -> None:
    tokenizer = adapter("bert_part")
    text = f"{SIGNS[:300]}\u0301{SIGNS[300:]}"
    spans = tokenizer.locate(tokenizer.encode(text), text).tolist()
    begin, stop = next((b, e) for b, e in spans if b > 150)
    seam = common(stop, (0, 300), (100, len(text)), begin)
    assert kinds(check(certificate(tokenizer, text, [seam]), text, tokenizer)) == {"normalizer"}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"scheme": "metaspace"}, "scheme"),
        ({"scheme": "none"}, "scheme"),
        ({"model": "WordLevel"}, "scheme"),
        ({"longest_word": 0}, "facts"),
        ({"longest_word": 121}, "overlap"),
        ({"normalizers": ()}, "normalizer"),
        ({"normalizers": (tokpar.types.NormalizerStage("NFD"),)}, "normalizer"),
        ({"prefix_space": True}, "normalizer"),
    ],
)
def test_other_facts_license_no_k8_seam(change: dict[str, Any], kind: str) -> None:
    tokenizer, text, encoding = words_case()
    other = Hiding(tokenizer)
    other.facts = dataclasses.replace(tokenizer.facts, **change)
    report = check(encoding_of(encoding.ids[:4], encoding.seams), text, other)
    assert [finding.kind for finding in report.findings if finding.seam == 1] == [kind]


def test_level_ids_takes_both_sides_of_a_k8_seam_together() -> None:
    """A word divided by it is not what its two halves give alone."""
    tokenizer, text, encoding = words_case()
    seam = encoding.seams[1]
    assert halves(tokenizer, text, seam.position) != serial(tokenizer, text) or any(
        halves(tokenizer, text, s.position) != serial(tokenizer, text)
        for s in shared(tokenizer, text, (0, 300), (180, len(text)))
    )
    assert check(encoding, text, tokenizer).ok
    ids = encoding.ids.copy()
    ids[seam.token + 20] += 1
    assert check(encoding_of(ids, encoding.seams), text, tokenizer, "seams").ok
    assert kinds(check(encoding_of(ids, encoding.seams), text, tokenizer)) == {"serial"}


# ------------------------------------------------------------------------------- any text


POOL = [
    *"aabbABsldvre'tT12.,-=\n 中文éxyz",
    "  ",
    "aaaa",
    "abab",
    "\n\n",
    "AVx",
    "'s",
    "中中",
    "12345",
]
TEXTS = st.lists(st.sampled_from(POOL), min_size=12, max_size=60).map("".join)
SCHEMES = [*REGEX_FAMILIES, "whole"]


@functools.cache
def drawn(scheme: str) -> Any:
    """A BPE with short tokens that cross every border, behind each kind of pre-tokenizer."""
    return whole() if scheme == "whole" else tokpar.load(regex_tokenizer(scheme).tokenizer)


def spaces(text: str, facts: Facts) -> list[int]:
    """The U1 cuts of a text."""
    if facts.scheme != "regex":
        return []
    return [found.start() for found in regex.finditer(r"(?<=\S) ", text)]


def regions(text: str, cuts: Sequence[int], position: int) -> set[tuple[int, int]]:
    """The whole text, and the narrowest stretch between cuts."""
    left = max((cut for cut in cuts if cut < position), default=0)
    right = min((cut for cut in cuts if cut > position), default=len(text))
    return {(0, len(text)), (left, right)}


def seconds(tokenizer: Any, text: str, position: int) -> int:
    """The second place at which a token of the right part begins, or any place behind."""
    edges = edges_of(tokenizer, text[position:])
    return position + (edges[1] if len(edges) > 1 else 1)


def claims(tokenizer: Any, text: str) -> Iterator[Seam]:
    """K4, K5 and K6 seams that a wrong planner might make: everywhere."""
    cuts = spaces(text, tokenizer.facts)
    for p in range(1, len(text)):
        second = seconds(tokenizer, text, p)
        for start, stop in sorted(regions(text, cuts, p)):
            yield forced(p, start, stop)
            yield agreeing(p, start, stop, p - 1, second, len(text))


@pytest.mark.ids
@given(TEXTS, st.sampled_from(SCHEMES), st.randoms(use_true_random=False))
def test_whatever_is_licensed_gives_the_serial_ids(
    text: str, scheme: str, draw: random.Random
) -> None:
    tokenizer = drawn(scheme)
    expected = serial(tokenizer, text)
    pieces = Scanner(tokenizer.facts).edges(text)
    assert pieces is not None
    good = []
    for position, seams in groupby(claims(tokenizer, text), lambda seam: seam.position):
        halved, joined = ids_by_hand(tokenizer, text, [forced(position, 0, len(text))])
        ids = postprocess_single(tokenizer, halved, text)
        for seam in seams:
            if seam.rule == "K5":
                last = min(len(text), dict(seam.witness)["left_stop"])
                after = [int(edge) for edge in pieces if edge > position]
                seam = changed(seam, left_stop=min([int(last), *after[:1]]))
            encoding = encoding_of(ids, [dataclasses.replace(seam, token=joined[0].token)])
            if check(encoding, text, tokenizer).ok:
                assert ids.tolist() == expected, (seam, text, scheme)
                good.append(seam)
    for _ in range(5):
        some = sorted(draw.sample(good, min(len(good), 3)), key=lambda seam: seam.position)
        encoding = by_hand(tokenizer, text, some)
        if check(encoding, text, tokenizer).ok:
            assert encoding.ids.tolist() == expected, (some, text, scheme)


def test_some_of_what_is_claimed_is_licensed_for_every_scheme() -> None:
    """Else the property above would say nothing."""
    text = "a " + "absdlvre" * 8 + " 中文中中文文中中文中文 ab" + "==--.,-=" * 5
    for scheme in SCHEMES:
        tokenizer = drawn(scheme)
        found = {
            seam.rule
            for seam in claims(tokenizer, text)
            if seam.rule == "K4" and not list(seam_findings([seam], text, tokenizer.facts))
        }
        edges = edges_of(tokenizer, text)
        for p, second in pairwise(edges):
            pieces = Scanner(tokenizer.facts).edges(text)
            assert pieces is not None
            stop = int(min(edge for edge in pieces if edge > p))
            seam = agreeing(p, 0, len(text), p - 1, second, stop)
            if p and check(certificate(tokenizer, text, [seam]), text, tokenizer).ok:
                found.add("K5")
        assert found == {"K4", "K5"}, scheme


@pytest.mark.ids
@given(st.sampled_from("ab =1-\nx"), st.integers(20, 90), st.integers(1, 7), st.integers(8, 30),
       st.sampled_from(SCHEMES), st.sampled_from(["", " ", "b", "\n", ".", "a"]))  # fmt: skip
def test_licensed_runs_give_the_serial_ids(
    char: str, size: int, length: int, least: int, scheme: str, behind: str
) -> None:
    tokenizer, text = drawn(scheme), char * size + behind
    token = serial(tokenizer, text)[0]
    pieces = Scanner(tokenizer.facts).edges(text)
    assert pieces is not None
    for p in range(length, size, length):
        seam = run(p, 0, len(text), int(pieces[1]), token, length, least)
        right = tokenizer.encode(text[p:])
        ids = np.concatenate(([token] * (p // length), right)).astype(np.uint32)
        encoding = encoding_of(ids, [dataclasses.replace(seam, token=p // length)])
        if check(encoding, text, tokenizer).ok:
            assert ids.tolist() == serial(tokenizer, text)


BERT_PIECES = [
    "the",
    "a",
    "b",
    "hello",
    "tuv",
    "-",
    ".",
    " ",
    "lo",
    "aab",
    "é",
    "\u0301",
    "中",
    "X",
]
BERT_TEXTS = st.lists(st.sampled_from(BERT_PIECES), min_size=8, max_size=40).map("".join)


@pytest.mark.ids
@given(BERT_TEXTS, st.integers(0, 9), st.lists(st.integers(0, 80), min_size=4, max_size=4))
def test_licensed_windows_of_wordpiece_give_the_serial_ids(
    text: str, seed: int, places: list[int]
) -> None:
    """Words of more than five characters are unknown, so that short texts show everything."""
    tokenizer = tokpar.load(build(WordPieceSpec(seed=seed, words=40, max_characters=5)))
    a, b, c, d = (min(place, len(text)) for place in sorted(places))
    expected = serial(tokenizer, text)
    pairs = [((0, b), (a, len(text))), ((0, c), (a, len(text))), ((0, d), (a, len(text)))]
    for left, right in pairs:
        for seam in shared(tokenizer, text, left, right):
            encoding = merged(tokenizer, text, [seam])
            if check(encoding, text, tokenizer).ok:
                assert encoding.ids.tolist() == expected, (seam, text)
    for first in shared(tokenizer, text, (0, b), (a, d))[:4]:
        for then in shared(tokenizer, text, (a, d), (c, len(text)))[:4]:
            if first.position <= dict(then.witness)["token_start"]:  # type: ignore[operator]
                encoding = merged(tokenizer, text, [first, then])
                if check(encoding, text, tokenizer).ok:
                    assert encoding.ids.tolist() == expected, (first, then, text)


# ------------------------------------------------------------------------------- the scan


@given(st.lists(st.sampled_from([*POOL, "\r\n", "\t", "😀", "e\u0301", "１２"]), max_size=20)
       .map("".join), st.sampled_from(REGEX_FAMILIES))  # fmt: skip
def test_the_scan_finds_the_pre_tokens_of_the_engine(text: str, family: str) -> None:
    tokenizer = drawn(family)
    native = regex_tokenizer(family).tokenizer.pre_tokenizer.pre_tokenize_str(text)
    edges = Scanner(tokenizer.facts).edges(text)
    assert edges is not None
    assert edges.tolist() == sorted({0, len(text), *(stop for _, (_, stop) in native)})


def test_white_space_at_the_very_end_is_one_pre_token_for_cl100k() -> None:
    scanner = Scanner(adapter("cl100k_part").facts)
    for text, expected in [("a \n", [0, 1, 3]), ("a  \n\n", [0, 1, 5]), ("a  \n b", [0, 1, 4, 6])]:
        edges = scanner.edges(text)
        assert edges is not None
        assert edges.tolist() == expected


def test_the_frozen_tables_hold_no_character_that_the_scan_may_misread() -> None:
    scanner = Scanner(adapter("cl100k_part").facts)
    tables = load_tables()
    for char in ("\U000125c4", "\u2e43", "\U0001fae0", "\ua7cb"):
        assert tables.atom_of(char) is None
        assert scanner.edges(f"a{char}b") is None
