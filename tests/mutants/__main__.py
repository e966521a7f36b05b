"""Plant small faults in the rooms that decide ids, one at a time, and list which test notices each.

    python -m tests.mutants --seed 77 --count 34
    python -m tests.mutants --faults noticed --rooms cuts patterns

The first line plants 34 faults in each room, and those that tests/data/written_faults.json has for
the state machines (room, file, text, faulty text), and writes a row for each to
tests/data/mutants.json:
key, room, file, line, what was changed, and the test that failed, or null, or "equivalent: " and
why no test can fail. A run that was stopped goes on with the next fault. The second line plants
again what the list says is noticed, and fails if a fault is not noticed now: a test may be deleted
if this passes for its room. `--faults survivors` plants the others again.

Needs the extra `test` and cosmic-ray, whose operators make the faults in Python; a C compiler
builds the kernel again for each fault in C. All is done in a copy of the checkout, in a temporary
directory. The tests of a fault's room run until one fails, or for 60 seconds of a core.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.mutants.faults import Fault, drawn_faults, written_faults
from tests.mutants.planting import Outcome, Planting, run_room
from tests.mutants.rooms import ROOMS, ROOT

LIST = ROOT / "tests/data/mutants.json"
EQUIVALENT = "equivalent: "


def stored(path: Path) -> dict[str, list[Any]]:
    return {row[0]: row for row in json.loads(path.read_text())} if path.exists() else {}


def faults_for(room: str, given: argparse.Namespace, rows: dict[str, list[Any]]) -> list[Fault]:
    """The faults of a room that this run plants."""
    if given.faults == "new":
        drawn = drawn_faults(ROOMS[room], given.seed, given.count)
        return [fault for fault in [*written_faults(room), *drawn] if fault.key not in rows]
    kinds = {"noticed": lambda test: test and not test.startswith(EQUIVALENT),
             "survivors": lambda test: not test}  # fmt: skip
    wanted = {key for key, row in rows.items() if row[1] == room and kinds[given.faults](row[5])}
    drawn = drawn_faults(ROOMS[room], given.seed, given.count, frozenset(wanted))
    return [*(fault for fault in written_faults(room) if fault.key in wanted), *drawn]


def plant(room: str, given: argparse.Namespace) -> None:
    """Plants the faults of a room; in a process of its own, which imports the copy of tokpar."""
    rows = stored(given.list)
    faults = faults_for(room, given, rows)

    def tell(fault: Fault, outcome: Outcome) -> None:
        place = f"{fault.key} {fault.file}:{fault.line} {fault.what}"
        work = f"{outcome.tests} tests {outcome.seconds:.1f} s"
        print(f"{time.strftime('%X')} {room} {place} | {work} | {outcome.test}", flush=True)
        rows = stored(given.list)
        what = fault.what[:200]
        rows[fault.key] = [fault.key, room, fault.file, fault.line, what, outcome.test]
        ordered = sorted(rows.values(), key=lambda row: (row[2], row[3], row[0]))
        given.list.write_text("[\n" + ",\n".join(map(json.dumps, ordered)) + "\n]\n")

    if not faults:
        return
    print(f"{room}: {len(faults)} faults", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "checkout")
        ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, root, ignore=ignored)
        os.chdir(root)
        os.environ |= {
            "TOKPAR_PROFILE": ROOMS[room].profile,
            "PYTHONPATH": str(root),
            "OPENBLAS_NUM_THREADS": "1",
        }
        sys.path.insert(0, str(root))
        firsts = {key: row[5] or "" for key, row in rows.items()}
        planting = Planting(
            root,
            faults,
            firsts,
            ROOMS[room].first,
            given.seconds,
            tell,
            given.faults == "survivors",
            given.look,
        )
        run_room(ROOMS[room].folders(), planting)


def main(given: argparse.Namespace) -> int:
    """Returns 1 if a fault that the list says is noticed is not noticed now."""
    before = stored(given.list)
    for room in given.rooms:
        process = multiprocessing.get_context("fork").Process(target=plant, args=(room, given))
        process.start()
        process.join()
    after = stored(given.list)
    print("room          faults  noticed  equivalent  left")
    for room in given.rooms:
        tests = [row[5] for row in after.values() if row[1] == room]
        same = sum(bool(test) and test.startswith(EQUIVALENT) for test in tests)
        left = tests.count(None)
        print(f"{room:13} {len(tests):6} {len(tests) - same - left:8} {same:11} {left:5}")
    return int(any(row[5] and not after[key][5] for key, row in before.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Plant faults; see the top of this file.")
    parser.add_argument("--seed", default="77", help="draws the faults")
    parser.add_argument("--count", type=int, default=34, help="faults in each room")
    parser.add_argument("--seconds", type=float, default=60, help="of a core, for a fault's tests")
    parser.add_argument("--look", type=float, default=120, help="seconds for all tests without one")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--faults", choices=("new", "noticed", "survivors"), default="new")
    parser.add_argument("--list", type=Path, default=LIST, help="the file of the rows")
    sys.exit(main(parser.parse_args()))
