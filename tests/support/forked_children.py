"""Forks children beside busy threads, and says what became of them.

    python -m tests.support.forked_children MODULE ROUNDS DOOR [DOOR ...]

`DOORS` of `MODULE` has a function for each name that returns a `Door`, and `PACKAGES` the package
that it uses besides, if any. Each door is opened in a
process of its own, forked from one that has imported the module and has no other thread; so they
share the time of the imports only. A child that does nothing any more writes where each of its
threads is, and ends: one that computes may be slow, because a busy machine gives it little time.
Nothing here waits without a limit."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any

from tests.support.paths import ROOT

SECONDS = int(os.environ.get("TOKPAR_CHILD_SECONDS", "20"))
"""A child counts as hanging that has had the processor for less than `LEAST` of so many seconds."""
LEAST = 0.2
LONGEST = 5 * SECONDS
"""No child may take longer, whatever it computes."""
MOST_HANGING = 3
"""After so many hanging children the rest is not tried."""
TURNS = 2
"""How often a child does its work: what it learns in the first turn it uses in the second."""


def nothing() -> None:
    pass


@dataclass(frozen=True)
class Door:
    """`check`: uses one part of tokpar and raises AssertionError if a result is not right. `busy`:
    what threads of the parent do meanwhile. `before`: called before each fork."""

    check: Callable[[], object]
    busy: Callable[[], object] | None = None
    before: Callable[[], object] = nothing


@dataclass
class Outcomes:
    """How many children ended well, hung, and failed; and what the first of these wrote."""

    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)


def forked(work: Callable[[], object], file: IO[Any]) -> str:
    """Forks a child that does `work`. Returns "right", "hangs" or "fails"; `file` gets why."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            faulthandler.register(signal.SIGUSR1, file, all_threads=True)
            for _ in range(TURNS):
                work()
            code = 0
        except BaseException:
            file.write(traceback.format_exc().encode())
            file.flush()
        finally:
            os._exit(code)
    code = code_of(child)
    return "hangs" if code is None else "right" if code == 0 else "fails"


def code_of(child: int) -> int | None:
    """Waits for a child. Returns its exit code, or None for a child that hung and was killed."""
    began = counted = time.monotonic()
    spent = 0.0
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        if now - counted > SECONDS:
            spent, before = processor_time(child), spent
            if spent - before < LEAST or now - began > LONGEST:
                break
            counted = now
        time.sleep(0.001)
    os.kill(child, signal.SIGUSR1)  # faulthandler writes the stacks
    time.sleep(1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def processor_time(child: int) -> float:
    """Returns the seconds that the threads of a process have had a processor; 0 where the system
    has no /proc, so that all seconds count."""
    try:
        with open(f"/proc/{child}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def beside_threads(door: Door, rounds: int, threads: int = 2) -> Outcomes:
    """Forks so many children, at drawn moments, beside threads that are busy at the door."""
    ended, errors, outcomes = threading.Event(), list[BaseException](), Outcomes()

    def work() -> None:
        try:
            while not ended.is_set():
                (door.busy or door.check)()
        except BaseException as error:
            errors.append(error)

    busy = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    interval, draw = sys.getswitchinterval(), random.Random(rounds)
    sys.setswitchinterval(1e-4)
    for thread in busy:
        thread.start()
    for _ in range(rounds):
        time.sleep(draw.random() / 100)
        door.before()
        with tempfile.TemporaryFile() as file:
            found = forked(door.check, file)
            outcomes.counts[found] += 1
            if found != "right":
                file.seek(0)
                outcomes.said.append(file.read().decode())
        if outcomes.counts["hangs"] >= MOST_HANGING or errors:
            break
    ended.set()
    sys.setswitchinterval(interval)
    for thread in busy:
        thread.join(60)
    if errors:
        outcomes.said.append("".join(traceback.format_exception(errors[0])))
        outcomes.counts["threads failed"] += len(errors)
    return outcomes


def counts_of(module: str, doors: Sequence[str], rounds: int) -> dict[str, dict[str, int] | str]:
    """For each door: what became of the children of its process, by outcome; or, if one of them was
    not right, what one of them wrote."""
    command = [sys.executable, "-m", "tests.support.forked_children", module, str(rounds), *doors]
    said = output_of(command, 250 + rounds * len(doors)).splitlines()
    return {each["door"]: each["said"] or each["counts"] for each in map(json.loads, said)}


def output_of(command: Sequence[str], seconds: float, **variables: str) -> str:
    """Returns what a process prints. One that fails or does not end in time is a failure that says
    where its threads were."""
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "true", "PYTHONFAULTHANDLER": "1"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment | variables,
        start_new_session=True,
    ) as process:
        try:
            said, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler writes the stacks
            time.sleep(1)
            os.killpg(process.pid, signal.SIGKILL)
            said, errors = process.communicate()
            raise AssertionError(f"it did not end in {seconds} s:\n{errors[-6000:]}") from None
    assert process.returncode == 0, errors[-6000:]
    return said


def open_door(name: str, door: Callable[[], Door], rounds: int) -> None:
    outcomes = beside_threads(door(), rounds)
    said = "\n".join(outcomes.said)[:6000]
    print(json.dumps({"door": name, "counts": outcomes.counts, "said": said}), flush=True)


def main(module: str, rounds: str, *names: str) -> None:
    found = import_module(module)
    for package in {*map(found.PACKAGES.get, names)} - {None}:
        import_module(package)
    for name in names:
        child = os.fork()
        if child == 0:
            try:
                open_door(name, found.DOORS[name], int(rounds))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit(f"the process of {name} ended with {code}")


if __name__ == "__main__":
    main(*sys.argv[1:])
