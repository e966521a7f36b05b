"""Tokenizer files made of the bundled one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.paths import DEFAULT


@pytest.fixture
def deepseek(tmp_path: Path) -> str:
    """A file with the name of a tokenizer that figures are published for."""
    return str(shutil.copy(DEFAULT, tmp_path / "deepseek.json"))
