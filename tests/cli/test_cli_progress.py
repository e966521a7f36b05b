"""Bars on stderr: of what is counted, else of the seconds that a call should take."""

from __future__ import annotations

import argparse
import time

import pytest

import tokpar
from tests.support.cli_runs import run
from tokpar.cli import progress
from tokpar.cli.progress import bar_of, encoding_bar, working

ASKED = argparse.Namespace(quiet=False, progress=True)
QUIET = argparse.Namespace(quiet=True, progress=True)
TEXT = "The quick brown fox, 12345678 times.  Na\u00efve \u4e2d\u6587 too;\n\n  it's it. " * 300


def test_work_that_should_take_long_shows_its_seconds_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with working(ASKED, "planning", expected_seconds=7):
        shown_at_once = capsys.readouterr().err
        time.sleep(1.2)
    assert "planning" in shown_at_once
    assert "0/7" in shown_at_once
    assert capsys.readouterr().err.endswith("\r")  # the line is empty again
    with working(ASKED, "planning"):
        pass
    assert "planning" not in capsys.readouterr().err


def test_who_wants_quiet_gets_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with bar_of(QUIET, 7) as moved, working(QUIET, "planning", expected_seconds=7):
        moved(7)
    assert capsys.readouterr().err == ""


def test_a_short_call_predicts_how_long_a_long_text_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SAMPLE_CHARS", 8)
    tokenizer = tokpar.load("default")
    monkeypatch.setattr(tokenizer, "encode", lambda text: time.sleep(0.01))
    with encoding_bar(ASKED, tokenizer, "x" * 80_000):
        said = capsys.readouterr().err
    assert "encoding (Ctrl-C ends it)" in said
    total = int(said.split("0/")[1].split()[0])
    assert total >= 100


def test_a_bar_changes_no_id() -> None:
    for command in (("encode", "--json"), ("count",)):
        plain = run(*command, "-", "--quiet", stdin=TEXT.encode())
        shown = run(*command, "-", "--progress", stdin=TEXT.encode())
        assert (shown.code, shown.out.split('"ids"')[-1]) == (0, plain.out.split('"ids"')[-1])
