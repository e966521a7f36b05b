"""Real processes that are killed, or interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "killed_builds.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the builds are forks")
def test_builds_that_are_killed_at_random_times_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), "8", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "complete and identical" in done.stdout
