"""What commands print fits the width of the screen and holds no control of a terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tokpar
from tests.support.cli_runs import Outcome, run
from tokpar.builtins import COMMANDS
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.cli.screen import columns, fill_lines, fold_line
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


@pytest.mark.each_value
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan",),
        ("plan", "--chunk-chars", "500"),
        ("plan", "--strategy", "blocks"),
        ("plan", "--gaps"),
        ("plan", "--why", "29"),
        ("encode",),
        ("check",),
        ("try", "default"),
    ],
)
def test_what_is_said_of_a_text_fits(
    arguments: tuple[str, ...], text_file: Path, width: int
) -> None:
    assert_fits(run(*arguments, text_file, terminal=True), width)


@pytest.mark.parametrize("command", ["strategies", "plugins"])
def test_lists_fit(command: str, width: int) -> None:
    assert_fits(run(command), width)


def test_a_pipe_without_a_width_gets_whole_lines(text_file: Path) -> None:
    lines = run("plan", text_file, "--chunk-chars", "500").out.splitlines()
    assert columns(lines[0]) > 80
    assert "│" in lines[2]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 20])
@pytest.mark.parametrize(
    "text", ["", "a", "one two three", "  one  two ", "中文中文 中文", "\x1b[1mone\x1b[0m two" * 3]
)
def test_folding_loses_nothing_but_spaces(text: str, most: int) -> None:
    lines = fold_line(text, most)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(columns(line) <= max(most, 2) for line in lines)


def test_a_line_that_goes_on_is_indented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = fill_lines("  " + "word " * 30).split("\n")
    assert lines[0].startswith("  word")
    assert all(line.startswith("    word") for line in lines[1:])


# ------------------------------------------------------------------------------------ what is said


def test_an_approximate_strategy_is_allowed_as_in_a_shell() -> None:
    error = run("encode", "--text", "a b", "--strategy", "overlap").error
    assert error.endswith("use --strategy auto for the exact ids, or --allow-approximate")
    paper = ("--option", "acceptance=paper", "--strategy", "lopt")
    for command in ("encode", "count", "check"):
        error = run(command, "-", *paper, stdin=b"a b").error
        assert error.endswith("or --allow-approximate")
        assert "allow_approximate" not in error


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


def test_none_in_a_certificate_that_is_refused_either(text_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "seams.tokpar"
    run("encode", text_file, "--no-ids", "--quiet", "--certificate", path)
    header = json.dumps({"format": ESCAPES, "format_version": ESCAPES}, ensure_ascii=False).encode()
    data = path.read_bytes()
    start = data.index(b"{")
    path.write_bytes(data[: start - 8] + len(header).to_bytes(8, "little") + header)
    error = run("check", text_file, "--certificate", path).error
    assert not set(CONTROLS) & set(error)


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
