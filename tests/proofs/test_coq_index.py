"""The table of proofs/README.md says what Coq checks: pages, Coq files and rules agree."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.recipes.coq_tables import decided_tables
from tests.support.paths import ROOT

PROOFS = ROOT / "proofs"
INDEX = PROOFS / "README.md"
GUIDE = PROOFS / "coq" / "README.md"
PAPER_ONLY = "paper only"
NAMES = re.compile(r"`([\w']+)`")
NUMBER = r"\d+(?:\.\d+)?'?"


@dataclass(frozen=True)
class Row:
    """One theorem: its page, the cell about Coq, what rests on it, whose ids depend on it."""

    title: str
    page: str
    coq: str
    rests: str
    tokenizers: str

    @property
    def statements(self) -> set[str]:
        return set(NAMES.findall(self.coq))

    @property
    def rules(self) -> set[str]:
        return set(re.findall(r"\bK\d+\b", self.rests))


def section(title: str) -> str:
    text = INDEX.read_text(encoding="utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def table() -> list[Row]:
    rows = re.findall(
        r"^\| \[([^\]]+)\]\(([\w.-]+)\) \| (.+?) \| (.+?) \| (.+?) \|$",
        section("What Coq checks, and what rests on it"),
        re.MULTILINE,
    )
    return [Row(*row) for row in rows]


ROWS = table()


def indexed_pages() -> list[str]:
    """The pages of the first table of the index, in its order."""
    first = INDEX.read_text(encoding="utf-8").partition("\n## ")[0]
    return re.findall(r"^\| \[[^\]]+\]\(([\w.-]+\.md)\) \|", first, re.MULTILINE)


def coq_statements() -> dict[str, set[str]]:
    """Page -> the names of its statements in the guide of the Coq files."""
    found: dict[str, set[str]] = {}
    for line in GUIDE.read_text(encoding="utf-8").partition("## Statements")[2].splitlines():
        if page := re.match(r"\| \[[^\]]+\]\(\.\./([\w.-]+)\)", line):
            found.setdefault(page[1], set()).update(NAMES.findall(line))
    return found


def rules_of_pages() -> dict[str, set[str]]:
    """Page -> the rules of seams that name its theorem."""
    found: dict[str, set[str]] = {}
    for rule, cell in re.findall(r"^\| (K\d+): .*? \| (.+?) \|", section("Kinds of seams"), re.M):
        for number in re.findall(NUMBER, cell):
            found.setdefault(f"theorem-{number.rstrip(chr(39))}.md", set()).add(rule)
    return found


def test_there_is_one_row_for_each_page() -> None:
    assert [row.page for row in ROWS] == indexed_pages()
    assert [row.page for row in ROWS if not (PROOFS / row.page).is_file()] == []
    unnamed = {page.name for page in PROOFS.glob("theorem-*.md")} - {row.page for row in ROWS}
    assert not unnamed, "a theorem has no row in proofs/README.md, What Coq checks"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_a_row_names_the_statements_of_its_page_or_says_paper_only(row: Row) -> None:
    """test_coq.py shows that each of these is a theorem of the Coq files, closed."""
    expected = coq_statements().get(row.page, set())
    assert row.statements == expected
    assert (row.coq == PAPER_ONLY) == (not expected)


def test_no_statement_of_coq_is_left_out() -> None:
    assert set(coq_statements()) <= {row.page for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_a_row_names_every_rule_that_names_its_theorem(row: Row) -> None:
    assert rules_of_pages().get(row.page, set()) <= row.rules
    assert row.rests
    assert row.tokenizers


def test_the_families_that_coq_computes_are_named() -> None:
    (row,) = [row for row in ROWS if row.page == "theorem-42.md"]
    named = set(row.tokenizers.partition("computed in Coq for ")[2].split(", "))
    assert named == {family for family, _, _ in decided_tables()}
