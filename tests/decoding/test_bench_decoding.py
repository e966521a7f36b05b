"""The script that measures streams and the event loop runs, and prints a row for each pass."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tokpar
from tests.benchmarks import decoding


def test_the_script_prints_a_row_for_each_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The quick brown fox 中文 😀. " * 100, encoding="utf-8")
    file = Path(tokpar.__file__).parent / "data" / "default.json"
    monkeypatch.setattr(decoding, "NO_GIL_BYTES", 1000)
    given = [str(file), str(text), "--chars", "5000", "--ids", "500", "--streams", "50"]
    monkeypatch.setattr(sys, "argv", ["decoding", *given])
    decoding.main()
    printed = capsys.readouterr().out
    assert printed.count("50 streams") == printed.count("beside aencode") == decoding.PASSES
