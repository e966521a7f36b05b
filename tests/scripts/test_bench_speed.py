"""`python -m tests.benchmarks.speed` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks import speed, turns
from tests.benchmarks.speed_engines import Subject, subjects
from tests.support.paths import VOCAB

WORDS = " ".join("abcdefghijklmnopqrstuvwxyz")
SAMPLE = speed.Sample("English", "1K", "a b " * 250)
CALLS = {"Hugging Face": ["encode"], "tiktoken": ["encode_ordinary", "encode_to_numpy"]}


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    here = tmp_path / "vocab"
    here.mkdir()
    shutil.copy(VOCAB / "deepseek_part.json", here / "deepseek.json")
    shutil.copy(VOCAB / "cl100k_part.tiktoken", here / "cl100k_base.tiktoken")
    return here


@pytest.fixture
def english(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps({"text": "The dog and the fox. " * 500}) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(speed, "SIZES", {"1K": 1_000, "10K": 10_000})
    monkeypatch.setattr(speed, "SLOW", {"Hugging Face": {"English": 10_000, "others": 1_000}})
    monkeypatch.setattr(speed, "standard_library", lambda: f"import {WORDS}\n" * 300)


def test_each_own_call_is_compared_on_each_text(
    vocab: Path, english: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, pages = tmp_path / "out.json", tmp_path / "out.md"
    places = ["--vocab", str(vocab), "--texts", str(english), "--chinese", str(english)]
    sizes = ["--sizes", "1K,10K", "--kinds", "1K,10K", "--rounds", "2"]
    wanted = ["--only", "Hugging,tiktoken", "--json", str(out), "--markdown", str(pages)]
    assert speed.main([*places, *sizes, *wanted]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    rows = record["rows"]
    english_1k, *_, base64_10k = rows
    assert (english_1k["kind"], english_1k["size"], base64_10k["kind"]) == (
        "English",
        "1K",
        "base64",
    )
    assert len(rows) == 6 + 10, "Hugging Face has no other kinds of 10K"
    for row in rows:
        calls = CALLS[row["subject"].split(", ")[1]]
        assert list(row["own"]) == list(row["tokpar"]) == list(row["ratios"]) == calls
        assert all(low <= middle <= high for middle, low, high in row["ratios"].values())
        assert (row["later_ratio"] is not None) == (calls == ["encode"])
    assert set(record["provenance"]["texts"]) >= {"English 1K", "Chinese 10K", "base64 1K"}
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(rows) + 1
    tables = pages.read_text(encoding="utf-8")
    assert tables.count("| DeepSeek-V3, Hugging Face, `encode` |") == 2
    assert tables.count("by an adapter that has seen no text |") == 2
    lines = [line for line in tables.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in lines)
    assert tables.count("\n\n| engine") == tables.count("| engine") == 5
    assert "| cl100k, tiktoken, `encode_to_numpy` |" in tables


def test_an_interrupt_keeps_the_rows_before(
    vocab: Path, english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = speed.measured

    def interrupted(subject: Subject, pairs: Any, sample: speed.Sample, rounds: int) -> Any:
        if sample.size == "10K":
            raise KeyboardInterrupt
        return measured(subject, pairs, sample, rounds)

    monkeypatch.setattr(speed, "measured", interrupted)
    out = tmp_path / "out.json"
    wanted = ["--only", "tiktoken", "--sizes", "1K,10K", "--rounds", "1", "--json", str(out)]
    with pytest.raises(KeyboardInterrupt):
        speed.main(["--vocab", str(vocab), "--texts", str(english), *wanted])
    [row] = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert (row["subject"], row["size"]) == ("cl100k, tiktoken", "1K")


def test_other_ids_end_the_run(vocab: Path) -> None:
    def wrong(text: str) -> Any:
        return np.zeros(3, dtype=np.uint32)

    [right] = subjects(vocab, ["cl100k"])
    own = right.own().one
    pairs = [(own, right.load()), (own | {"wrong": wrong}, right.load())]
    with pytest.raises(SystemExit, match="cl100k, tiktoken, English 1K: the ids differ"):
        speed.measured(right, pairs, SAMPLE, 1)


@pytest.mark.parametrize(("rounds", "turns"), [(1, 2), (4, 4), (5, 6)])
def test_the_turns_are_shared_out_among_the_objects(vocab: Path, rounds: int, turns: int) -> None:
    [subject] = subjects(vocab, ["cl100k"])
    pairs = [(subject.own().one, subject.load()) for _ in range(2)]
    assert speed.measured(subject, pairs, SAMPLE, rounds).rounds == turns


def test_an_unknown_size_is_refused(vocab: Path, english: Path) -> None:
    with pytest.raises(SystemExit, match="a size is one of 1K, 10K, got '2K'"):
        speed.main(["--vocab", str(vocab), "--texts", str(english), "--sizes", "2K"])


def test_what_is_missing_is_left_out(tmp_path: Path) -> None:
    assert list(subjects(tmp_path, ["Hugging", "tiktoken"])) == []
