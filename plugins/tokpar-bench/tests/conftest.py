"""The command line, run in this process; tokenizer files made of the bundled one."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Tokenizer

import tokpar
from tokpar.cli import main

os.environ.pop("COLUMNS", None)  # of pytest-xdist: output that is captured has no width
# a busy machine is no finding
settings.register_profile("any machine", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("any machine")

DEFAULT = Path(tokpar.__file__).parent / "data" / "default.json"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that a refused command prints."""
        assert self.code == 2
        assert self.out == ""
        assert self.err.startswith("tokpar: error: ")
        assert "Traceback" not in self.err
        return self.err.removeprefix("tokpar: error: ").rstrip("\n")


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("bench", "a.txt", stdin=b"...")`."""

    def run_main(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_main


@pytest.fixture
def deepseek(tmp_path: Path) -> str:
    """A file with the name of a tokenizer that figures are published for."""
    return str(shutil.copy(DEFAULT, tmp_path / "deepseek.json"))


@pytest.fixture
def truncating(tmp_path: Path) -> str:
    tokenizer = Tokenizer.from_file(str(DEFAULT))
    tokenizer.enable_truncation(128)
    tokenizer.save(str(tmp_path / "truncating.json"))
    return str(tmp_path / "truncating.json")
