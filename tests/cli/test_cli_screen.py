"""What commands print fits the width of the screen and holds no control of a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tokpar
from tests.support.cli_runs import Outcome, run
from tokpar.builtins import COMMANDS
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.cli.screen import columns
from tokpar.encoding import Encoding
from tokpar.seams import Seams
from tokpar.types import Report

TEXT = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too; 한국어도 있습니다. " * 400
WIDTHS = (50, 80, 120)


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    chosen: int = request.param
    return chosen


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


def assert_fits(outcome: Outcome, width: int) -> None:
    assert outcome.code == 0
    assert outcome.out
    for line in (outcome.out + outcome.err).splitlines():
        assert columns(line) <= width, line


def test_help_fits(width: int) -> None:
    assert_fits(run("--help"), width)
    for command in COMMANDS:
        assert_fits(run(command, "--help"), width)


# ------------------------------------------------------------------------------------ what is said


ESCAPES = "\x1b[31mred\x1b[0m\x9b2J\x07\n\u202e"
CONTROLS = "\x1b\x9b\x07\u202e"


def test_no_control_of_a_terminal_in_a_certificate_reaches_the_screen(
    text_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "seams.tokpar"
    options = ("--chunk-chars", "2000", "--executor", "native", "--no-ids", "--quiet")
    assert run("encode", text_file, *options, "--certificate", path).code == 0
    stored = from_bytes(path.read_bytes())
    seams = [
        replace(seam, theorem=ESCAPES, witness=((ESCAPES, ESCAPES), ("proof", ESCAPES)))
        for seam in stored.seams
    ]
    encoding = Encoding.of(stored.ids, Seams.of(seams), Report(ESCAPES, ESCAPES))
    path.write_bytes(to_bytes(encoding, TEXT, ESCAPES, tokpar_version=ESCAPES))
    for more in ((), ("--json",), ("--level", "model")):
        outcome = run("check", text_file, "--certificate", path, *more)
        assert outcome.code == 1
        assert "red" in outcome.out
        assert not set(CONTROLS) & set(outcome.out + outcome.err)
        if "--json" in more:
            assert ESCAPES in " ".join(each["message"] for each in outcome.json["findings"])


def test_none_in_the_name_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31mb.txt"
    path.write_bytes(TEXT.encode())
    for command in ("encode", "count", "plan"):
        outcome = run(command, path)
        assert not set(CONTROLS) & set(outcome.out + outcome.err)
        assert "a\\x1b[31mb.txt" in outcome.out + outcome.err
    assert "a\\x1b[31mc" in run("count", tmp_path / "a\x1b[31mc").error


def test_json_escapes_controls_and_stays_json(tmp_path: Path) -> None:
    path = tmp_path / "a\x9b2J\u202e.txt"
    path.write_text("one two", encoding="utf-8")
    outcome = run("encode", path, "--json")
    assert outcome.json["file"] == str(path)
    assert outcome.json["ids"] == tokpar.encode("one two").ids.tolist()
    assert not set(CONTROLS) & set(outcome.out)
