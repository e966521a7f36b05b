"""A child that is forked between any two lines of an edit has the session before or after it."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.support.forked_children import output_of
from tests.support.forked_edits import EDITS, TRUSTED_EDITS
from tests.support.profiles import cases

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
EVERY = [("session", edit) for edit in EDITS]
EVERY += [("trusted session", edit) for edit in TRUSTED_EDITS]
IN_QUICK = [("session", "replace"), ("session", "ids"), ("trusted session", "append")]


@pytest.mark.parametrize(("door", "edit"), cases(EVERY, IN_QUICK))
def test_a_child_forked_at_any_line_of_an_edit_has_ids_of_its_text(door: str, edit: str) -> None:
    command = [sys.executable, "-m", "tests.support.forked_edits", door, edit]
    said = json.loads(output_of(command, 250))
    assert len(said) > 3
    assert set(said) == {"right"}
