"""Kills processes that make the tables of the compiled call on disk, and says what is left.

    python -m tests.support.killed_builds TOKENIZER SEED KILLS

Every second builder is killed at a drawn moment of its work; the others are killed between two of
the writes of their file. After each kill a new process loads the tokenizer and encodes. This
process loads no tokenizer, so each child begins as a new process does. Prints one JSON object for
each kill."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from io import BufferedWriter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tokenizers

import tokpar
import tokpar.adapters.hf_call
from tokpar.process import cache_files, disk_cache

KIND = "calls"
TEXT = "The quick brown fox, unaffordable embeddings: 1234 naïve façades. " * 40


class KilledFile:
    """A file whose writer is killed after so many writes."""

    def __init__(self, file: BufferedWriter, writes: int) -> None:
        self.file, self.left = file, writes

    def write(self, data: Any) -> None:
        if self.left == 0:
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        self.file.write(data)


@contextmanager
def killed_after(writes: int) -> Iterator[None]:
    """A process that writes a file of the cache is killed after so many writes."""
    real = cache_files.new_file

    @contextmanager
    def new_file(path: Path) -> Iterator[Any]:
        with real(path) as file:
            yield KilledFile(file, writes) if path.parent.name == KIND else file

    with patch("tokpar.process.cache_files.new_file", new_file):
        yield


def build(tokenizer: str, writes: int | None = None) -> None:
    """Makes the tables. The process is killed after so many writes of their file."""
    with nullcontext() if writes is None else killed_after(writes):
        tokpar.Encoder(tokenizer).prepare()


def check(tokenizer: str) -> None:
    """Makes the tables, or reads them, and encodes by them."""
    encoder = tokpar.Encoder(tokenizer)
    encoder.prepare()
    own = tokenizers.Tokenizer.from_file(tokenizer)
    assert encoder.encode(TEXT).ids.tolist() == own.encode(TEXT, add_special_tokens=True).ids
    assert encoder.report.texts["compiled"] == 1


def say_modules(tokenizer: str, file: Path) -> None:
    """Makes the tables, and writes which modules that took."""
    build(tokenizer)
    file.write_text("\n".join(sys.modules), encoding="utf-8")


def child(work: Callable[..., None], *arguments: object) -> int:
    """Forks a child that does the work. Returns its process id."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(*arguments)
            code = 0
        except Exception:  # a child never goes on as its parent: it says why, and ends with 1
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def code_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def half_written(folder: Path) -> list[str]:
    """The files that have the name of a whole one, and that no process takes."""
    return [path.name for path in tables_in(folder) if disk_cache.read(KIND, path.stem) is None]


def tables_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.arrays"))


def main(tokenizer: str, seed: str, kills: str) -> None:
    tokpar.adapters.hf_call.LEAST_KEPT = 0  # the tables of a small file are kept, too
    draw, folder = random.Random(seed), disk_cache.directory(KIND)
    assert folder is not None
    modules = folder.parent / "modules"
    assert code_of(child(say_modules, tokenizer, modules)) == 0
    for name in modules.read_text(encoding="utf-8").split():  # or each child imports them again
        with suppress(ImportError):
            import_module(name)
    begin = time.monotonic()
    tables_in(folder)[0].unlink()
    assert code_of(child(build, tokenizer)) == 0
    lasts = time.monotonic() - begin
    (whole,) = tables_in(folder)
    writes = 2 * len(disk_cache.read(KIND, whole.stem) or ()) + 3  # two of each array, and the ends
    for number in range(int(kills)):
        for path in tables_in(folder):
            path.unlink()
        if number % 2:
            pid = child(build, tokenizer, draw.randrange(writes))
        else:
            pid = child(build, tokenizer)
            time.sleep(draw.random() * lasts)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        left = {
            "killed": code_of(pid) == -signal.SIGKILL,
            "half written": half_written(folder),
            "begun": len([*folder.glob(f"*{cache_files.PART}")]),
            "right": code_of(child(check, tokenizer)) == 0,
            "made": [path.name for path in tables_in(folder)] == [whole.name],
        }
        print(json.dumps(left), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
