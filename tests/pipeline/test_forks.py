"""A forked child of a process whose threads are busy answers as its parent does, and ends."""

from __future__ import annotations

import os

import pytest

from tests.support.fork_doors import DOORS, PACKAGES
from tests.support.forked_children import counts_of
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
