"""A forked child of a process whose threads are busy answers as its parent does, and ends."""

from __future__ import annotations

import os

import pytest

from tests.support.fork_doors import DOORS
from tests.support.forked_children import counts_of
from tests.support.profiles import cases, chosen_profile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
ROUNDS = {"quick": 2, "dev": 20, "ci": 60, "deep": 200}[chosen_profile()]
LEFT_OUT = {"encode, segments", "encode, words", "encode, threads", "streams", "trusted sessions"}
IN_QUICK = [door for door in DOORS if door not in LEFT_OUT]
OF_TRANSFORMERS = {"as_hf, compiled", "as_hf, segments", "patch_transformers"}


@pytest.mark.parametrize("door", cases([*DOORS], IN_QUICK))
def test_children_beside_busy_threads_answer_as_the_parent_does(door: str) -> None:
    if door in OF_TRANSFORMERS:
        pytest.importorskip("transformers", reason="transformers is missing")
    counts, said = counts_of("tests.support.fork_doors", door, ROUNDS)
    assert counts == {"right": ROUNDS}, said
