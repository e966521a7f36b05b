"""A certificate comes from anywhere: no number in it is a traceback, and the work of checking it
grows with the text and the number of seams, not with their product. Characters are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.seams import part
from tokpar.certificate import pretoken_regions as region_module
from tokpar.certificate import tokenizer_probe as answers_module
from tokpar.certificate.added_token_rule import Occurrences
from tokpar.certificate.certificate_file import to_bytes
from tokpar.certificate.pretoken_regions import Scanner
from tokpar.cli import main
from tokpar.encoding import Encoding
from tokpar.interfaces import TokenizerAdapter
from tokpar.types import Seam

HUGE = [2**40, 2**63, 2**64, -(2**63), 10**30]


def letters(count: int) -> str:
    """Words of 400 letters of chance, with a space between: each is one long pre-token."""
    random = Random(7)
    words = ["".join(random.choices("abcdefgh", k=400)) for _ in range(count)]
    return " ".join(words)


TEXT = letters(60)


def encoded(strategy: str = "auto", **options: int) -> Encoding:
    return tokpar.encode(TEXT, part("cl100k_part"), strategy=strategy, **options)


@cache
def divided() -> tuple[Encoding, list[Seam]]:
    """An encoding, and which of its seams lie inside pre-tokens."""
    encoding = encoded(chunk_chars=170)
    inside = [seam for seam in encoding.seams if seam.rule in ("K4", "K5")]
    assert len(inside) > 40
    return encoding, inside


def with_witness(seam: Seam, **changes: int) -> Seam:
    return replace(seam, witness=tuple((n, changes.get(n, value)) for n, value in seam.witness))


# ------------------------------------------------------------------------------- numbers


def test_the_command_says_in_one_line_what_is_wrong_with_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers in files: tests/certificate/test_certificate_files.py."""
    text, certificate = tmp_path / "text.txt", tmp_path / "certificate"
    text.write_text(TEXT, encoding="utf-8")
    encoding, _ = divided()
    data = to_bytes(encoding, TEXT, "cl100k_part")
    for broken in (data[: len(data) // 2], b"", b"{}", data.replace(b'"code_points":', b'"cod":')):
        certificate.write_bytes(broken)
        assert main(["check", str(text), "--certificate", str(certificate)]) == 2
        said = capsys.readouterr().err
        assert len(said.strip().splitlines()) == 1
        assert "Traceback" not in said


@given(
    number=st.sampled_from([*HUGE, -1, 0, 1, len(TEXT)]) | st.integers(),
    name=st.sampled_from(["position", "token", "start", "stop", "right_start", "second"]),
    which=st.integers(0, 200),
)
def test_an_encoding_with_any_number_in_a_seam_is_reported_on(
    number: int, name: str, which: int
) -> None:
    """One that was made in memory passes no reader."""
    encoding, _ = divided()
    seams = list(encoding.seams)
    k = which % len(seams)
    if name in ("position", "token"):
        seams[k] = replace(seams[k], **{name: number})
    else:
        seams[k] = with_witness(seams[k], **{name: number})
    report = tokpar.check(replace(encoding, seams=tuple(seams)), TEXT, part("cl100k_part"))
    assert report.ok or report.findings


# ------------------------------------------------------------------------------- work


@dataclass
class Work:
    """Characters that were scanned, and looked through for added tokens."""

    scanned: int = 0
    searched: int = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done = Work()
    edges, touching = Scanner.edges, Occurrences.touching

    def counted(self: Scanner, text: str) -> Any:
        done.scanned += len(text)
        return edges(self, text)

    def searching(self: Occurrences, text: str, start: int, stop: int) -> Any:
        done.searched += stop - start
        return touching(self, text, start, stop)

    monkeypatch.setattr(Scanner, "edges", counted)
    monkeypatch.setattr(Occurrences, "touching", searching)
    return done


def cuts_of(text: str) -> Iterator[int]:
    yield from (k for k, char in enumerate(text) if char == " ")


def whole(_: Seam) -> tuple[int, int]:
    return 0, len(TEXT)


def to_the_end(seam: Seam) -> tuple[int, int]:
    """From the last space before the seam: another region for each word."""
    return max((k for k in cuts_of(TEXT) if k < seam.position), default=0), len(TEXT)


def from_the_start(seam: Seam) -> tuple[int, int]:
    return 0, min((k for k in cuts_of(TEXT) if k > seam.position), default=len(TEXT))


def by_chance(seam: Seam) -> tuple[int, int]:
    random = Random(seam.position)
    before = [0, *(k for k in cuts_of(TEXT) if k < seam.position)]
    behind = [*(k for k in cuts_of(TEXT) if k > seam.position), len(TEXT)]
    return random.choice(before), random.choice(behind)


REGIONS = [whole, to_the_end, from_the_start, by_chance]


def renamed(encoding: Encoding, region: Callable[[Seam], tuple[int, int]]) -> Encoding:
    seams = []
    for seam in encoding.seams:
        names = dict(zip(("start", "stop"), region(seam), strict=True))
        seams.append(with_witness(seam, **names) if seam.rule in ("K4", "K5") else seam)
    return replace(encoding, seams=tuple(seams))


@pytest.mark.parametrize("region", REGIONS)
def test_regions_that_overlap_are_scanned_once(
    region: Callable[[Seam], tuple[int, int]], work: Work
) -> None:
    encoding, inside = divided()
    tokpar.check(encoding, TEXT, part("cl100k_part"))
    usual = work.scanned
    assert usual < 5 * len(TEXT) + 600 * len(inside)
    work.scanned = work.searched = 0
    report = tokpar.check(renamed(encoding, region), TEXT, part("cl100k_part"))
    assert report.ok, report.findings
    assert work.scanned <= usual + len(TEXT)
    assert work.searched <= len(TEXT)


@pytest.mark.parametrize("region", [to_the_end, by_chance])
def test_regions_that_are_refused_are_not_looked_through_again_and_again(
    region: Callable[[Seam], tuple[int, int]], work: Work
) -> None:
    """The engines may differ on a character near the end, and so on all regions with it in."""
    encoding, _ = divided()
    text = TEXT[:-2] + "\U000125c4" + TEXT[-1]
    report = tokpar.check(renamed(encoding, region), text, part("cl100k_part"))
    assert {"context", "work"} & {finding.kind for finding in report.findings}
    assert work.scanned < (region_module.IN_VAIN + 6) * len(text) + 600 * len(encoding.seams)
    assert work.searched < (region_module.IN_VAIN + 3) * len(text)


SENTENCES = "the cat of a man in the house and the dog by the sea " * 60


def windows(right_start: Callable[[int], int]) -> tuple[Encoding, TokenizerAdapter]:
    """K8 seams behind every tenth token; all windows reach to the end of the text, and the right
    one of a seam begins where `right_start` tells of the place of its token."""
    own = tokpar.load(part("bert_part"), add_special_tokens=False)
    encoding = tokpar.encode(SENTENCES, own, strategy="serial")
    seams: list[Seam] = []
    last = 0
    for number in range(10, len(encoding.ids) - 60, 10):
        begin, end = encoding.spans[number - 1].tolist()
        first, last = last, right_start(begin)
        places = (first, len(SENTENCES), last, len(SENTENCES), begin)
        names = ("left_start", "left_stop", "right_start", "right_stop", "token_start")
        witness = tuple(zip(names, places, strict=True))
        seams.append(Seam(end, "K8", "12", witness, token=number))
    assert len(seams) > 50
    return replace(encoding, seams=tuple(seams)), own


def test_windows_of_the_whole_text_are_tokenized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding, own = windows(lambda begin: 0)
    encode, looked = type(own).encode, [0]

    def counted(self: TokenizerAdapter, text: str) -> Any:
        looked[0] += len(text)
        return encode(self, text)

    monkeypatch.setattr(type(own), "encode", counted)
    report = tokpar.check(encoding, SENTENCES, own)
    assert report.ok, report.findings
    assert looked[0] <= 4 * len(SENTENCES)


def test_windows_that_are_all_others_are_tokenized_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoding, own = windows(lambda begin: max(0, begin - 40))
    report = tokpar.check(encoding, SENTENCES, own)
    assert report.ok, report.findings
    monkeypatch.setattr(answers_module, "OF_THE_TEXT", 3)
    monkeypatch.setattr(answers_module, "FOR_A_SEAM", 0)
    report = tokpar.check(encoding, SENTENCES, own)
    assert {finding.kind for finding in report.findings} == {"work"}
    assert "parts of over" in report.findings[0].message


def test_what_strategies_make_is_far_below_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "OF_THE_TEXT", 8)
    text = SENTENCES
    for strategy in ("lopt", "recursive", "blocks", "auto"):
        encoding = tokpar.encode(text, part("bert_part"), strategy=strategy)
        assert tokpar.check(encoding, text, part("bert_part")).ok
    edges = [0, *(seam.position for seam in divided()[0].seams), len(TEXT)]
    assert all(a < b for a, b in pairwise(edges))


def test_inserted_ids_are_known_where_nothing_is_cut_or_padded() -> None:
    tokenizer: Any = tokpar.load(part("bert_part"), truncation=False, padding=False)
    assert tuple(map(len, tokenizer.special_tokens)) == (1, 1)
    text = "One two three four five"
    encoding = tokpar.encode(text, tokenizer)
    assert tokpar.check(encoding, text, tokenizer, level="seams").ok
    for place in (0, len(encoding.ids) - 1):
        ids = encoding.ids.copy()
        ids[place] += 1
        changed = replace(encoding, ids=ids)
        [finding] = tokpar.check(changed, text, tokenizer, level="seams").findings
        assert finding.kind == "inserted"
        expected = f"id {place}: expected {encoding.ids[place]} to be inserted, got {ids[place]}"
        assert finding.message == expected
    [finding] = tokpar.check(
        replace(encoding, ids=encoding.ids[:1]), text, tokenizer, level="seams"
    ).findings
    assert finding.message == "expected at least the 2 ids that are inserted, got 1"
