"""What the code rests on has a page in proofs/, and no page leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokpar
from tests.support.paths import ROOT
from tests.support.proof_pages import PROOFS, page_of
from tokpar.certificate.check_context import CheckContext
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.rule_checker import RuleChecker
from tokpar.registry.tables import StrategyRecord, registry
from tokpar.types import Facts, Rule, Theorem

OWNERS = (
    "tokpar",
    "tokpar-strategies",
    "this program",
)  # the last: registered by tests/conftest.py
OWN_STRATEGIES = [each for each in registry().strategies() if each.owner in OWNERS]
NAMED = (
    "chunks.md",
    "compiled-call.md",
    "decoding.md",
    "end-to-end.md",
    "incremental-bpe.md",
    "stream.md",
    "untrusted.md",
    "window-lemma.md",
)
PAGES = sorted([*PROOFS.glob("[0-9]*.md"), *(PROOFS / name for name in NAMED)])
DEFINITIONS = PROOFS / "definitions.md"
README = PROOFS / "README.md"
FACTS = PROOFS / "facts.md"
CLAIMS = sorted({*PROOFS.glob("*.md")} - {*PAGES, DEFINITIONS, README, FACTS})
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(PROOFS.glob("*.md")),
]
NUMBER = r"\d+(?:\.\d+)?'?"
CITED = re.compile(
    rf"\b(?:theorems?|lemmas?|facts?|definitions?|corollary|corollaries)\s+({NUMBER}(?:(?:,\s+|-|\s+and\s+|,\s+and\s+){NUMBER})*)",
    re.IGNORECASE,
)
IN_SEAMS = re.compile(rf'"(?:{"|".join(Rule)})",\s*"({NUMBER})"')
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
STATEMENTS = [
    *map(str, [*range(1, 8), *range(13, 18), 20, 23, 24, 26, 27, 29]),
    *map(str, [32, 33, 34, 35, 36, *range(38, 44), 45, 50, 51, 52, 53, *range(55, 62)]),
    "62",
    "63",
    "5'",
    "4.8",
    "6.1",
    "6.2",
    "6.3",
    "6.4",
    "6.5",
    "3.1",
]
"""All numbered statements of the theory."""


def expanded(citation: str) -> Iterator[str]:
    """The numbers of "14 and 18-22", ranges spelled out."""
    for part in re.split(r",\s+(?:and\s+)?|\s+and\s+", citation):
        first, dash, last = part.partition("-")
        yield from map(str, range(int(first), int(last) + 1)) if dash else [first]


def cited_in(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    numbers = {number for match in CITED.finditer(text) for number in expanded(match[1])}
    return numbers | set(IN_SEAMS.findall(text))


@pytest.mark.parametrize("path", sorted((ROOT / "tokpar").rglob("*.py")), ids=lambda p: p.stem)
def test_every_theorem_the_source_names_has_a_page(path: Path) -> None:
    assert [number for number in cited_in(path) if not page_of(number).is_file()] == []


def test_the_source_does_name_theorems() -> None:
    assert {"4.8", "6.4", "50"} <= cited_in(ROOT / "tokpar" / "cuts" / "finder.py")
    assert {"20", "40", "43"} <= cited_in(ROOT / "tokpar" / "cuts" / "pair_seams.py")


def test_the_theorem_of_every_seam_has_a_page() -> None:
    text = "Numbers 1234567, words.\nAnd lines:\n\n" * 200
    encoding = tokpar.encode(text, strategy="cut", chunk_chars=1)
    theorems = {seam.theorem for seam in encoding.seams}
    assert len(theorems) > 1
    assert all(page_of(theorem).is_file() for theorem in theorems)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_statement_proof_counterexamples_and_tests(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    wanted = ["Statement", "Proof", "Each hypothesis is needed", "Code and tests"]
    assert [section for section in sections if section in wanted] == wanted
    assert "∎" in text
    assert f"({page.name})" in (PROOFS / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\]\(\.\./(?:plugins/[\w-]+/)?tests/(?:\w+/)*test_\w+\.py\)", text)


@pytest.mark.parametrize("page", CLAIMS, ids=lambda page: page.stem)
def test_a_published_claim_has_where_it_holds_where_not_and_what_is_done(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections == [
        "Claim",
        "Where it is true",
        "Where it is false",
        "Repaired",
        "Code and tests",
    ]
    assert f"({page.name})" in (PROOFS / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\]\(\.\./(?:plugins/[\w-]+/)?tests/(?:\w+/)*test_\w+\.py\)", text)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    local = [link.partition("#")[0] for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("number", STATEMENTS)
def test_every_statement_of_the_theory_has_its_place(number: str) -> None:
    """A page of its own, or a page that names it as theorem, lemma, fact or definition."""
    text = page_of(number).read_text(encoding="utf-8")
    assert number in {n for match in CITED.finditer(text) for n in expanded(match[1])}


@pytest.mark.parametrize("page", [*PAGES, *CLAIMS], ids=lambda page: page.stem)
def test_every_page_leads_to_the_definitions(page: Path) -> None:
    assert "](definitions.md" in page.read_text(encoding="utf-8")


def section(title: str) -> str:
    """One section of the index."""
    text = README.read_text(encoding="utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows_of(title: str) -> dict[str, str]:
    """First cell -> the rest of the row, of the table in a section of the index."""
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", section(title), re.MULTILINE)
    return dict(rows[1:])


def linked(text: str) -> set[str]:
    return {link for link in LINK.findall(text) if link.endswith(".md")}


def test_the_definitions_are_the_first_link_of_the_index() -> None:
    assert LINK.findall(README.read_text(encoding="utf-8"))[0] == "definitions.md"


@pytest.mark.parametrize("record", OWN_STRATEGIES, ids=lambda record: record.name)
def test_every_strategy_has_its_theorems_or_its_claim(record: StrategyRecord) -> None:
    pages = linked(rows_of("Strategies")[record.name])
    proved = {page for page in pages if PROOFS / page in PAGES}
    if record.lossless and record.name != "serial":
        assert proved, f"{record.name} is lossless by no theorem"
    if not record.lossless:
        assert pages & {page.name for page in CLAIMS}


def test_no_strategy_is_listed_that_does_not_exist() -> None:
    assert set(rows_of("Strategies")) == {each.name for each in OWN_STRATEGIES}


@pytest.mark.parametrize("rule", [*Rule])
def test_every_rule_of_seams_names_theorems_that_have_a_page(rule: str) -> None:
    numbers = re.findall(NUMBER, rows_of("Kinds of seams")[rule].partition(" | ")[0])
    assert numbers
    assert [number for number in numbers if not page_of(number).is_file()] == []


def test_the_checker_knows_no_rule_or_theorem_that_the_index_does_not_list() -> None:
    """Each (rule, theorem) by which the checker licenses a seam."""
    ground = CheckContext("text", Facts(engine="", model=""), load_tables())
    pairs = RuleChecker(ground).known_rules
    rows = rows_of("Kinds of seams")
    assert {rule for rule, _ in pairs} == {*Rule}
    for rule, theorem in pairs:
        assert theorem in re.findall(NUMBER, rows[rule].partition(" | ")[0]), (rule, theorem)
    assert {(theorem.rule, theorem) for theorem in Theorem} <= set(pairs)
