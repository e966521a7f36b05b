"""How long other threads wait while a tokenizer is loaded and its tables are made.

A thread sleeps one millisecond and looks at the clock, again and again. A gap is the longest time
between two looks: of the wall's clock, which also shows other programs of the machine, and of the
processor time of this process, which does not. Each run is a process of its own; the least of
several runs is printed, beside a run that loads nothing. `never_slower --gaps` prints the rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import refuse_without_kernel

RUNS = 3
SECONDS = 0.5
"""How long the clock is watched after the tables were made, and in the run that loads nothing."""
TEXT = "hello world, this is a first call"
FIELDS = "idle", "in_load", "after", "after_own", "first", "own", "ready"


def print_gaps(files: list[Path]) -> None:
    """Prints a row for each file, as an object and as a path, without and with stored tables."""
    print("milliseconds; gap: wall / processor time; the least of some runs")
    for path in files:
        for kind in ("object", "path"):
            with tempfile.TemporaryDirectory() as folder:
                new = [_run(path, kind, "") for _ in range(RUNS)]
                _run(path, kind, folder)
                stored = [_run(path, kind, folder) for _ in range(RUNS)]
            for tables, runs in (("no tables", new), ("tables on disk", stored)):
                least = {name: min(run[name] for run in runs) for name in FIELDS}
                print(
                    f"{path.parent.parent.name}/{path.name} {kind}, {tables}: "
                    f"nothing loaded {least['idle']:.0f}, in loading {least['in_load']:.0f}, "
                    f"after loading {least['after']:.0f} / {least['after_own']:.0f}, first call "
                    f"{least['first']:.2f} (own {least['own']:.2f}), ready {least['ready']:.0f}",
                    flush=True,
                )


def _run(path: Path, kind: str, cache: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.loading_gaps", str(path), kind]
    environment = {**os.environ, "TOKPAR_CACHE": cache}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def _watched() -> Iterator[list[tuple[float, float]]]:
    """Collects the gaps in milliseconds: of the wall's clock, and of processor time."""
    gaps: list[tuple[float, float]] = [(0.0, 0.0)]
    is_over = threading.Event()

    def watch() -> None:
        last = time.perf_counter(), time.process_time()
        while not is_over.is_set():
            time.sleep(0.001)
            now = time.perf_counter(), time.process_time()
            gaps.append(((now[0] - last[0]) * 1e3, (now[1] - last[1]) * 1e3))
            last = now

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield gaps
    finally:
        is_over.set()
        watching.join()


def _measured(path: Path, kind: str) -> dict[str, float]:
    from tokenizers import Tokenizer

    import tokpar

    own: Any = Tokenizer.from_file(str(path))
    start = time.perf_counter()
    own.encode(TEXT)
    own_seconds = time.perf_counter() - start
    with _watched() as gaps:
        time.sleep(SECONDS)
        idle = max(gaps)[0]
        gaps[1:] = []
        encoder = tokpar.Encoder(own if kind == "object" else path)
        in_load = max(gaps)[0]
        gaps[1:] = []
        start = time.perf_counter()
        encoder.encode(TEXT)
        first = time.perf_counter() - start
        encoder.prepare()
        ready = time.perf_counter() - start
        time.sleep(SECONDS)
        after = max(wall for wall, _ in gaps), max(used for _, used in gaps)
    times = idle, in_load, *after, first * 1e3, own_seconds * 1e3, ready * 1e3
    return dict(zip(FIELDS, times, strict=True))


if __name__ == "__main__":
    refuse_without_kernel()
    print(json.dumps(_measured(Path(sys.argv[1]), sys.argv[2])))
