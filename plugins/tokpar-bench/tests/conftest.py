"""Tokenizer files made of the bundled one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tokpar
from tests.conftest import tables_folder as tables_folder
from tests.conftest import twelfths_but_for as twelfths_but_for
from tests.conftest import twelfths_in_quick as twelfths_in_quick

os.environ.pop("COLUMNS", None)  # of pytest-xdist: output that is captured has no width
# a busy machine is no finding
settings.register_profile("any machine", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("any machine")

DEFAULT = Path(tokpar.__file__).parent / "data" / "default.json"


@pytest.fixture
def deepseek(tmp_path: Path) -> str:
    """A file with the name of a tokenizer that figures are published for."""
    return str(shutil.copy(DEFAULT, tmp_path / "deepseek.json"))
