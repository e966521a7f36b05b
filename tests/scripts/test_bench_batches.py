"""`python -m tests.benchmarks.batches` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks import batches, turns
from tests.benchmarks.speed_engines import Many, Own, Subject, subjects
from tests.support.paths import VOCAB

SENTENCE = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LEAST_SECONDS", 0.0)


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    vocab = tmp_path / "vocab"
    vocab.mkdir()
    shutil.copy(VOCAB / "deepseek_part.json", vocab / "deepseek.json")
    shutil.copy(VOCAB / "cl100k_part.tiktoken", vocab / "cl100k_base.tiktoken")
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"text": SENTENCE * 400}) + "\n", encoding="utf-8")
    only = ["--only", "Hugging,tiktoken", "--megabytes", "0.01", "--rounds", "1"]
    return ["--vocab", str(vocab), "--texts", str(texts), *only]


def test_every_work_is_measured_with_speeds_beside_the_ratio(
    places: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, pages = tmp_path / "out.json", tmp_path / "out.md"
    wanted = ["--parts", "batch,long,short,import", "--json", str(out), "--markdown", str(pages)]
    assert batches.main([*places, *wanted]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    *rows, imported = record["rows"]
    names = ["5 of 2 KB", "50 of 200 bytes", "0.01 MB among 3 of 2 KB", "0.01 MB", "1 KB", "10 KB"]
    assert [row["work"] for row in rows] == 2 * names
    assert [row["bytes"] for row in rows[:6]] == [10_000, 10_000, 15_000, 10_000, 1_000, 10_000]
    for row in rows:
        assert row["ratio"][1] <= row["ratio"][0] <= row["ratio"][2]
        assert row["unseen"] > 0
    assert rows[0]["call"] in ("encode_batch", "encode_batch_fast")
    assert rows[6]["call"] in ("encode_ordinary_batch", "encode_to_numpy")
    assert imported["seconds"][0] > 0
    assert set(record["provenance"]["texts"]) == set(names)
    printed = capsys.readouterr()
    tables = pages.read_text(encoding="utf-8")
    assert printed.out == tables
    assert all(title in tables for title in ("Many texts:", "One long text:", "One short text:"))
    lines = [line for line in tables.splitlines() if line.startswith("|")]
    assert len(lines) == 3 * 2 + len(rows)
    assert all(line.endswith("|") for line in lines)
    assert tables.endswith(" ms\n")
    assert "cl100k, tiktoken, 50 of 200 bytes ..." in printed.err


def test_a_certificate_is_checked(places: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert batches.main([*places, "--parts", "check"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("Check of a certificate:\n\n| engine | text | MB/s | of encoding it |")
    assert table.count(" times |") == 2


def test_a_row_whose_ids_differ_is_not_shown(
    places: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [right] = subjects(Path(places[1]), ["cl100k"])
    own = right.own()

    def missing(texts: list[str]) -> list[np.ndarray]:
        return [ids[:-1] for ids in own.many["encode_to_numpy"].call(texts)]

    wrong = Subject(
        right.name, right.engine, right.load, lambda: Own(own.one, {"wrong": Many(missing)})
    )
    monkeypatch.setattr(batches, "subjects", lambda vocab, only: [wrong])
    assert batches.main([*places, "--parts", "batch,long"]) == 1
    printed = capsys.readouterr()
    said = "left out: cl100k, tiktoken, 5 of 2 KB: the ids differ from those of wrong"
    assert said in printed.err
    assert "Many texts" not in printed.out
    assert "One long text" in printed.out


def test_a_missing_text_is_a_difference(places: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    [right] = subjects(Path(places[1]), ["cl100k"])
    own = right.own()
    short = Many(lambda texts: own.many["encode_to_numpy"].call(texts[:-1]))
    wrong = Subject(right.name, right.engine, right.load, lambda: Own(own.one, {"short": short}))
    monkeypatch.setattr(batches, "subjects", lambda vocab, only: [wrong])
    assert batches.main([*places, "--parts", "batch"]) == 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["--parts", "batch,nope"], "batch, long, short, check, import, got nope"),
        (["--megabytes", "0"], "--megabytes must be at least 0.01"),
        (["--rounds", "0"], "--rounds at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    places: list[str], wrong: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        batches.main([*places, *wrong])
    assert named in capsys.readouterr().err
