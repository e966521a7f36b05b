"""What the code rests on has a page in proofs/, and no page leads nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokpar

ROOT = Path(__file__).parent.parent
PROOFS = ROOT / "proofs"
FAMILIES = ROOT / "tokpar" / "cuts" / "tables" / "families.json"
NAMED = ("incremental-bpe.md", "stream.md", "window-lemma.md")
PAGES = sorted([*PROOFS.glob("theorem-*.md"), *(PROOFS / name for name in NAMED)])
CLAIMS = sorted({*PROOFS.glob("*.md")} - {*PAGES, PROOFS / "README.md"})
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(PROOFS.glob("*.md")),
]
NUMBER = r"\d+(?:\.\d+)?'?"
CITED = re.compile(
    rf"\b(?:theorems?|lemmas?|corollary|corollaries)\s+({NUMBER}(?:(?:,\s+|-|\s+and\s+|,\s+and\s+){NUMBER})*)",
    re.IGNORECASE,
)
IN_SEAMS = re.compile(rf'"K\d",\s*"({NUMBER})"')
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
# what is proved on a page with another name; 3.1 is LoPT's
INSIDE = {"17": "theorem-14.md", "5'": "theorem-5.md", "3.1": "lopt-theorem-3.1.md"}


def expanded(citation: str) -> Iterator[str]:
    """The numbers of "14 and 18-22", ranges spelled out."""
    for part in re.split(r",\s+(?:and\s+)?|\s+and\s+", citation):
        first, dash, last = part.partition("-")
        yield from map(str, range(int(first), int(last) + 1)) if dash else [first]


def cited_in(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    numbers = {number for match in CITED.finditer(text) for number in expanded(match[1])}
    return numbers | set(IN_SEAMS.findall(text))


def page_of(theorem: str) -> Path:
    return PROOFS / INSIDE.get(theorem, f"theorem-{theorem}.md")


@pytest.mark.parametrize("path", sorted((ROOT / "tokpar").rglob("*.py")), ids=lambda p: p.stem)
def test_every_theorem_the_source_names_has_a_page(path: Path) -> None:
    assert [number for number in cited_in(path) if not page_of(number).is_file()] == []


def test_the_source_does_name_theorems() -> None:
    assert {"20", "22", "4.8", "6.4"} <= cited_in(ROOT / "tokpar" / "cuts" / "finder.py")


def test_every_theorem_of_the_tables_has_a_page() -> None:
    families = json.loads(FAMILIES.read_text(encoding="utf-8"))["families"].values()
    pairs = {t for family in families for row in family["pairs"].values() for t in row.values()}
    triples = {t[-1] for family in families for t in family["triples"] + family["left_triples"]}
    assert {"19", "20", "21", "4.8"} <= pairs
    assert [number for number in pairs | triples if not page_of(number).is_file()] == []


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
    assert re.search(r"\]\(\.\./tests/test_\w+\.py\)", text)


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
    assert re.search(r"\]\(\.\./tests/test_\w+\.py\)", text)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    local = [link.partition("#")[0] for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []
