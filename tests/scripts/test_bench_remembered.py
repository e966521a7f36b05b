"""`python -m tests.benchmarks.remembered` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.benchmarks import remembered, remembered_sides
from tests.benchmarks.parity import DifferError
from tests.benchmarks.remembered_bytes import cache_bytes, held
from tests.benchmarks.remembered_rows import Sides, measured, quartiles
from tests.benchmarks.remembered_sides import STATES, Text
from tests.benchmarks.speed_engines import Many, Own, Subject, library_subjects
from tests.support.paths import VOCAB

SENTENCE = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n"
TEXT = Text("English", [SENTENCE * 200])


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(remembered, "peers", lambda subject: {})
    monkeypatch.setattr(remembered, "standard_library", lambda: "import this\n" * 900)
    vocab, files = tmp_path / "vocab", tmp_path / "files"
    vocab.mkdir()
    files.mkdir()
    shutil.copy(VOCAB / "deepseek_part.json", vocab / "deepseek.json")
    shutil.copy(VOCAB / "cl100k_part.tiktoken", vocab / "cl100k_base.tiktoken")
    shutil.copy(VOCAB / "metaspace_unigram.json", files / "t5__small.json")
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"text": SENTENCE * 400}) + "\n", encoding="utf-8")
    sizes = ["--size", "9000", "--others", "6000", "--turns", "2"]
    return ["--vocab", str(vocab), "--files", str(files), "--texts", str(texts), *sizes]


@pytest.fixture
def subject(places: list[str]) -> Subject:
    [found] = library_subjects(Path(places[1]), ["cl100k"])
    return found


def test_each_text_is_measured_in_each_state(
    places: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, pages = tmp_path / "out.json", tmp_path / "out.md"
    wanted = ["--only", "cl100k,T5", "--turns", "1", "--chinese", places[5]]
    wanted += ["--json", str(out), "--markdown", str(pages)]
    assert remembered.main([*places, *wanted]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    rows = [row for row in record["rows"] if row["part"] == "row"]
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in remembered.KINDS}
    assert [row["state"] for row in rows] == 2 * 6 * list(STATES)
    assert all(len(of_kind) == 6 for of_kind in kinds.values())
    for row in rows:
        assert {*row["own"], "tokpar"} <= row["seconds"].keys()
        assert {len(seconds) for seconds in row["seconds"].values()} == {1}
        if row["kind"] == "English":
            assert row["bytes"] == (4500 if row["state"] == "warm" else 9000)
    assert all("tokpar without memory" in row["seconds"] for row in kinds["base64"])
    assert set(record["provenance"]["texts"]) == set(remembered.KINDS)
    printed = capsys.readouterr()
    tables = pages.read_text(encoding="utf-8")
    assert printed.out == tables
    assert tables.count("| T5, Hugging Face | code | seen |") == 1
    assert "cl100k, tiktoken, base64, warm ..." in printed.err
    heads = ("Ratio to the own call", "MB/s of each", "Threads", "Bytes for each byte")
    assert all(head in tables for head in heads)
    assert all(line.endswith("|") for line in tables.splitlines() if line.startswith("|"))


def test_a_row_whose_ids_differ_is_named_and_not_shown(
    places: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def other_ids(subject: Subject, together: bool, **settings: Any) -> Many:
        return Many(lambda texts: None, lambda _: [np.zeros(3, dtype=np.uint32)])

    monkeypatch.setattr("tests.benchmarks.remembered_rows.ours", other_ids)
    few = ["--only", "cl100k", "--kinds", "English", "--parts", "speed", "--states", "seen"]
    assert remembered.main([*places, *few]) == 1
    printed = capsys.readouterr()
    assert "left out: cl100k, tiktoken, English, seen: the ids of tokpar differ" in printed.err
    assert "|" not in printed.out


def peer(own: Own, change: Any) -> dict[str, Any]:
    """The calls of tokie, as if these were its own."""

    def call(text: str) -> Any:
        return change(own.one["encode_to_numpy"](text))

    return {"tokie": lambda: Own({"encode_batch_flat": call}, {})}


def test_another_engine_is_left_out_if_its_ids_differ(subject: Subject) -> None:
    def broken(ids: Any) -> Any:
        raise ValueError("no | such\ntext")

    same = Sides.of(subject, peer(subject.own(), lambda ids: ids), TEXT)
    row = measured(subject, same, TEXT, "seen", 2)
    assert len(row.seconds["tokie"]) == 2
    for change, why in (
        (lambda ids: ids[1:], "other ids"),
        (broken, "ValueError: no | such\ntext"),
    ):
        others = Sides.of(subject, peer(subject.own(), change), TEXT)
        row = measured(subject, others, TEXT, "cold", 1)
        assert row.left_out == {"tokie": why}
        assert "tokie" not in row.seconds


def test_a_certificate_that_does_not_hold_is_an_error(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = tokpar.check

    def of_another(encoding: Any, text: str, adapter: Any) -> Any:
        return right(encoding, text[1:], adapter)

    monkeypatch.setattr(tokpar, "check", of_another)
    with pytest.raises(DifferError, match="cl100k, tiktoken, English, warm"):
        measured(subject, Sides.of(subject, {}, TEXT), TEXT, "warm", 1)


def test_objects_have_seen_what_the_state_says() -> None:
    seen: list[Sequence[str]] = []
    side = remembered_sides.Side("own", lambda: Many(seen.append))
    for state, before in zip(STATES, ([], [["a"]], [["a", "b", "c"]]), strict=True):
        seen.clear()
        call, _ = remembered_sides.prepared(side, Text("x", ["a", "b", "c"], True), state)
        assert seen == before
        call()
        assert seen[-1] == (["b", "c"] if state == "warm" else ["a", "b", "c"])


def test_the_bytes_of_a_memory_are_counted(subject: Subject) -> None:
    found = held(subject, TEXT)
    assert found.cold > 0
    assert found.seen > 0
    assert (found.table > 0) == (tokpar.kernel_modules.SEGMENTS is not None)
    assert cache_bytes(object()) == (0, 0)


def test_quartiles_are_the_median_and_the_two_beside_it() -> None:
    assert quartiles([3.0]) == (3.0, 3.0, 3.0)
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (3.0, 2.0, 4.0)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["--kinds", "English,nope"], "minified JSON, got nope"),
        (["--states", "hot"], "cold, warm, seen, got hot"),
        (["--turns", "0"], "must be at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    places: list[str], wrong: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        remembered.main([*places, *wrong])
    assert named in capsys.readouterr().err
