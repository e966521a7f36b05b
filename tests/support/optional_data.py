"""Directories of optional test data that the environment names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest


def directory(variable: str) -> Path:
    """The directory an environment variable names; skips the test when it does not."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names a directory of optional test data")
    if not Path(value).is_dir():
        pytest.skip(f"{variable}={value} is not a directory")
    return Path(value)


def rows(path: Path) -> Iterator[str]:
    """The texts of a *.jsonl file, in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


@pytest.fixture(scope="session")
def corpus() -> Callable[..., list[str]]:
    """`corpus(limit=20)` gives the first texts of each corpus file, or skips the test."""

    def read(limit: int | None = None) -> list[str]:
        files = sorted(directory("TOKPAR_CORPORA").glob("*.jsonl"))
        if not files:
            pytest.skip("TOKPAR_CORPORA holds no *.jsonl")
        return [text for path in files for text in islice(rows(path), limit)]

    return read
