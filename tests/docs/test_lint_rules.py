"""ruff finds what no module of this project may use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

RUFF = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise"]


def codes_of(source: str, path: str) -> list[str]:
    """The codes of the rules that `source` breaks if it is the file at `path`."""
    done = subprocess.run(
        [*RUFF, "--stdin-filename", path, "-"],
        input=f'"""Doc."""\n\n{source}\n',
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
        check=False,
    )
    assert not done.stderr, done.stderr
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith(path)]


@pytest.mark.parametrize(
    "source",
    [
        "from functools import cached_property\n\nprint(cached_property)",
        "import functools\n\nprint(functools.cached_property)",
        "import threading\n\nprint(threading.Lock())",
        "from threading import RLock\n\nprint(RLock())",
        "import threading as of_threads\n\nprint(of_threads.Condition())",
        "import os\n\nos.register_at_fork(before=print)",
    ],
)
@pytest.mark.parametrize(
    "path", ["tokpar/facts/new.py", "plugins/tokpar-model/src/tokpar_model/new.py"]
)
def test_what_a_forked_child_may_wait_for_is_found(source: str, path: str) -> None:
    assert codes_of(source, path) == ["TID251"]
