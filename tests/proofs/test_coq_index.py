"""The index in proofs/README.md says what Coq checks: pages, Coq files and rules agree."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.recipes.coq_tables import decided_tables
from tests.support.proof_pages import PROOFS, page_of
from tokpar.types import Rule

INDEX = (PROOFS / "README.md").read_text(encoding="utf-8")
GUIDE = (PROOFS / "coq" / "README.md").read_text(encoding="utf-8")
NUMBER = r"\d+(?:\.\d+)?"


class Row(NamedTuple):
    """One theorem: its names, its page, its claim, what Coq proves, what rests on it."""

    title: str
    page: str
    says: str
    coq: str
    used_by: str


def section(title: str) -> str:
    return INDEX.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


ROWS = [
    Row(*row)
    for row in re.findall(
        r"^\| \[([^\]]+)\]\(([\w.-]+)\) \| (.+?) \| (.+?) \| (.+?) \|$",
        section("What Coq checks, and what rests on it"),
        re.MULTILINE,
    )
]


def pages_in_coq() -> set[str]:
    """The pages whose statements the guide of the Coq files lists; test_coq.py shows that they are
    theorems of these files, closed, and that each page names its own."""
    table = GUIDE.partition("## Statements")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| \[[^\]]+\]\(\.\./([\w.-]+)\)", table, re.MULTILINE))


def rules_of_pages() -> dict[str, set[str]]:
    """Page -> the rules of seams that name its theorem."""
    found: dict[str, set[str]] = {}
    rules = "|".join(Rule)
    for rule, cell in re.findall(rf"^\| ({rules}) \| (.+?) \|", section("Kinds of seams"), re.M):
        for number in re.findall(NUMBER, cell):
            found.setdefault(page_of(number).name, set()).add(rule)
    return found


def test_each_page_has_one_row() -> None:
    pages = [row.page for row in ROWS]
    assert len(pages) == len(set(pages))
    assert {page.name for page in PROOFS.glob("[0-9]*.md")} <= set(pages)
    assert [page for page in pages if not (PROOFS / page).is_file()] == []


def test_a_row_says_paper_if_coq_has_no_statement_of_its_page() -> None:
    assert {row.page for row in ROWS if row.coq != "paper"} == pages_in_coq()


def test_a_row_names_every_rule_that_names_its_theorem() -> None:
    used_by = {row.page: set(re.findall(r"\b[A-Z]{4,5}\b", row.used_by)) for row in ROWS}
    named = rules_of_pages()
    assert set().union(*named.values()) == {*Rule}
    assert {page for page, rules in named.items() if not rules <= used_by[page]} == set()


def test_the_families_that_coq_computes_are_named() -> None:
    (row,) = [row for row in ROWS if row.page == "42-windows-and-rows.md"]
    named = set(row.used_by.partition("computed in Coq for ")[2].split(", "))
    assert named == {family for family, _, _ in decided_tables()}
