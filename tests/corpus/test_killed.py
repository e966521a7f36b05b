"""Real processes that are killed, or interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the builds are forks")
def test_builds_that_are_killed_at_random_times_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.corpus.killed_builds", str(tmp_path), "8", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "complete and identical" in done.stdout
