"""How much memory a command takes for each byte of text: the slope between two sizes, so that what
the interpreter and the cache take themselves is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the unit of ru_maxrss is that of Linux"
)
SENTENCE = "The quick brown fox, 12345678 times over the lazy dog's naïve house.\n"
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak(*arguments: object) -> int:
    """The most bytes of memory that a command takes."""
    command = [sys.executable, "-m", "tokpar", *map(str, arguments)]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_count_holds_a_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sizes, peaks = (6_000_000, 24_000_000), []
    for size in sizes:
        path = tmp_path / f"{size}.txt"
        path.write_bytes((SENTENCE * (size // len(SENTENCE.encode()))).encode())
        peaks.append(peak("count", "--quiet", path))
    assert peaks[1] - peaks[0] <= 2 * (sizes[1] - sizes[0]), peaks
