"""A forked child of a process whose threads are busy answers as its parent does, and ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.fork_doors import DOORS, PACKAGES
from tests.support.forked_children import counts_of
from tests.support.paths import ROOT
from tests.support.profiles import cases, chosen_profile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
ROUNDS = {"quick": 2, "dev": 20, "ci": 60, "deep": 200}[chosen_profile()]
LEFT_OUT = {"encode, segments", "encode, words", "encode, threads", "streams", "trusted sessions"}
IN_QUICK = [door for door in DOORS if door not in LEFT_OUT]


@pytest.mark.parametrize("package", [None, "transformers"])
def test_children_beside_busy_threads_answer_as_the_parent_does(package: str | None) -> None:
    """The doors of one package have one test: the package is imported once."""
    if package:
        pytest.importorskip(package, reason=f"{package} is missing")
    doors = [door for door in cases(DOORS, IN_QUICK) if PACKAGES.get(door) == package]
    assert len(doors) > 2
    found = counts_of("tests.support.fork_doors", doors, ROUNDS)
    assert found == {door: {"right": ROUNDS} for door in doors}


SCRIPT = """
import os, threading, time
import tokpar
from tests.support.offsets_drawn import tiling
from tokpar.compiled import compiled_build
from tokpar.decoding import text_table

parent, free, begun = os.getpid(), threading.Event(), []

def hold(module, name):
    make, is_begun = getattr(module, name), threading.Event()
    def made(*given):
        is_begun.set()
        assert os.getpid() != parent or free.wait(60)
        return make(*given)
    setattr(module, name, made)
    begun.append(is_begun)

hold(compiled_build, "_new_call")
hold(text_table, "checked_table")
text_table.LEAST_IDS = 1
compiled_build.LEAST_KEPT = 1 << 60  # no table on disk
adapter = tokpar.load(tiling())
encoder = tokpar.Encoder(adapter)
ids = encoder.encode("the dog").ids.tolist()
assert adapter.decode_by_table([ids]) == [None]
assert all(each.wait(60) for each in begun)
child = os.fork()
if child:
    free.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(bool(child), adapter.why_not_compiled if not child else "")
until = time.monotonic() + 60
while time.monotonic() < until:
    assert encoder.encode("the dog").ids.tolist() == ids
    texts = adapter.decode_by_table([ids])
    if not adapter.why_not_compiled and texts == ["the dog"]:
        break
    time.sleep(0.01)
print(bool(child), adapter.why_not_compiled, texts, flush=True)
"""


def test_a_child_makes_the_tables_that_its_parent_had_only_begun() -> None:
    run = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "False  ['the dog']",
        "False its tables are made when the first text comes",
        "True ",
        "True  ['the dog']",
    ]
