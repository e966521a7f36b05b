"""The published figures, and the conditions under which ours are measured."""

from __future__ import annotations

import csv
import json
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tokpar_bench import paper_figures
from tokpar_bench.conditions import conditions
from tokpar_bench.datasets import Dataset, english, synthetic
from tokpar_bench.measuring import run as run_experiments
from tokpar_bench.records import CONDITIONS, BenchResults
from tokpar_bench.subjects import ComparedMethod, Resources
from tokpar_bench.training import training

from tests.support.cli_runs import run
from tests.support.paths import DEFAULT

XHTML = "{http://www.w3.org/1999/xhtml}"


def file_rows(name: str) -> list[list[str]]:
    """The rows of a data file, read without the module under test."""
    path = files("tokpar_bench") / "published_figures" / f"{name}.csv"
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_three_published_cells_are_those_of_the_data_file() -> None:
    by_name = {tuple(row[:2]): row for row in file_rows("lopt_table_1")}
    row = by_name["DeepSeek-V3", "Delimiter based ParallelTokenizer (-)"]
    found = paper_figures.method_figures("DeepSeek-V3", "leval", "delimiter-space")
    assert found is not None
    assert [row[4], row[5]] == ["5.1", "0.804"]
    assert found == paper_figures.PublishedMethod(float(row[4]) / 1000, float(row[5]))
    last = file_rows("lopt_table_2")[-1]
    scaling = paper_figures.scaling_figures()[-1]
    assert (scaling.workers, scaling.speedup, scaling.amdahl) == (32, 7.27, 29.85)
    assert (str(scaling.workers), float(last[6]), float(last[7])) == ("32", 7.27, 29.85)
    [retried] = [row for row in file_rows("lopt_table_3") if row[:2] == ["Qwen3-8B", "LongBenchV2"]]
    retry = paper_figures.retry_figures("Qwen3", repetitive=False)
    assert retry is not None
    assert [retry.own_seconds, retry.seconds, retry.retries, retry.speedup] == [
        float(cell) for cell in retried[2:]
    ]


@dataclass(frozen=True)
class PaperRun:
    """A run with --paper: what it printed, the directory that it wrote, the files of its texts and
    of its tokenizer."""

    printed: str
    out: Path
    texts: Path
    tokenizer: Path

    @property
    def results(self) -> dict[str, Any]:
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def paper_run(tmp_path_factory: pytest.TempPathFactory) -> PaperRun:
    folder = tmp_path_factory.mktemp("paper")
    deepseek = shutil.copy(DEFAULT, folder / "deepseek.json")
    text = "".join(part for part, _ in zip(english(np_random()), range(60), strict=False))
    path = folder / "leval.jsonl"
    rows = [json.dumps({"text": text + str(i)}) for i in range(3)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    arguments = ("--paper", "--tokenizer", deepseek, "--only", "methods,scaling", "--repeats", 1)
    outcome = run("bench", path, *arguments, "--chars", 3000, "--out", folder)
    assert outcome.code == 0
    return PaperRun(outcome.out, folder, path, Path(deepseek))


def test_the_page_has_three_cells_of_the_data_file_and_three_of_the_json(
    paper_run: PaperRun,
) -> None:
    html = (paper_run.out / "report.html").read_text(encoding="utf-8")
    table = cells_of(html, "Table 1, accuracy and latency")
    assert table["method"] == [
        "accuracy",
        "published",
        "speed",
        "published",
        "ms per text",
        "published",
    ]
    published_row = {tuple(row[:2]): row for row in file_rows("lopt_table_1")}
    names = "HuggingFace TokenizerFast", "Delimiter based ParallelTokenizer (-)"
    own, space = (published_row["DeepSeek-V3", name] for name in names)
    assert (own[4], space[4], space[5]) == ("32.4", "5.1", "0.804")
    assert table["delimiter-space"][1::2] == [
        space[5],
        f"{float(own[4]) / float(space[4]):.2f}x",
        f"{float(space[4]):.2f}",
    ]
    ours = {row["method"]: row for row in paper_run.results["methods"]}
    seconds = {name: row["seconds"]["median"] for name, row in ours.items()}
    assert table["delimiter-space"][0:3:2] == [
        f"{int(1000 * ours['delimiter-space']['texts_equal'] + 1e-9) / 1000:.3f}",
        f"{seconds['serial'] / seconds['delimiter-space']:.2f}x",
    ]
    shown = float(table["delimiter-space"][4].replace(",", ""))
    assert shown == pytest.approx(1000 * seconds["delimiter-space"], rel=0.006)


def cells_of(html: str, title: str) -> dict[str, list[str]]:
    """The cells of the first table under a heading that begins so, by the first cell of the row."""
    root = ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))
    inside = list(root.iter())
    place = next(
        place
        for place, each in enumerate(inside)
        if each.tag == XHTML + "h3" and (each.text or "").startswith(title)
    )
    table = next(each for each in inside[place:] if each.tag == XHTML + "table")
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter(XHTML + "tr")]
    return {name: cells for name, *cells in rows}


def np_random() -> object:
    import random

    return random.Random(5)


def test_every_condition_is_measured_on_the_second_half_and_ids_are_equal() -> None:
    text = synthetic(1, 1, 40_000)[0].texts[0]
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        methods = [ComparedMethod("auto", "auto")]
        made = conditions(Dataset("d", (text,), "here"), subject, methods, 1, resources, 40_000)
        results = BenchResults()
        run_experiments([made], 1, 1, results, lambda chars: None)
    rows = {(row.method, row.condition): row for row in results.methods}
    assert set(rows) == {(name, each) for name in ("serial", "auto") for each in CONDITIONS}
    assert all(row.texts_equal == 1 for row in results.methods)
    assert {row.code_points for row in results.methods} == {20_000}
    assert {row.part for row in results.methods} == {"conditions"}


def test_both_trainers_find_the_same_merges_and_others_are_no_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("tokpar_train")
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        made = training(subject, synthetic(1, 1, 5000), 5000)
        results = BenchResults()
        run_experiments([made], 1, 1, results, lambda chars: None)
        assert not results.notes
        assert [len(row.values) for row in results.figures] == [2, 2]
        assert {row.tokenizer for row in results.figures} == {"trained here"}
        monkeypatch.setattr("tokpar_bench.training._hugging_face", lambda text, size: [])
        wrong = BenchResults()
        run_experiments([made], 2, 1, wrong, lambda chars: None)
    assert not wrong.figures
    assert any("differ from Hugging Face's" in note for note in wrong.notes)
