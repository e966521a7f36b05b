"""`tokpar explain --edited` shows what a session does with an edit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tokpar_explain import edit
from tokpar_explain.edit import make_edit

import tokpar
from tests.support.cli_runs import run
from tests.support.drawn_runs import NAMES, adapter_of, named

BEFORE = (
    "user: hi\nassistant: <think>\n\n</think>\nHello\n" + "user: and now, what is a cut?\n" * 1500
)
AFTER = BEFORE.replace("<think>\n\n</think>\n", "")


def test_the_command_shows_what_is_kept_and_what_is_encoded_again(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(BEFORE, encoding="utf-8")
    new.write_text(AFTER, encoding="utf-8")
    printed = run("explain", old, "--edited", new)
    assert printed.code == 0
    assert f"the {len(tokpar.Encoder().encode(AFTER)):,} ids are the serial ones" in printed.out
    assert "⟦" in printed.out
    found = json.loads(run("explain", old, "--edited", new, "--json").out)
    assert (found["equal"], found["edited"]) == (True, str(new))
    assert 0 < found["encoded"] <= found["stop"] - found["start"] < len(AFTER)


@pytest.mark.parametrize("name", NAMES)
def test_the_changed_ids_make_the_new_ones_of_the_old_ones(name: str) -> None:
    adapter = adapter_of(named(name))
    made = make_edit(BEFORE, AFTER, adapter)
    old, new = made.old.tolist(), made.new.tolist()
    rest = old[made.first + made.removed :]
    assert old[: made.first] + new[made.first : made.last] + rest == new
    assert new == list(map(int, adapter.encode(AFTER)))
    assert made.equal


def test_ids_that_are_not_the_serial_ones_are_said_to_be_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit, "serial_ids", lambda tokenizer, text: np.zeros(1, np.uint32))
    file = tmp_path / "text.txt"
    file.write_text(AFTER, encoding="utf-8")
    printed = run("explain", file, "--edited", file)
    assert printed.code == 1
    assert "are NOT the serial ones" in printed.out
