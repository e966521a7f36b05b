"""A plugin of pytest that collects the tests of a room once, and forks for each fault.

In the child the functions of the faulty module get the faulty code, or the kernel is the faulty
one; the file in the copy has the fault, too, for processes that tests start. What a test did once
goes first: tests that noticed a fault of the same file, then of the room, then files that name
the module, in each file the quick tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.mutants.faults import Fault
from tests.mutants.faulty_run import FaultyRun, Place, codes_of, live_functions

QUICK, SLOW = 0.15, 2.0
"""Seconds of a core of a test that runs early, and of one that waits until all others have run."""


class Outcome(NamedTuple):
    """`test`: what noticed the fault, or None. `seconds`: of a core, of the tests that ran."""

    test: str | None
    seconds: float
    tests: int


def compile_call(folder: Path, library: Path) -> bool:
    """Compiles call.c of a folder. -O0: the ids are the same, in a third of the time."""
    options = ["-shared", "-fPIC", "-O0", "-w", "-DPy_LIMITED_API=0x030B0000"]
    options += ["-I", sysconfig.get_paths()["include"], "-o", str(library)]
    command = ["cc", *options, str(folder / "call.c")]
    return subprocess.run(command, capture_output=True).returncode == 0


class Planting:
    """Plants faults one by one in the copy of the checkout at `root`, and tells of each."""

    def __init__(
        self, root: Path, faults: list[Fault], firsts: dict[str, str], begins: tuple[str, ...],
        seconds: float,
        tell: Callable[[Fault, Outcome], None], runs_all: bool, look_seconds: float,
    ) -> None:  # fmt: skip
        self.root, self.faults, self.firsts, self.begins = root, faults, firsts, begins
        self.seconds, self.tell = seconds, tell
        self.runs_all, self.look_seconds = runs_all, look_seconds
        self.looked: list[tuple[str, list[Place], bool]] = []
        self.called: dict[str, set[Place]] = {}
        self.durations: dict[str, float] = {}
        self.noticed_of_file = defaultdict[str, Counter[str]](Counter)
        self.noticed = Counter[str](test for test in firsts.values() if "::" in test)
        self.sound: dict[str, bool] = {}
        self.times = 1_000_000_000

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return print("tests are not collected") or True
        self.functions = live_functions(self.root / "tokpar")
        self.named = {path: path.read_text("utf-8") for path in {i.path for i in session.items}}
        self.all_items = list(session.items)
        self.look(session)
        for fault in self.faults:
            self.tell(fault, self.outcome_of(session, fault))
        return True

    def outcome_of(self, session: pytest.Session, fault: Fault) -> Outcome:
        """A test that fails without the fault is left out from then on."""
        while True:
            items = self.ordered(fault)
            outcome = self.run(session, fault, items)
            test = outcome.test
            if test is None or "::" not in test or self.is_sound(session, test, items):
                break
            print(f"fails without a fault: {test}", flush=True)
            self.all_items = [item for item in self.all_items if item.nodeid != test]
        if test is not None and "::" in test:
            self.noticed[test] += 1
            self.noticed_of_file[fault.file][test] += 1
        return outcome

    def is_sound(self, session: pytest.Session, test: str, items: list[pytest.Item]) -> bool:
        """True if a test passes without a fault behind those of `items` that stand before it."""
        if test in self.called:
            return True  # it was looked at
        if test not in self.sound:
            stop = [item.nodeid for item in items].index(test) + 1
            self.sound[test] = self.run(session, None, items[:stop]).test is None
        return self.sound[test]

    def look(self, session: pytest.Session) -> None:
        """Runs the tests once without a fault, while there is time: how long each takes, which
        functions it calls, and which fail."""
        self.run(session, None, sorted(self.all_items, key=lambda i: str(i.path)), is_look=True)
        for test, called, failed in self.looked:
            self.called[test] = {tuple(place) for place in called}
            if failed:
                print(f"fails without a fault: {test}", flush=True)
                self.all_items = [item for item in self.all_items if item.nodeid != test]

    def places_of(self, fault: Fault) -> set[Place]:
        """The innermost functions that the fault changes; empty for one in C."""
        if not fault.file.endswith(".py"):
            return set()
        file = self.root / fault.file
        old, new = (
            codes_of(compile(text, str(file), "exec", dont_inherit=True))
            for text in (file.read_text("utf-8"), fault.text)
        )
        changed = [place for place, code in new.items() if code != old.get(place)]
        last = max((line for _, line in changed), default=0)
        return {(str(file), name, line) for name, line in changed if line == last}

    def ordered(self, fault: Fault) -> list[pytest.Item]:
        places = self.places_of(fault)
        items = self.all_items
        if places and not self.runs_all:
            items = [
                i for i in items if i.nodeid not in self.called or self.called[i.nodeid] & places
            ]
        module, first = Path(fault.file).stem, self.firsts.get(fault.key)
        of_file, most = self.noticed_of_file[fault.file], dict(self.noticed.most_common(20))
        words = [word for word in module.split("_") if len(word) > 3]

        def near(path: Path) -> int:
            return 2 * (module in self.named[path]) + sum(word in path.name for word in words)

        def key(item: pytest.Item) -> tuple[Any, ...]:
            test, duration = item.nodeid, self.durations.get(item.nodeid, 0.1)
            if test == first:
                return (0,)
            if duration < SLOW and (of_file[test] or test in most):
                return 1, -of_file[test], -most.get(test, 0)
            if item.path.name in self.begins:
                return 2, duration > SLOW / 4, self.begins.index(item.path.name)
            misses = not self.called.get(test, set()) & places
            return 3, duration > SLOW, misses, duration > QUICK, -near(item.path), str(item.path)

        return sorted(items, key=key)

    def run(
        self,
        session: pytest.Session,
        fault: Fault | None,
        items: list[pytest.Item],
        is_look: bool = False,
    ) -> Outcome:
        """The first of the items that fails with the fault, in a child."""
        file = None if fault is None else self.root / fault.file
        text = "" if file is None else file.read_text("utf-8")
        own = self.root / "own"
        own.mkdir()
        library: Path | None = None
        if fault is not None and file is not None:
            if file.suffix == ".py":
                self.write(file, fault.text)
            else:
                shutil.copytree(
                    file.parent, own / "compiled", ignore=shutil.ignore_patterns("*.so")
                )
                (own / "compiled" / file.name).write_text(fault.text, "utf-8")
                library = own / "_call.abi3.so"
                if not compile_call(own / "compiled", library):
                    shutil.rmtree(own)
                    return Outcome("compiler", 0, 0)
        try:
            process = os.fork()
            if process == 0:
                try:
                    seconds = self.look_seconds if is_look else self.seconds
                    run = FaultyRun(session, own, self.root, seconds, is_look)
                    if library is not None:
                        run.load(library)
                    elif fault is not None:
                        run.change_functions(self.functions, fault, text)
                    run.run(items)
                except BaseException as error:  # the fault broke pytest itself
                    (own / "error").write_text(repr(error))
                finally:
                    os._exit(9)
            outcome = self.outcome(process, own)
            if is_look:
                lines = (own / "looked").read_text() if (own / "looked").exists() else ""
                self.looked = [json.loads(line) for line in lines.splitlines()]
            return outcome
        finally:
            if file is not None and file.suffix == ".py":
                self.write(file, text)
            shutil.rmtree(own, ignore_errors=True)

    def outcome(self, process: int, own: Path) -> Outcome:
        """Waits for a child. One that dies, or uses its time up in one test, notices the fault."""
        end = time.monotonic() + 600
        while not (ended := os.waitpid(process, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        if not ended[0]:
            ended = os.waitpid(process, 0)
        lines = (own / "log").read_text().splitlines() if (own / "log").exists() else []
        found, used, started = None, 0.0, ""
        for line in map(json.loads, lines):
            if line[0] == "start":
                started = line[1]
            elif line[0] == "passed":
                self.durations[line[1]], started = line[2], ""
                used += line[2]
            else:
                found = line[1]
        code = os.waitstatus_to_exitcode(ended[1])
        if code != 0 and found is None:
            found = (
                started or (own / "error").read_text()
                if (own / "error").exists() or started
                else f"exit {code}"
            )
        return Outcome(found if code else None, used, len(lines) // 2)

    def write(self, file: Path, text: str) -> None:
        """Bytecode is kept by the second and size of its source, so each gets a second."""
        file.write_text(text, "utf-8")
        self.times += 1
        os.utime(file, (self.times, self.times))


def run_room(tests: list[str], planting: Planting) -> int:
    """Collects tests in the current directory, which is the copy's root, and plants the faults."""
    for name in [name for name in sys.modules if re.match(r"(tokpar)\b", name)]:
        del sys.modules[name]
    options = ["-q", "-n0", "-pno:cacheprovider", "--hypothesis-seed=0", "--timeout=200", "-s"]
    return int(pytest.main([*options, *tests], [planting]))
