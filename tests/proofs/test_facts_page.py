"""proofs/facts.md: each fact that a rule of the checker reads has a row, and its code exists."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tokpar.types import Facts

PAGE = (ROOT / "proofs" / "facts.md").read_text(encoding="utf-8")
CODE = sorted(set(re.findall(r"`(tokpar[\w.]*):([\w.]+)`", PAGE)))
ROWS = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
KNOWN = {field.name for field in fields(Facts)}
RULES = sorted((ROOT / "tokpar" / "certificate").glob("*.py"))
UNREAD = re.findall(
    r"`(\w+)`", PAGE.partition("Facts that no rule reads")[2].partition("How an")[0]
)
OF_PROOFS = {"proofs"}
"""What the planner hands over to be checked: no fact of the tokenizer."""


def facts_read(path: Path) -> set[str]:
    """The fields of `Facts` that a module reads: `facts.model`, `ground.facts.model`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in KNOWN:
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            found |= {node.attr} if name == "facts" else set()
    return found


def with_rows() -> list[str]:
    return [row[0].strip("| `") for row in ROWS]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_each_fact_that_a_rule_reads_has_a_row(path: Path) -> None:
    assert facts_read(path) - set(with_rows()) <= OF_PROOFS


def test_the_rules_read_facts_of_every_row_and_no_others() -> None:
    read = set().union(*map(facts_read, RULES))
    assert set(with_rows()) == read - OF_PROOFS
    assert set(UNREAD).isdisjoint(read)
    assert {*with_rows(), *UNREAD, *OF_PROOFS, "_derived_values"} == KNOWN


@pytest.mark.parametrize(("module", "name"), CODE)
def test_the_code_that_the_page_names_exists(module: str, name: str) -> None:
    assert reduce(getattr, name.split("."), import_module(module)) is not None


def test_each_row_names_a_rule_and_code_of_both_sides() -> None:
    for fact, _, needed, planner, checker in ROWS:
        assert re.search(r"PAIR|STAGE|EDGE|every rule", needed), fact
        assert re.search(r"`tokpar\.(facts|adapters|patterns)\.", planner), fact
        assert "tokpar.certificate" not in planner, fact
        sources = re.findall(r"`(tokpar\.\w+)\.", checker)
        assert set(sources) == {"tokpar.certificate"}, fact
