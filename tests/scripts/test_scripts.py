"""The two commands behind figures: `tests.benchmarks.engines` and `tests.benchmarks.tokenizers`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.benchmarks import engines, never_slower_counts, refuse_without_kernel, tokenizers
from tests.benchmarks.engines_calls import Calls
from tests.benchmarks.engines_texts import KINDS
from tests.benchmarks.tokenizers_page import page
from tests.benchmarks.tokenizers_way import BY_OWN, BY_WORDS, way_of
from tests.support.paths import TESTS, VOCAB
from tests.support.stage_configs import (
    SHAPES,
    SHAPES_BELOW_ONE,
    Json,
    config,
    stage,
    word_level,
)

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
    given = [f"--tokenizer={VOCAB / name}" for name in ("deepseek_part.json", "bert_part.json")]
    texts = [f"--english={english}", f"--chinese={chinese}", "--size=8000", "--turns=2"]
    return [*given, *texts, "--engines=", "--cores=1"]


def test_engines_prints_and_writes_every_row(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engines.main([*options, "--turns=1", f"--csv={tmp_path / 'rows.csv'}"]) == 0
    table = capsys.readouterr().out.split("\n\n")[-1]
    rows = [line.split("|")[1:-1] for line in table.strip().splitlines()]
    assert [row[1].strip() for row in rows[2:]] == [*KINDS] * 2
    written = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    printed = [",".join(cell.strip() for cell in row) for row in (rows[0], *rows[2:])]
    assert written == [f"cores,{printed[0]}", *(f"1,{row}" for row in printed[1:])]
    assert all(float(cell) >= 0 for row in rows[2:] for cell in row[2:6])


@pytest.mark.parametrize("call", [1, 4])
def test_engines_stops_at_other_ids_of_new_and_of_seen_text(
    call: int,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    right = engines.Subject._calls

    def wrong(self: Any, name: str) -> Calls:
        found, count = right(self, name), -1

        def one(text: str) -> Any:
            nonlocal count
            count += 1
            ids = found.one(text)
            return ids[1:] if (name, count) == (engines.OURS, call) else ids

        return found._replace(one=one)

    monkeypatch.setattr(engines.Subject, "_calls", wrong)
    assert engines.main([*options, "--kinds=HTML"]) == 1
    assert "error: deepseek_part, HTML: tokpar has other ids" in capsys.readouterr().err


def test_the_page_of_tokenizers_is_made_of_the_results_and_all_ids_are_equal() -> None:
    results = json.loads(tokenizers.RESULTS.read_text(encoding="utf-8"))
    assert tokenizers.PAGE.read_text(encoding="utf-8") == page(results)
    assert len(results["rows"]) >= 30
    for name, row in results["rows"].items():
        assert row["ids"]["differ"] == [], name
        assert row["ids"]["texts"] > results["texts"]["hostile"] > 100


MEASURE = sorted(
    file.stem
    for file in (TESTS / "benchmarks").glob("*.py")
    if '__name__ == "__main__"' in file.read_text("utf-8") and file.stem != "where_time_goes"
)
"""The scripts that measure; where_time_goes compiles a kernel of its own."""


@pytest.mark.parametrize("name", MEASURE)
def test_a_script_gives_no_figures_without_the_kernel(name: str) -> None:
    code = (TESTS / "benchmarks" / f"{name}.py").read_text("utf-8")
    assert code.partition('__name__ == "__main__":\n')[2].startswith("    refuse_without_kernel()")


def test_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.process.kernel_modules.CALL", None)
    monkeypatch.setattr("tokpar.process.kernel_modules.WHY_NONE", "nobody built it")
    monkeypatch.setattr("sys.argv", ["engines", "--help"])
    refuse_without_kernel()
    monkeypatch.setattr("sys.argv", ["engines"])
    with pytest.raises(SystemExit, match="without the compiled kernel: nobody built it"):
        refuse_without_kernel()


@pytest.mark.compiled_at_once
@pytest.mark.parametrize(
    ("file", "way", "why"),
    [
        (SHAPES_BELOW_ONE["clip, published"], BY_WORDS, "end_of_word_suffix"),
        (SHAPES["gemma"], "BPE over characters", ""),
        (config(word_level(), [], [stage("UnicodeScripts")]), BY_OWN, "UnicodeScripts"),
    ],
)
def test_the_page_says_which_way_a_tokenizer_goes_and_why(file: Json, way: str, why: str) -> None:
    def load_again() -> Any:
        return tokpar.load(Tokenizer.from_str(json.dumps(file)))

    found = way_of(load_again(), load_again)
    assert found["way"] == way
    assert why in found["why"]


def test_every_form_of_counts_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Session edits end where they began, so each round measures the same text."""
    monkeypatch.setattr(never_slower_counts, "MOST_ROUNDS", 2)
    own = Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    cells = never_slower_counts.cells_of(own, tokpar.Encoder(own), 600)
    assert [*cells] == ["append", "replace", "make", "chunks", "limit", "fit", "stream"]
    assert all(ratio > 0 for cell in cells.values() for ratio in cell)
