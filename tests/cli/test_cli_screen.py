"""What commands print: help, tables, and no control of a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tokpar
from tests.support.cli_runs import run
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.registry.builtins import COMMANDS
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Seams
from tokpar.types import Report

TEXT = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too; 한국어도 있습니다. " * 400


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_help_and_tables_are_for_every_width(text_file: Path) -> None:
    for command in COMMANDS:
        outcome = run(command, "--help")
        assert outcome.code == 0
        assert outcome.out.startswith(f"usage: tokpar {command} ")
    header, *rows = run("plan", text_file, "--chunk-chars", "2000").out.splitlines()[1:4]
    assert header.split() == ["position", "rule", "around"]
    assert all(row.index(rule) == header.index("rule") for row in rows for rule in row.split()[1:2])


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
