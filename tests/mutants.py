"""Plant small faults in tokpar, one at a time, and list which test notices each of them.

    python -m tests.mutants --seed 1 --count 300 --jobs 1
    python -m tests.mutants --faults noticed --rooms cuts patterns

The first line plants 300 faults, as many in each room, and writes a row for each to
tests/data/mutants.json: id, file, line, what was changed, and the test that failed, or null. A run
that was stopped goes on with the next fault. The second line plants again what the list says is
noticed, and fails if a fault is not noticed now: a test may be deleted if this passes for its room.

Each fault is planted in a copy of the checkout, in a temporary directory. The tests of its room run
there: the test of the list first, then the files that name the faulty module, then the others, in
an order drawn for the fault. They stop at the first failure, or after so many seconds of a core. A
test that uses 60 seconds more than that notices the fault, too. A fault is named and drawn by a
hash of its text: a change elsewhere leaves it what it is.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/data/mutants.json"
LOADED = ["hypothesis.strategies", "numpy", "pytest", "regex", "tiktoken", "tokenizers", "tqdm"]
"""Is imported once, before the tests of any fault; nothing of tokpar."""
DOORS = "pipeline/test_doors.py pipeline/test_regressions.py"
ROOMS = {
    "cuts": f"cuts/*.py | cuts facts compiled/test_recalled.py methods/test_lossless.py {DOORS}",
    "patterns": "patterns/*.py | patterns cuts certificate/test_windows_checked.py",
    "compiled": f"compiled/[!_]*.py | compiled {DOORS}",
    "call": f"compiled/call*.h compiled/call.c"
    f" | compiled decoding adapters/test_offsets.py {DOORS}",
    "pipeline": "pipeline/*.py encoder.py results/adding_up.py results/spans.py"
    " | pipeline methods/test_lossless.py methods/test_combining.py",
    "sessions": f"sessions/*.py cuts/stable_cuts.py | sessions cuts/test_stream_parts.py {DOORS}",
    "streams": "sessions/streaming.py chunks/*.py"
    f" | chunks cuts/test_stream_parts.py pipeline/test_stream.py {DOORS}",
    "offsets": "adapters/hf_offset*.py adapters/hf_[tp]*.py facts/wrong_offsets.py"
    " | adapters integrations",
    "decoding": "decoding/*.py | decoding",
    "checker": "certificate/*.py | certificate untrusted",
}
"""Of each room: the files in tokpar/ that get faults, and the tests in tests/ that run."""

SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.In: ast.NotIn, ast.Is: ast.IsNot
}  # fmt: skip
SWAPPED |= {new: old for old, new in SWAPPED.items()}
IN_C: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (r" ([<>])(=?) ", lambda found: f" {found[1]} " if found[2] else f" {found[1]}= "),
    (r" ([!=])= ", lambda found: " != " if found[1] == "=" else " == "),
    (r" (&&|\|\|) ", lambda found: " || " if found[1] == "&&" else " && "),
    (r" [+-] 1\b|(?<=\bif \()!", lambda found: ""),
    (r"\b0x[0-9a-fA-F]{2,}", lambda found: hex(int(found[0], 16) ^ 1)),
]


class Fault(NamedTuple):
    """`new` in place of the bytes `start` to `stop` of a file."""

    name: str
    file: str
    line: int
    what: str
    start: int
    stop: int
    new: str


def changed(node: Any, in_function: bool) -> Iterator[ast.AST]:
    """Yields the faulty expressions that may stand in the place of an expression."""
    twin = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        twin.ops = [SWAPPED[type(node.ops[0])]()]
        yield twin
    elif isinstance(node, ast.BoolOp):
        for k in range(len(node.values)):
            rest = [*node.values[:k], *node.values[k + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and ast.unparse(node.right) == "1":
        yield node.left
    elif isinstance(node, ast.Constant) and type(node.value) is int and in_function:
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Dict) and len(node.keys) > 2:
        twin.values[1], twin.values[2] = twin.values[2], twin.values[1]
        yield twin
    elif (
        isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 2 and not in_function
    ):
        del twin.elts[1]
        yield twin


def expressions(node: Any, in_function: bool = False) -> Iterator[tuple[Any, bool]]:
    """Yields the expressions below a node, and if they stand in a function; none of an annotation,
    a text, or the message of an error."""
    for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    if for_types or isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return
    if isinstance(node, ast.expr):
        yield node, in_function
    inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns") and (field != "slice" or in_function):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from expressions(child, inside)


def faults_in_python(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Yields start, stop and the new text of each fault; bytes."""
    lines = [0, *(found.end() for found in re.finditer(rb"\n", text))]
    for node, in_function in expressions(ast.parse(text)):
        start, stop = lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1]
        for new in changed(node, in_function):
            yield start, stop + node.end_col_offset, f"({ast.unparse(new)})"


def faults_in_c(text: bytes) -> Iterator[tuple[int, int, str]]:
    """The same, of a file in C."""
    no_code = re.compile(rb'/\*.*?\*/|^ *#[^\n]*|"[^"\n]*"', re.S | re.M)
    code = no_code.sub(lambda found: b"\0" * len(found[0]), text).decode("latin-1")
    for pattern, new in IN_C:
        for found in re.finditer(pattern, code):
            yield found.start(), found.end(), new(found)


def faults_of(files: str) -> Iterator[Fault]:
    """Yields all faults that may be planted in the files of a room."""
    for file in (path for each in files.split() for path in sorted((ROOT / "tokpar").glob(each))):
        text, seen, in_python = file.read_bytes(), Counter[str](), file.suffix == ".py"
        name = str(file.relative_to(ROOT))
        for start, stop, new in (faults_in_python if in_python else faults_in_c)(text):
            what = f"{text[start:stop].decode()} -> {new}"
            if not in_python:  # the line around it tells which one it is
                line = text[text.rfind(b"\n", 0, start) + 1 : text.find(b"\n", start)].decode()
                what = f"{what} in {line}"
            what = " ".join(what.split())
            seen[what] += 1
            key = hashlib.sha256(f"{name} {what} {seen[what]}".encode()).hexdigest()[:8]
            yield Fault(key, name, text.count(b"\n", 0, start) + 1, what[:120], start, stop, new)


class Order:
    """A plugin of pytest: which tests run first, when they end, and which test runs now."""

    def __init__(self, folder: Path, seconds: int, first: str, file: str, draw: str) -> None:
        self.started, self.seconds, self.first, self.draw = folder / "started", seconds, first, draw
        self.about, self.is_over = Path(file).stem, False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {path: self._place_of(path) for path in {item.path for item in items}}
        items.sort(key=lambda item: (item.nodeid != self.first, places[item.path]))

    def _place_of(self, path: Path) -> tuple[int, bytes]:
        """Files that name the faulty module come first, then those whose own name is like its."""
        words = [word for word in self.about.split("_") if len(word) > 3 and word in path.name]
        near = 2 * (self.about in path.read_text("utf-8")) + len(words)
        return -near, hashlib.sha256(f"{self.draw} {path.name}".encode()).digest()

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self.started.write_text(item.nodeid)
        if time.process_time() > self.seconds:
            item.session.shouldstop, self.is_over = "the time is over", True


def run(folder: Path, tests: Sequence[str], seconds: int, *order: Any) -> None:
    """In a process of its own: run tests in a copy. The exit code is 0 if none of them failed.
    `order`: see Order."""
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 60,) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2)
    for name in [name for name in sys.modules if re.match(r"(tests|tokpar)\b", name)]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    with tempfile.TemporaryDirectory(dir=folder) as own, open(folder / "output", "wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        given = {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": own, "TOKPAR_PROFILE": "quick"}
        os.environ.update(given, HYPOTHESIS_STORAGE_DIRECTORY=own)
        options = ["-xq", "-n0", "-pno:cacheprovider", "--hypothesis-seed=0", "--timeout=200"]
        options.append("-Wignore::pytest.PytestAssertRewriteWarning")  # of what LOADED names
        plugin = Order(folder, seconds, *order)
        code = pytest.main([*options, f"--basetemp={own}/tests", *tests], [plugin])
    os._exit(0 if plugin.is_over else int(code))


class Copy:
    """A copy of the checkout, in which one fault after the other is planted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.times = folder, count(1_000_000_000)
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(LOADED)
        ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, folder, ignore=ignored)

    def noticed_by(self, fault: Fault, tests: Sequence[str], *how: Any) -> str | None:
        """The test that fails with the fault, alone too, or None. `how`: see `run`."""
        file, library = self.folder / fault.file, self.folder / "tokpar/compiled/_call.abi3.so"
        text, compiled = file.read_bytes(), library.read_bytes()
        self._write(file, text[: fault.start] + fault.new.encode() + text[fault.stop :])
        try:
            if file.suffix != ".py" and not compile_call(library):
                return "compiler"
            found = self.first_failure(tests, *how)
            return self.first_failure([found], *how) if found and "::" in found else found
        finally:
            self._write(file, text)
            self._write(library, compiled)

    def _write(self, file: Path, content: bytes) -> None:
        """Bytecode is kept by the second and size of its source, so each gets a second of its own.
        A library that is mapped is not written over."""
        file.unlink(missing_ok=True)
        file.write_bytes(content)
        os.utime(file, (next(self.times),) * 2)

    def first_failure(self, *how: Any) -> str | None:
        """The first test that fails, or None. `how`: see `run`, but for the folder."""
        (started := self.folder / "started").write_text("collection")
        process = self.processes.Process(target=run, args=(self.folder, *how))
        process.start()
        process.join(600)
        process.kill()
        process.join()
        return started.read_text() if process.exitcode else None


def compile_call(library: Path) -> bool:
    """Compiles call.c into a new file at the library's place. False if there is an error."""
    library.unlink()  # it is mapped
    options = ["-shared", "-fPIC", "-O1", "-w", "-DPy_LIMITED_API=0x030B0000"]
    options += ["-I", sysconfig.get_paths()["include"], "-o", str(library)]
    command = ["cc", *options, str(library.with_name("call.c"))]
    return subprocess.run(command, capture_output=True).returncode == 0


def chosen(given: argparse.Namespace, rows: dict[str, list[Any]]) -> list[tuple[str, Fault]]:
    """The faults that are planted, each with its room; the rooms by turns."""
    turns = []
    for room in given.rooms:
        draw = {
            hashlib.sha256(f"{given.seed} {f.name}".encode()).digest(): f
            for f in faults_of(ROOMS[room].split(" | ")[0])
        }
        faults = [draw[key] for key in sorted(draw)]
        if given.faults == "new":
            faults = [f for f in faults[: given.count // len(ROOMS)] if f.name not in rows]
        else:
            asked = given.faults == "noticed"
            faults = [f for f in faults if f.name in rows and bool(rows[f.name][4]) == asked]
        turns += [(k, room, fault) for k, fault in enumerate(faults)]
    return [(room, fault) for _, room, fault in sorted(turns, key=lambda turn: turn[:2])]


def main(given: argparse.Namespace) -> int:
    """Returns 1 if a fault that the list says is noticed is not noticed now."""
    rows = {row[0]: row for row in json.loads(LIST.read_text())} if LIST.exists() else {}
    planted, lost, copies = chosen(given, rows), 0, SimpleQueue[Copy]()
    tests = {
        room: [f"tests/{each}" for each in ROOMS[room].split(" | ")[1].split()] for room in ROOMS
    }

    def plant(turn: tuple[str, Fault]) -> str | None:
        (room, fault), tree = turn, copies.get()
        first = rows.get(fault.name, [""])[-1] or ""
        try:
            return tree.noticed_by(fault, tests[room], given.seconds, first, fault.file, fault.name)
        finally:
            copies.put(tree)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        for k in range(given.jobs):
            copies.put(tree := Copy(Path(folder, str(k))))
        for room in {room for room, _ in planted}:
            if failure := tree.first_failure(tests[room], given.seconds, "", "", ""):
                return print(f"{failure} fails without a fault") or 2
        found = tqdm(pool.map(plant, planted), total=len(planted), unit="fault", smoothing=0)
        for (_, fault), test in zip(planted, found, strict=True):
            if test is None:
                lost += given.faults == "noticed"
                found.write(f"not noticed: {fault.file}:{fault.line} {fault.what}")
            rows[fault.name] = [fault.name, fault.file, fault.line, fault.what, test]
            ordered = sorted(rows.values(), key=lambda row: (row[1], row[2], row[0]))
            LIST.write_text("[\n" + ",\n".join(map(json.dumps, ordered)) + "\n]\n")
    noticed = sum(row[4] is not None for row in rows.values())
    print(f"{len(planted)} planted; {noticed} of the {len(rows)} in the list are noticed")
    return int(lost > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Plant faults in tokpar; see the top of this file."
    )
    parser.add_argument("--seed", default="1", help="draws the faults")
    parser.add_argument("--count", type=int, default=300, help="faults in all rooms together")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument(
        "--seconds", type=int, default=30, help="of a core, for the tests of a fault"
    )
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--faults", choices=("new", "noticed", "survivors"), default="new")
    sys.exit(main(parser.parse_args()))
