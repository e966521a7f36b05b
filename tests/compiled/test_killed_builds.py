"""Processes that make the tables of the compiled call are killed; no part of a file is read."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest

from tests.conftest import needs_kernel
from tests.support.forked_children import output_of
from tests.support.paths import VOCAB
from tests.support.profiles import chosen_profile

pytestmark = [
    needs_kernel,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
]
KILLS = {"quick": 6, "dev": 20, "ci": 60, "deep": 600}[chosen_profile()]


def test_after_a_kill_at_any_moment_a_new_process_has_right_ids_and_reads_no_part_of_a_file(
    tmp_path: Path,
) -> None:
    """By SIGKILL: half of the builders at moments of their work, half between two writes."""
    seed = str(random.randrange(1 << 32))
    command = [sys.executable, "-m", "tests.support.killed_builds"]
    command += [str(VOCAB / "deepseek_part.json"), seed, str(KILLS)]
    said = output_of(command, 100 + KILLS, TOKPAR_CACHE=str(tmp_path), TOKPAR_PLUGINS="")
    kills = [json.loads(line) for line in said.splitlines()]
    assert len(kills) == KILLS
    for number, left in enumerate(kills):
        assert left["half written"] == [], (seed, number)
        assert left["right"], (seed, number)
        assert left["made"], (seed, number)
    assert all(left["killed"] for left in kills[1::2]), seed
    assert kills[-1]["begun"] >= len(kills[1::2]), "each leaves the file that it had begun"
