"""`python -m tests.benchmarks.engines` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import engines
from tests.benchmarks.engines_calls import Calls
from tests.benchmarks.engines_texts import KINDS
from tests.support.paths import VOCAB

ENGLISH = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n"
CHINESE = "在一个名为维里埃的小镇上，市长因其外表和家族历史受到尊敬。\n"


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a run with two tokenizers and no other engine."""
    monkeypatch.setattr(engines, "standard_library", lambda: "import this\n" * 900)
    monkeypatch.setattr("os.sched_setaffinity", lambda *given: None, raising=False)
    english, chinese = tmp_path / "english.txt", tmp_path / "chinese.jsonl"
    english.write_text(ENGLISH * 600, encoding="utf-8")
    chinese.write_text(json.dumps({"text": CHINESE * 300}) + "\n", encoding="utf-8")
    tokenizers = [
        f"--tokenizer={VOCAB / name}" for name in ("deepseek_part.json", "bert_part.json")
    ]
    texts = [f"--english={english}", f"--chinese={chinese}", "--size=8000", "--turns=2"]
    return [*tokenizers, *texts, "--engines=", "--cores=1"]


def changed(engine: str, call: int, change: Any) -> Any:
    """`Subject._calls` whose object `engine` returns `change(ids)` in call number `call`."""
    right = engines.Subject._calls

    def calls(self: Any, name: str) -> Calls:
        found = right(self, name) if name == engines.OURS else right(self, engines.OURS)
        count = -1

        def one(text: str) -> Any:
            nonlocal count
            count += 1
            ids = found.one(text)
            return change(ids) if (name, count) == (engine, call) else ids

        return found._replace(one=one)

    return calls


def test_a_run_prints_every_row_and_column(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert engines.main(options) == 0
    table = capsys.readouterr().out.split("\n\n")[-1]
    rows = [line.split("|")[1:-1] for line in table.strip().splitlines()]
    assert [cell.strip() for cell in rows[0]] == [
        *("tokenizer", "text", "MB", "own"),
        *("tokpar first", "tokpar seen", "first / best", "seen / best"),
    ]
    assert [row[1].strip() for row in rows[2:]] == [*KINDS] * 2
    assert all(float(cell) >= 0 for row in rows[2:] for cell in row[2:6])


@pytest.mark.parametrize("call", [1, 4])
def test_ids_of_new_and_of_seen_text_are_compared(
    call: int,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(engines.Subject, "_calls", changed("tokpar", call, lambda ids: ids[1:]))
    assert engines.main([*options, "--kinds=HTML"]) == 1
    assert "error: deepseek_part, HTML: tokpar has other ids" in capsys.readouterr().err


def test_another_engine_with_other_ids_is_marked_and_is_not_the_best(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engines.Subject, "_is_loaded", lambda self, engine: True)
    monkeypatch.setattr(engines, "find_spec", lambda name: name == "tokie")
    options = [*options, "--engines=tokie", "--kinds=HTML"]
    for change, mark in ((lambda ids: ids + 1, "*"), (lambda ids: ids[1:-1], "")):
        monkeypatch.setattr(engines.Subject, "_calls", changed("tokie", 1, change))
        assert engines.main(options) == 0
        row = capsys.readouterr().out.strip().splitlines()[-1].split("|")  # BERT has a frame
        assert all(cell.strip().endswith(mark) for cell in row[7:9])
        assert (row[-2].strip() == "-") == bool(mark)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("--kinds=English,nope", "--kinds: got nope; there are English,"),
        ("--engines=nope", "--engines: got nope"),
        ("--turns=0", "--turns must be at least 1"),
        ("--cores=0", "--cores: got '0'"),
        ("--code=/no/such/file", "there is no file /no/such/file"),
    ],
)
def test_wrong_arguments_are_refused(
    options: list[str], wrong: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        engines.main([*options, wrong])
    assert named in capsys.readouterr().err
