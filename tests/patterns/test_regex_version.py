"""`regex.DEFAULT_VERSION` belongs to whoever runs the program: nothing of tokpar depends on it."""

from __future__ import annotations

import os
import subprocess
import sys

import regex

from tests.support.paths import ROOT

IN_ANOTHER_PROCESS = """
import regex
regex.DEFAULT_VERSION = regex.VERSION1
assert not regex.fullmatch("[a||b]", "|")

from tokpar.patterns.charclass_members import match_chars, members
from tokpar_pure.patterns import compile_pattern

assert compile_pattern("[a||b]", "oniguruma").search("|")
assert (ord("|"), ord("|")) in members(["[a||b]"], "regex")["[a||b]"]
assert match_chars("[a||b]", "regex", "b|").tolist() == [True, True]
"""


def test_the_default_version_of_the_process_changes_nothing() -> None:
    assert regex.fullmatch("[a||b]", "|", regex.VERSION0)
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # of packages not installed
    )
    assert done.returncode == 0, done.stderr
