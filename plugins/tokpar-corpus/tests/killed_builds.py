"""Kills builds at random times and resumes them.

    python plugins/tokpar-corpus/tests/killed_builds.py FOLDER RUNS SEED

Each run is a fork of this process, so that it takes no time to import, and is killed by SIGKILL
until one ends by itself. Prints how many were killed, and compares the files with those of an
undisturbed build."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from corpora import contents, many, write_rows
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import run_build
from tokpar_corpus.durable_files import Disk
from tokpar_corpus.job import Request, prepare


def run(source: Path, out: Path) -> float:
    """Builds, and returns the seconds that it took."""
    start = time.monotonic()
    request = Request([str(source)], out, "default", shard_size=40_000, workers=1, resume=True)
    run_build(prepare(request), Disk(), Progress())
    return time.monotonic() - start


def killed(source: Path, out: Path, seconds: float) -> bool:
    """Whether a build had to be killed after so many seconds."""
    child = os.fork()
    if child == 0:
        try:
            run(source, out)
        finally:
            os._exit(0 if (out / "manifest.json").exists() else 3)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, status
            return False
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def timed(source: Path, out: Path) -> float:
    """The seconds of a build that is not killed."""
    start = time.monotonic()
    assert not killed(source, out, seconds=600)
    return time.monotonic() - start


def main(folder: Path, runs: int, seed: int) -> None:
    rng = random.Random(seed)
    source = write_rows(folder / "rows.jsonl.gz", many(6000))
    run(source, folder / "whole")  # loads all that its forks need, and leaves no thread
    assert threading.active_count() == 1
    expected = contents(folder / "whole")
    whole = timed(source, folder / "again")
    kills = builds = 0
    while kills < runs:
        out = folder / f"out-{builds}"
        while killed(source, out, rng.random() * whole):
            kills += 1
        assert contents(out) == expected, out
        shutil.rmtree(out)
        builds += 1
        if builds % 20 == 0:
            print(f"{kills} killed, {builds} builds complete and identical", flush=True)
            shutil.rmtree(folder / "again")
            whole = min(whole, timed(source, folder / "again"))  # other work may have delayed it
    shards = sum(name.endswith(".bin") for name in expected)
    print(f"{kills} killed, {builds} builds complete and identical, {shards} shards each")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
