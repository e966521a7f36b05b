"""What happens in the process of one fault: it gets the faulty code, and runs tests."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import pytest
from _pytest.main import pytest_runtestloop as run_items

from tests.mutants.faults import Fault

Place = tuple[str, str, int]
"""The file, the name and the first line of a function."""


def codes_of(code: CodeType) -> dict[tuple[str, int], CodeType]:
    found = {(code.co_qualname, code.co_firstlineno): code}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= codes_of(each)
    return found


def live_functions(folder: Path) -> dict[Place, list[FunctionType]]:
    """Returns all functions of a folder's modules that are there, by file, name and line."""
    gc.unfreeze()
    found = defaultdict[Place, list[FunctionType]](list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(folder)):
            code = each.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
    gc.collect()
    gc.freeze()  # the collections of the children need not go through what is there
    return found


class FaultyRun:
    """In a process of its own: a fault is planted, and tests run until one fails.

    If it is a look, there is no fault, all tests run, and what they call is noted."""

    def __init__(
        self, session: pytest.Session, own: Path, root: Path, seconds: float, is_look: bool
    ) -> None:
        """`own`: the folder of this process. `root`: the copy of the checkout."""
        self.session, self.own, self.root = session, own, root
        self.seconds, self.is_look = seconds, is_look
        self.called, self.failed = set[CodeType](), False

    def run(self, items: list[pytest.Item]) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(self.seconds) + 60,) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2)
        output = os.open(self.own / "output", os.O_CREAT | os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.environ["XDG_CACHE_HOME"] = str(self.own)
        config = self.session.config
        config._tmp_path_factory._basetemp = self.own / "tests"  # type: ignore[attr-defined]
        (self.own / "tests").mkdir()
        self.log = open(self.own / "log", "w", buffering=1)  # noqa: SIM115
        config.pluginmanager.register(self)
        self.session.items = items
        if self.is_look:
            self.looked = open(self.own / "looked", "w", buffering=1)  # noqa: SIM115
            threading.settrace(self.note)
        self.begun = time.process_time()
        run_items(self.session)
        os._exit(0)

    def load(self, library: Path) -> None:
        from tokpar.process import kernel_modules

        name = "tokpar.compiled._call"
        spec = importlib.util.spec_from_file_location(name, library)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        spec.loader.exec_module(module)  # type: ignore[union-attr]
        kernel_modules.CALL = sys.modules[name] = module

    def change_functions(
        self, functions: dict[Place, list[FunctionType]], fault: Fault, text: str
    ) -> None:
        """Gives the functions of a module the code of the fault. `text`: the source without it."""
        file = str(self.root / fault.file)
        old, new = (
            codes_of(compile(t, file, "exec", dont_inherit=True)) for t in (text, fault.text)
        )
        for place, code in new.items():
            if code != old.get(place):
                for function in functions.get((file, *place), []):
                    function.__code__ = code

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.process_time() - self.begun > self.seconds:
            os._exit(0)
        self.log.write(json.dumps(["start", item.nodeid]) + "\n")
        self.at = time.process_time()
        if self.is_look:
            self.called, self.failed = set(), False
            sys.settrace(self.note)

    def note(self, frame: FrameType, event: str, _: object) -> None:
        self.called.add(frame.f_code)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.is_look:
            self.failed = True
        elif report.failed:
            self.log.write(json.dumps(["failed", report.nodeid]) + "\n")
            os._exit(1)
        if report.when == "teardown":
            spent = time.process_time() - self.at
            self.log.write(json.dumps(["passed", report.nodeid, round(spent, 3)]) + "\n")
            if self.is_look:
                sys.settrace(None)
                own = str(self.root / "tokpar")
                called = [
                    (code.co_filename, code.co_qualname, code.co_firstlineno)
                    for code in [*self.called] if code.co_filename.startswith(own)
                ]  # fmt: skip
                self.looked.write(json.dumps([report.nodeid, called, self.failed]) + "\n")
