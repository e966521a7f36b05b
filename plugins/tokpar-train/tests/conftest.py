"""The command line, run in this process; the optional corpora, *.jsonl files in TOKPAR_CORPORA."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from profiles import EXAMPLES, chosen_profile

from tokpar.cli import main

# a busy machine is no finding
settings.register_profile(
    "chosen",
    max_examples=EXAMPLES[chosen_profile()],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("chosen")

# tiktoken keeps the first file that it reads at a path, and would not see that a test wrote another
os.environ["TIKTOKEN_CACHE_DIR"] = ""

# a shell that starts the tests in the background ignores Ctrl-C for them and all their children
signal.signal(signal.SIGINT, signal.default_int_handler)


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
    """`run("train", "a.txt", stdin=b"...")`."""

    def run_main(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_main


def directory(variable: str) -> Path:
    """The directory an environment variable names; skips the test when it does not."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names a directory of optional test data")
    if not Path(value).is_dir():
        pytest.skip(f"{variable}={value} is not a directory")
    return Path(value)


@pytest.fixture(scope="session")
def corpus() -> Callable[..., list[str]]:
    """`corpus(limit=20)` gives the first texts of each corpus file, or skips the test."""

    def read(limit: int | None = None) -> list[str]:
        files = sorted(directory("TOKPAR_CORPORA").glob("*.jsonl"))
        if not files:
            pytest.skip("TOKPAR_CORPORA holds no *.jsonl")
        return [text for path in files for text in islice(rows(path), limit)]

    return read


def rows(path: Path) -> Iterator[str]:
    """The texts of a *.jsonl file, in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]
