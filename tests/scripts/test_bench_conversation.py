"""The script that measures a conversation prints a row for each tokenizer, and compares the ids."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tokpar
from tests.benchmarks import conversation

DEFAULT = str(Path(tokpar.__file__).parent / "data" / "default.json")


def test_the_script_prints_a_row_for_each_tokenizer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The quick brown fox 中文 😀. " * 100, encoding="utf-8")
    given = [DEFAULT, str(text), "--turns", "24", "--own-every", "3"]
    monkeypatch.setattr(sys, "argv", ["conversation", *given])
    conversation.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("| default | ")
    assert printed[-1].count(" ms |") == 3
    assert "about" in printed[-1].split("|")[4]


def test_each_turn_removes_the_thoughts_of_the_turn_before() -> None:
    first, second, third = conversation.texts_of("question answer  thanks!  ", 3)
    assert conversation.THOUGHTS in second
    assert second.startswith(first)
    assert not third.startswith(second)
    assert conversation.THOUGHTS not in third


def test_other_ids_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = conversation.sides_of(DEFAULT)
    sides["own"] = lambda text: lambda: sides["cache"](text)()[1:]
    monkeypatch.setattr(conversation, "sides_of", lambda tokenizer: sides)
    with pytest.raises(AssertionError, match="turn 0: other ids"):
        conversation.measure(DEFAULT, "some words " * 20, 4, 1)
