"""Each hypothesis earns its place: every row of the tables of counterexamples names a test.

A name in brackets is the id of one case of the test, "test_x[case]". What no test shows is no
counterexample, and what needs none is no hypothesis.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT, TESTS

PROOFS = ROOT / "proofs"
SECTIONS = ("Each hypothesis is needed", "Where it is false")
NAMED = re.compile(r"`(test_\w+)(?:\[([^`]*)\])?`")
PAGES = [
    page
    for page in sorted(PROOFS.glob("*.md"))
    if page.stem not in ("README", "definitions", "facts")
]


def table(page: Path) -> list[str]:
    """The rows of the page's table of counterexamples, its head first."""
    text = page.read_text(encoding="utf-8")
    title = next(title for title in SECTIONS if f"\n## {title}\n" in text)
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    head, _, *rows = (line for line in section.splitlines() if line.startswith("|"))
    return [head, *rows]


def last_cell(row: str) -> str:
    return re.split(r"(?<!\\)\|", row)[-2].strip()


ROWS = [
    pytest.param(page.name, row, id=f"{page.stem}-{k}")
    for page in PAGES
    for k, row in enumerate(table(page)[1:], 1)
]


@cache
def functions() -> dict[str, list[tuple[Path, frozenset[str]]]]:
    """Test function -> the files that define it, each with the strings in its decorators, and the
    keys of the tables that they name."""
    found: dict[str, list[tuple[Path, frozenset[str]]]] = {}
    for path in sorted((*TESTS.rglob("test_*.py"), *ROOT.glob("plugins/*/tests/test_*.py"))):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        tables = {
            ast.unparse(target): [key for key in node.value.keys if key is not None]
            for node in body
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        }
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                inside = [each for mark in node.decorator_list for each in ast.walk(mark)]
                inside += [
                    key for each in inside for key in tables.get(getattr(each, "id", ""), ())
                ]
                strings = {
                    each.value
                    for each in inside
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
                found.setdefault(node.name, []).append((path, frozenset(strings)))
    return found


def missing(cell: str) -> list[str]:
    """What is wrong with the tests that a cell names."""
    named = NAMED.findall(cell)
    if not named:
        return ["no test is named"]
    problems = [f"there is no {name}" for name, _ in named if name not in functions()]
    return problems + [
        f"{name} has no case {case!r}"
        for name, case in named
        if case and name in functions() and not any(case in ids for _, ids in functions()[name])
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_a_table_of_counterexamples_with_tests(page: Path) -> None:
    head, *rows = table(page)
    assert last_cell(head) == "shown by"
    assert len(rows) >= 2


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_every_counterexample_is_shown_by_a_test(page: str, row: str) -> None:
    assert missing(last_cell(row)) == []


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("see above", "no test is named"),
        ("`test_that_nobody_wrote`", "there is no test_that_nobody_wrote"),
        (
            "`test_a_cut_that_is_not_clean[nowhere]`",
            "test_a_cut_that_is_not_clean has no case 'nowhere'",
        ),
    ],
)
def test_a_row_without_its_test_is_found(cell: str, problem: str) -> None:
    assert missing(cell) == [problem]


def test_no_two_cases_share_a_name_that_a_page_uses() -> None:
    """So that a name says which test it is."""
    used = {name for page in PAGES for row in table(page) for name, _ in NAMED.findall(row)}
    assert {name: files for name in used if len(files := functions()[name]) > 1} == {}
