"""docs/tokenizers.md is what the command makes of docs/tokenizers.json; the command measures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import below_one
from tests.support.paths import VOCAB

below_one()

from tests.benchmarks import tokenizers, tokenizers_rows  # noqa: E402
from tests.benchmarks.tokenizers_page import page  # noqa: E402
from tests.recipes.tokenizer_files.shapes import SHAPES  # noqa: E402
from tests.recipes.tokenizer_files.training import train  # noqa: E402

RESULTS = json.loads(tokenizers.RESULTS.read_text(encoding="utf-8"))
ROWS = RESULTS["rows"]
WORDS = "The dog and the fox, 1234 times: it's 中文。\n\n    x += 1\n"


def test_the_page_is_made_of_the_results() -> None:
    assert tokenizers.PAGE.read_text(encoding="utf-8") == page(RESULTS)


def test_there_are_enough_rows_and_each_is_whole() -> None:
    published = [name for name, row in ROWS.items() if row["origin"].startswith("published")]
    assert len(ROWS) >= 30
    assert len(published) >= 12
    for name, row in ROWS.items():
        assert set(row["cuts"]) == {"English", "Chinese", "code", "of"}, name
        assert row["ids"]["texts"] > RESULTS["texts"]["hostile"] > 100
        assert len(row["ids"]["strategies"]) >= 6
        assert row["ids"]["differ"] == []


def test_the_page_names_each_row_and_each_refusal() -> None:
    text = tokenizers.PAGE.read_text(encoding="utf-8")
    for name, row in ROWS.items():
        assert len(re.findall(rf"^\| {re.escape(name)} \|", text, re.MULTILINE)) == 2
        for language in ("English", "Chinese", "code"):
            assert row["cuts"][language]["why"] in text


# ------------------------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tokenizers and texts for them; short samples, and no time to wait for."""
    for module, name, value in (
        (tokenizers_rows, "CUT_LETTERS", 400),
        (tokenizers_rows, "LETTERS", 300),
        (tokenizers_rows, "PIECES", 2),
        (tokenizers_rows, "SPEED_LETTERS", 2000),
        (tokenizers_rows, "LEAST_SECONDS", 0.0),
        (tokenizers_rows, "hostile_texts", lambda: ("a  b", "中文 x", "e\u0301")),
        (tokenizers_rows, "standard_library", lambda: "def f(x):\n    return x\n" * 200),
    ):
        monkeypatch.setattr(module, name, value)
    for corpus in ("leval", "chinese"):
        lines = json.dumps({"text": WORDS * 40}) + "\n"
        (tmp_path / f"{corpus}.jsonl").write_text(lines * 4, encoding="utf-8")
    small = train(SHAPES["Gemma"], [WORDS], 400)
    (tmp_path / "small.json").write_text(small.to_str(), encoding="utf-8")
    pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
    ranks = (VOCAB / "cl100k_part.tiktoken").read_bytes()
    (tmp_path / "ranks.tiktoken").write_bytes(ranks)
    settings = {"pat_str": pattern, "special_tokens": {}}
    index = {
        "Small": {"file": "small.json", "origin": "trained here", "settings": {}},
        "Ranks": {"file": "ranks.tiktoken", "origin": "published: x", "settings": settings},
    }
    (tmp_path / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return tmp_path


def run(files: Path, *more: str) -> dict[str, Any]:
    results = files / "out.json"
    known = ["--files", str(files), "--corpora", str(files), "--results", str(results)]
    tokenizers.main([*known, *more])
    found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    return found


def test_the_command_measures_each_row_and_writes_the_page(files: Path) -> None:
    found = run(files)
    ranks = found["rows"]["Ranks"]
    assert ranks["pipeline"][1] == "tiktoken's, cl100k's pattern"
    assert ranks["cuts"]["English"]["rules"]["PAIR"] > 50
    assert ranks["cuts"]["English"]["mean"] < 10 < ranks["cuts"]["English"]["greatest"] + 5
    assert ranks["ids"]["differ"] == []
    assert len(ranks["speed"]["ratio"]) == 3
    assert found["rows"]["Small"]["pipeline"][0] == "Replace(' ' by '▁')"
    assert (files / "out.md").read_text(encoding="utf-8") == page(found)


def test_a_run_goes_on_where_it_was(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(files, "--only", "Ranks", "--no-speed")
    assert set(first["rows"]["Ranks"]) == {"origin", "pipeline", "cuts", "ids"}
    assert first["rows"]["Small"] == {}
    kept = first["rows"]["Ranks"]["ids"]
    for part in ("cuts", "ids"):
        measure = tokenizers.PARTS[part]
        monkeypatch.setitem(tokenizers.PARTS, part, _only_once(measure))
    second = run(files)
    assert second["rows"]["Ranks"]["ids"] == kept
    assert set(second["rows"]["Small"]) == {"origin", "pipeline", "cuts", "ids", "speed"}
    monkeypatch.setattr(tokenizers, "sources", lambda: "another tokpar")
    with pytest.raises(AssertionError, match="measured again"):
        run(files)


def test_whole_corpora_are_more_than_samples_of_them(files: Path) -> None:
    only = ("--only", "Small", "--parts", "ids")
    runs = run(files, *only), run(files, *only, "--all-texts"), run(files, *only)
    counts = [found["rows"]["Small"]["ids"]["code points"] for found in runs]
    assert counts[0] < 8 * 40 * len(WORDS) < counts[1] == counts[2]


def _only_once(measure: Any) -> Any:
    left = [1]

    def counted(*arguments: Any) -> Any:
        left[0] -= 1
        assert left[0] >= 0, "measured again"
        return measure(*arguments)

    return counted


def test_ids_that_differ_end_the_command_with_one(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*arguments: Any) -> dict[str, Any]:
        return tokenizers_rows.compared(*arguments) | {"differ": ["auto {}: 'x'"]}

    monkeypatch.setitem(tokenizers.PARTS, "ids", wrong)
    known = ["--files", str(files), "--corpora", str(files), "--no-speed"]
    assert tokenizers.main([*known, "--results", str(files / "out.json")]) == 1
    assert "Small: [\"auto {}: 'x'\"]" in capsys.readouterr().err
    assert "| Small | 1 |" in (files / "out.md").read_text(encoding="utf-8")


def test_a_row_that_is_not_there_is_named(files: Path) -> None:
    with pytest.raises(SystemExit, match="no such row: Large; there are Small, Ranks"):
        run(files, "--only", "Large")
