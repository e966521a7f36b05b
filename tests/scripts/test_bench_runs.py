"""`python -m tests.benchmarks.runs` on short runs and parts of vocabularies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.benchmarks import runs
from tests.support.paths import VOCAB


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    shutil.copy(VOCAB / "deepseek_part.json", tmp_path / "deepseek.json")
    shutil.copy(VOCAB / "cl100k_part.tiktoken", tmp_path / "cl100k_base.tiktoken")
    return tmp_path


def test_each_run_has_a_row(vocab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--size", "9000", "--turns", "2", "--first", "1"]
    assert runs.main(["--vocab", str(vocab), "--only", "Hugging,tiktoken", *few]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2 * (len(runs.ALPHABETS) + len(runs.PERIODS))
    assert {row.count("|") for row in rows} == {head.count("|")}


def test_ids_that_differ_end_it(vocab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_own", lambda subject: lambda text: [0])
    with pytest.raises(SystemExit, match="differ"):
        runs.main(["--vocab", str(vocab), "--only", "tiktoken", "--size", "900"])


@pytest.mark.parametrize("kind", [*runs.ALPHABETS, *runs.PERIODS])
def test_a_run_has_the_size_that_was_asked_for(kind: str) -> None:
    assert len(runs.run_of(kind, 900)) == 900
