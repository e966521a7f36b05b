"""Builds a corpus, kills the process at random moments, and says which shards are not whole.

    python killed_corpora.py SOURCE FOLDER FORMAT SEED KILLS

The build goes on after each kill, and begins anew when it has ended. Prints one JSON object for
each kill: if the process was still running, the number of shards in its journal, and the names of
the shards that are not whole. At the end a build that nobody kills ends in FOLDER."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import run_build
from tokpar_corpus.durable_files import Disk
from tokpar_corpus.job import Request, prepare
from tokpar_corpus.journal import Entry, is_whole


def build(source: str, folder: Path, format_: str, workers: int) -> None:
    request = Request(
        [source], folder, "default", shard_size=1200, workers=workers, format=format_, resume=True
    )
    run_build(prepare(request), Disk(), Progress())


def started(source: str, folder: Path, format_: str, workers: int) -> int:
    """Forks a child that builds. Returns its process id."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            build(source, folder, format_, workers)
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def code_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def broken_shards(folder: Path) -> tuple[int, list[str]]:
    """How many shards the journal names, and those of them that are not whole."""
    journal = folder / "journal.jsonl"
    lines = journal.read_text().split("\n")[1:-1] if journal.exists() else []
    shards = [Entry.from_line(line).shard for line in lines]
    return len(shards), [str(shard) for shard in shards if not is_whole(shard, folder)]


def main(source: str, folder: str, format_: str, seed: str, kills: str) -> None:
    draw, out = random.Random(seed), Path(folder)
    began = time.monotonic()
    assert code_of(started(source, out, format_, 1)) == 0  # its imports are not those of children
    lasts = time.monotonic() - began
    for _ in range(int(kills)):
        if (out / "manifest.json").exists():
            shutil.rmtree(out)
        pid = started(source, out, format_, draw.choice((1, 2)))
        time.sleep(draw.random() * lasts)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        code = code_of(pid)
        count, broken = broken_shards(out)
        said = {"killed": code == -signal.SIGKILL, "shards": count, "broken": broken}
        print(json.dumps(said | {"right": code in (0, -signal.SIGKILL)}), flush=True)
    assert code_of(started(source, out, format_, 1)) == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
