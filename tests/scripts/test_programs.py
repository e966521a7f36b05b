"""What `python -m tests.programs` does without installing a program."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.programs import __main__ as programs
from tests.programs.documents import ROOT, documents
from tests.programs.page_table import table
from tests.programs.row_files import read_rows, write_rows
from tests.programs.turns import compare


def test_a_program_that_returns_something_else_is_shown_with_its_text() -> None:
    row = compare("call", len, lambda text: len(text) + (text == "third"), ["first", "b", "third"])
    assert row.difference == "'third': 5 != 6"
    assert programs.line_of(asdict(row) | {"program": "some"}).endswith("differs")


def test_equal_answers_are_a_row_without_a_difference() -> None:
    row = compare("call", len, len, ["warm-up", ["a", "bc"], "d"])
    assert (row.texts, row.characters, row.difference) == (2, 4, "")
    assert programs.ratios_of(asdict(row)) == (row.new, row.seen)
    assert programs.line_of(asdict(row) | {"program": "some"}).endswith("equal")


def test_rows_of_a_run_take_the_place_of_older_rows_of_the_same_programs(tmp_path: Path) -> None:
    path, row = tmp_path / "rows.csv", asdict(compare("call", len, len, ["warm-up", "a", "b"]))
    around = {"versions": {"some": "1.0", "other": "2"}, "load": 1.25, "date": "2026-01-31"}
    assert read_rows(path) == []
    for calls in (("b, first", "b, second", "a"), ("b, third",)):
        write_rows(path, [row | around | {"program": call[0], "call": call} for call in calls])
    rows = read_rows(path)
    assert [(each["program"], each["call"]) for each in rows] == [("a", "a"), ("b", "b, third")]
    assert rows[0]["versions"] == "some==1.0 other==2"
    assert (rows[0]["load"], rows[0]["answers"], rows[0]["characters"]) == ("1.25", "equal", "2")
    with pytest.raises(ValueError, match="no row of semchunk_splitter whose call is 'Encoder"):
        table(rows)


@pytest.mark.parametrize("name", programs.all_names())
def test_a_program_says_what_it_needs_and_imports_nothing_of_it_at_its_top(name: str) -> None:
    packages = programs.packages_of(name)
    assert any("==" in package for package in packages)
    source = Path(programs.HERE, f"{name}.py").read_text("utf-8")
    imported = {
        (node.module or "").split(".")[0]
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom)
    }
    assert imported <= {"tests", *sys.stdlib_module_names}


def test_shares_of_the_documents_have_no_text_in_common() -> None:
    shares = [documents(2_000, 6, share) for share in (0, 1)]
    assert len({*shares[0], *shares[1]}) == 12
    assert {len(text) for texts in shares for text in texts} == {2_000}


def test_a_share_that_the_checkout_does_not_have_is_an_error() -> None:
    with pytest.raises(ValueError, match="characters of a kind for share 900"):
        documents(20_000, 12, 900)


def test_the_list_needs_no_package_not_even_tokpar() -> None:
    code = "import sys; sys.modules['tokpar'] = sys.modules['numpy'] = None; "
    code += "from tests.programs.__main__ import main; main(['--list', 'ttok_counter'])"
    run = [sys.executable, "-S", "-c", code]
    said = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert said.split() == ["ttok_counter", *programs.packages_of("ttok_counter")]


def test_an_unknown_program_is_an_error_that_names_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as error:
        programs.main(["gone"])
    assert error.value.code == 2
    assert "there is no program gone; known: aider_counter, " in capsys.readouterr().err


def test_a_pin_replaces_the_version_that_a_program_asks_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert programs.main(["--list", "--pin", "ttok==0.1", "ttok_counter"]) == 0
    assert capsys.readouterr().out.split() == ["ttok_counter", "ttok==0.1"]


def test_a_pin_of_a_package_that_no_program_asks_for_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        programs.main(["--list", "--pin", "ttok==0.1", "aider_counter"])
    assert "asks for ttok==0.1 in any version" in capsys.readouterr().err
