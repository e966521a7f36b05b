"""`python -m tests.benchmarks.kinds` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.benchmarks import kinds, kinds_rows
from tests.benchmarks.kinds_rows import measured, subject_of
from tests.benchmarks.kinds_texts import KINDS, Sources, Text
from tests.benchmarks.parity import DifferError
from tests.benchmarks.speed_engines import Many, Subject
from tests.support.paths import VOCAB

ENGLISH = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n"
CHINESE = "在一个名为维里埃的小镇上，市长因其外表和家族历史受到尊敬。\n"
SOURCES = Sources(ENGLISH * 600, CHINESE * 300, "import this\n" * 900, 8_000)
TEXT = Text("English", [ENGLISH * 100])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a run with two tokenizers."""
    monkeypatch.setattr(kinds, "standard_library", lambda: "import this\n" * 900)
    monkeypatch.setattr(kinds, "LEAST_SIZE", 1)
    cl100k = tmp_path / "cl100k_base.tiktoken"
    shutil.copy(VOCAB / "cl100k_part.tiktoken", cl100k)
    english, chinese = tmp_path / "english.txt", tmp_path / "chinese.jsonl"
    english.write_text(SOURCES.english, encoding="utf-8")
    chinese.write_text(json.dumps({"text": SOURCES.chinese}) + "\n", encoding="utf-8")
    tokenizers = ["--tokenizer", str(VOCAB / "deepseek_part.json"), "--tokenizer", str(cl100k)]
    texts = ["--english", str(english), "--chinese", str(chinese)]
    return [*tokenizers, *texts, "--size", "8000", "--turns", "2", "--engines", ""]


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return subject_of(VOCAB / "bert_part.json", tmp_path)


def ours_with_one_other_id(at: int) -> Callable[[Subject, bool], Many]:
    """tokpar's calls; in each object's call number `at`, from 0 on, the last id is another one."""
    right = kinds_rows.ours

    def ours(subject: Subject, is_batch: bool) -> Many:
        many = right(subject, is_batch)
        calls = 0

        def rows(result: Any) -> list[Any]:
            nonlocal calls
            found = [ids.copy() for ids in many.rows(result)]
            if calls == at:
                found[-1][-1] += 1
            calls += 1
            return found

        return Many(many.call, rows)

    return ours


def test_a_run_prints_every_row_and_column(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert kinds.main([*files, "--turns", "1"]) == 0
    printed = capsys.readouterr()
    speeds, ratios, others = printed.out.split("\n\n")[1:4]
    assert "| own call | tokpar first | tokpar second half | tokpar seen |" in speeds
    for table in (speeds, ratios):
        lines = table.strip().splitlines()[2:]
        assert len(lines) == 2 * 10
        for kind in (*KINDS, "chat with special tokens", "16 documents of 2,000"):
            assert sum(f"| {kind} " in line for line in lines) == 2, kind
        assert {line.count("|") for line in lines} == {8}
    assert "-" not in {cell.strip() for cell in speeds.split("|")}
    assert [line.split("|")[2].strip() for line in others.strip().splitlines()[2:]] == 2 * [
        "mixed traffic, 1 English and 1 Chinese documents, ratio",
        "loading, s",
    ]
    assert "cl100k_base, tiktoken, loading: 100%" in printed.err


@pytest.mark.parametrize("kind", ["HTML", "documents", "short texts", "mixed traffic"])
def test_a_difference_stops_the_run(
    kind: str,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(kinds_rows, "ours", ours_with_one_other_id(0))
    assert kinds.main([*files, "--kinds", f"{kind},loading"]) == 1
    printed = capsys.readouterr()
    assert "error: deepseek_part, Hugging Face" in printed.err
    assert "the ids of tokpar differ from those of the own serial call" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("call", [0, 1, 2, 3])
def test_each_call_is_compared(
    call: int, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds_rows, "ours", ours_with_one_other_id(call))
    with pytest.raises(DifferError, match="the ids of tokpar differ"):
        measured(subject, {}, TEXT, 1, lambda: None)


def test_tokpar_may_not_leave_out_special_tokens(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = kinds_rows.ours

    def ours(subject: Subject, is_batch: bool) -> Many:
        many = right(subject, is_batch)
        return Many(many.call, lambda result: [ids[1:-1] for ids in many.rows(result)])

    monkeypatch.setattr(kinds_rows, "ours", ours)
    with pytest.raises(DifferError):
        measured(subject, {}, TEXT, 1, lambda: None)


def test_a_certificate_that_does_not_hold_stops_the_run(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = tokpar.check
    monkeypatch.setattr(tokpar, "check", lambda e, text, adapter: right(e, text[1:], adapter))
    with pytest.raises(DifferError, match="bert_part, Hugging Face, English"):
        measured(subject, {}, TEXT, 1, lambda: None)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["--kinds", "English,nope"], "--kinds: got nope; there are English,"),
        (["--engines", "nope"], "--engines: got nope"),
        (["--turns", "0"], "--turns at least 1"),
        (["--size", "0"], "--size must be at least"),
        (["--code", "/no/such/file"], "there is no file /no/such/file"),
    ],
)
def test_wrong_arguments_are_refused(
    files: list[str], wrong: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        kinds.main([*files, *wrong])
    assert named in capsys.readouterr().err
