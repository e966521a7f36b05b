"""docs/findings.md is true: every cell of its tables, every example, for the versions it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import pytest
from tokpar_conformance import ConformanceError, check_tokenizer
from tokpar_conformance.checks import outcome

from tests.conftest import cases, drawn
from tests.support.engines import ENGINES, MODELS, VOCABULARIES, reference
from tests.support.paths import ROOT
from tokpar.contract.interfaces import TokenizerAdapter

SAME, KNOWN = drawn(200), max(400, drawn(1000))
"""Texts drawn for an engine that conforms, and for each of the differences known before."""
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
KNOWN_BEFORE = [("gigatoken", "bundled, `single_word`"), ("sentencepiece", "unigram, `identity`")]


class Cell(NamedTuple):
    """What the page says of an engine and a vocabulary."""

    vocabulary: str
    engine: str
    said: str


def tables() -> Iterator[list[list[str]]]:
    """The rows of each table, headings first; a cell holds no "|"."""
    for table in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE):
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
        yield [rows[0], *rows[2:]]


SUMMARY, *RESULTS = tables()
VERSIONS = {row[0]: row[1] for row in SUMMARY[1:]}
[LIBRARY] = re.findall(r"^Compared with tokenizers (\S+)", PAGE, re.MULTILINE)
PACKAGES = VERSIONS | {"tokenizers": LIBRARY}
CELLS = [
    Cell(row[0], engine, said)
    for heading, *rows in RESULTS
    for row in rows
    for engine, said in zip(heading[1:], row[1:], strict=True)
]
ALIKE = [cell for cell in CELLS if cell.said == "same"]


def why_left_out(package: str) -> str:
    """Why the page cannot be compared with the package here, or ""."""
    try:
        found = version(package)
    except PackageNotFoundError:
        return f"optional: needs the package {package} (extra engines)"
    written = PACKAGES[package]
    same = found == written
    return "" if same else f"docs/findings.md was written for {package} {written}, not {found}"


def cells_here(cells: Sequence[Cell]) -> list[Any]:
    """The cells of engines that are installed in the version of the page; if there are none, the
    first cell, to be skipped. `test_the_examples_of_the_page_run` is skipped for each engine."""
    skipped = pytest.mark.skip(why_left_out(cells[0].engine))
    here = [cell for cell in cells if not why_left_out(cell.engine)]
    return here or [pytest.param(cells[0], marks=skipped)]


def cells_that(verb: str) -> list[Cell]:
    """The cells that say that the engine "differs", or "refuses" the vocabulary."""
    return [cell for cell in CELLS if cell.said.startswith(verb)]


def pair(cell: Cell) -> tuple[Any, TokenizerAdapter] | Exception:
    """The engine and its reference, or why the engine does not load the vocabulary."""
    if cell.engine == "sentencepiece":
        return MODELS[cell.vocabulary]()
    vocabulary = VOCABULARIES[cell.vocabulary]()
    tokenizer = outcome(partial(ENGINES[cell.engine], vocabulary))
    return tokenizer if isinstance(tokenizer, Exception) else (tokenizer, reference(vocabulary))


def name_of(cell: Cell) -> str:
    return f"{cell.engine}: {cell.vocabulary}"


@pytest.mark.parametrize("cell", cells_here(cases(ALIKE, ALIKE[1::3])), ids=name_of)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_what_conforms_by_the_page_conforms(cell: Cell) -> None:
    loaded = pair(cell)
    assert not isinstance(loaded, Exception), loaded
    check_tokenizer(*loaded, examples=SAME)


@pytest.mark.parametrize(
    "known",
    [known for known in KNOWN_BEFORE if not why_left_out(known[0])],
    ids=lambda known: known[0],
)
def test_the_kit_finds_by_itself_what_was_known_before(
    known: tuple[str, str], twelfths_but_for: Callable[[str], None]
) -> None:
    twelfths_but_for("reference")
    (cell,) = (c for c in CELLS if (c.engine, c.vocabulary) == known)
    assert cell.said.startswith("differs")
    loaded = pair(cell)
    assert not isinstance(loaded, Exception), loaded
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(*loaded, examples=KNOWN, fail_fast=True)
    assert error.value.checks == ("reference",)


@pytest.mark.parametrize("cell", cells_here(cells_that("differs")), ids=name_of)
def test_the_text_of_each_difference_has_other_ids_with_and_without_the_kit(
    cell: Cell, twelfths_but_for: Callable[[str], None]
) -> None:
    """Which texts are drawn depends on the version of hypothesis, so rare ones are given."""
    twelfths_but_for("reference")
    loaded = pair(cell)
    assert not isinstance(loaded, Exception), loaded
    text = ast.literal_eval(cell.said.removeprefix("differs: ").strip("`"))
    got, expected = (tokenizer.encode(text).tolist() for tokenizer in loaded)
    assert got != expected, "the engine gives the ids of the reference: docs/findings.md is wrong"
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(*loaded, texts=[text], examples=0, fail_fast=True)
    assert error.value.checks == ("reference",)


@pytest.mark.parametrize("cell", cells_here(cells_that("refuses")), ids=name_of)
def test_what_an_engine_refuses_by_the_page_is_refused(cell: Cell) -> None:
    loaded = pair(cell)
    assert isinstance(loaded, Exception), "it loads now: docs/findings.md is wrong"
    assert cell.said.removeprefix("refuses: ").strip("`") in str(loaded)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_examples_of_the_page_run(package: str) -> None:
    """Each is an indented block that begins with the package and its version."""
    block = rf"^    # {package} (\S+?)(?:, .*)?\n(?:(?:    .*)?\n)+"
    examples = [*re.finditer(block, PAGE, re.MULTILINE)]
    assert {example[1] for example in examples} == {PACKAGES[package]}
    if why := why_left_out(package):
        pytest.skip(why)
    for example in examples:
        code = re.sub(r"^    ", "", example[0], flags=re.MULTILINE)
        exec(compile(code, "findings.md", "exec"), {"__name__": "__main__"})
