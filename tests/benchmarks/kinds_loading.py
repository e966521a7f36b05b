"""Seconds in which a new process loads a tokenizer's file, for `tests.benchmarks.kinds`.

    python -m tests.benchmarks.kinds_loading FILE own|tokpar

prints the seconds until the tokenizer can be called. Imports do not count. "own": with the
tokenizer's own library; "tokpar": the same, and a `tokpar.Encoder` of the object. Each measurement
has a process of its own, because tokpar keeps facts of a vocabulary in the process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import tokpar
from tests.benchmarks.kinds_rows import FIRST, OURS, OWN, Row, Step, subject_of
from tests.benchmarks.speed_engines import Subject
from tests.benchmarks.turns import timed

CHECKOUT = Path(__file__).parents[2]


def loading(subject: Subject, turns: int, step: Step) -> Row:
    """Seconds of loading by the tokenizer's own library and with tokpar, in turns."""
    row = Row(subject.name, "loading")
    for _ in range(turns):
        for engine in (OWN, OURS):
            command = [sys.executable, "-m", __name__, str(subject.file), engine]
            printed = subprocess.check_output(command, cwd=CHECKOUT, text=True)
            row.add(engine, FIRST, float(printed))
        step()
    return row


def main() -> None:
    file, engine = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        subject = subject_of(Path(file), Path(directory))
        load = subject.own if engine == OWN else lambda: tokpar.Encoder(subject.load())
        print(timed(load)[0])


if __name__ == "__main__":
    main()
