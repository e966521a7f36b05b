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

import numpy as np
import pytest
from tokpar_bench import paper_figures
from tokpar_bench.conditions import conditions
from tokpar_bench.datasets import Dataset, english, synthetic
from tokpar_bench.differences import placed_differences
from tokpar_bench.html_page import page
from tokpar_bench.measuring import run as run_experiments
from tokpar_bench.others import others
from tokpar_bench.paper_tables import PAPER_METHODS, tables_of
from tokpar_bench.records import CONDITIONS, BenchResults, from_json
from tokpar_bench.subjects import SERIAL, ComparedMethod, Resources
from tokpar_bench.tables import Table
from tokpar_bench.training import training

import tokpar
from tests.support.cli_runs import run
from tests.support.paths import DEFAULT
from tokpar.interfaces import HasSegmentCache

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


def test_table_1_has_a_cell_for_every_method_tokenizer_and_corpus() -> None:
    tokenizers = {row[0] for row in file_rows("lopt_table_1")[1:]}
    assert len(tokenizers) == 6
    assert set(paper_figures.TOKENIZERS.values()) | set(paper_figures.BERT.values()) == tokenizers
    for tokenizer in tokenizers:
        for corpus in paper_figures.CORPORA:
            for method in paper_figures.METHODS:
                found = paper_figures.method_figures(tokenizer, corpus, method)
                assert found is not None
                assert (found.accuracy is None) == (method == SERIAL.name)
        for repetitive in (True, False):
            assert paper_figures.retry_figures(tokenizer, repetitive) is not None
    assert paper_figures.method_figures("DeepSeek-V3", "leval", "auto") is None
    assert paper_figures.method_figures("none", "leval", "serial") is None
    assert set(paper_figures.METHODS) < set(PAPER_METHODS)


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


def test_three_cells_of_ours_are_those_of_the_json(paper_run: PaperRun) -> None:
    path, written = paper_run.texts, paper_run.results
    deepseek = str(paper_run.tokenizer)
    method = {row["method"]: row for row in written["methods"]}
    lines = [line.split() for line in paper_run.printed.splitlines()]
    own, comma = (
        next(line for line in lines if line[:1] == [name]) for name in ("serial", "delimiter-comma")
    )
    row = method["delimiter-comma"]
    assert float(comma[1]) == int(1000 * row["texts_equal"] + 1e-9) / 1000
    assert row["options"]["chunk_chars"] == "text / 32"
    assert float(own[5].replace(",", "")) == pytest.approx(
        1000 * method["serial"]["seconds"]["median"], rel=0.006
    )
    speed = method["serial"]["seconds"]["median"] / row["seconds"]["median"]
    assert comma[3] == f"{speed:.2f}x"
    ids = [tokpar.encode(each, deepseek, strategy="serial").ids for each in texts_of(path)]
    found = [
        tokpar.encode(
            each,
            deepseek,
            strategy="delimiter",
            delimiter=",",
            chunk_chars=-(-len(each) // 32),
            allow_approximate=True,
        ).ids
        for each in texts_of(path)
    ]
    equal = [np.array_equal(a, b) for a, b in zip(ids, found, strict=True)]
    assert row["texts_equal"] == sum(equal) / 3


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


def texts_of(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]


def test_the_nearest_row_is_told_by_the_file_and_for_bert_by_its_case() -> None:
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        assert paper_figures.nearest_tokenizer(subject) is None
    chinese, english_texts = synthetic(1, 1, 2000)[1], synthetic(1, 1, 2000)[0]
    assert paper_figures.nearest_corpus(chinese) == "clongeval"
    assert paper_figures.nearest_corpus(english_texts) == "leval"
    assert paper_figures.nearest_corpus(Dataset("x", ("a" * 300_000,), "")) == "longbench_v2"
    assert paper_figures.nearest_corpus(Dataset("LongBench-v2.jsonl", ("a",), "")) == "longbench_v2"


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


def test_a_method_that_consults_no_cache_is_timed_with_the_cache_off_alone() -> None:
    text = synthetic(1, 1, 4000)[0].texts[0]
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        sizes = {"chunk_chars": 500}
        methods = [
            ComparedMethod(strategy, strategy, sizes) for strategy in ("cut", "lopt", "overlap")
        ]
        made = conditions(Dataset("d", (text,), "here"), subject, methods, 1, resources, 4000)
        timed = {tuple(job.key) for job in made.jobs}
    assert timed == {(name, each) for name in ("serial", "cut") for each in CONDITIONS} | {
        (name, "cache off") for name in ("lopt", "overlap")
    }


def test_a_fresh_object_has_a_cache_of_its_own_and_the_kept_one_has_none() -> None:
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        one, two = subject.fresh(), subject.fresh()
        assert one is not two
        adapters = one, two, subject.adapter
        assert [has_cache(each) for each in adapters] == [True, True, False]
        assert vars(one)["later_call"] is not vars(two)["later_call"]


def has_cache(adapter: object) -> bool:
    return isinstance(adapter, HasSegmentCache) and adapter.has_segment_cache


def test_results_of_the_first_version_are_refused() -> None:
    with pytest.raises(Exception, match="expected version 2"):
        from_json({"format": "tokpar bench", "version": 1})


def test_a_text_is_cut_in_as_many_equal_chunks_as_asked() -> None:
    method = ComparedMethod("cut", "cut", {"chunk_chars": 4096}).with_chunks(32)
    assert [method.options_for(length)["chunk_chars"] for length in (0, 32, 100, 3200)] == [
        1,
        1,
        4,
        100,
    ]
    assert method.with_options(chunk_chars=9).options_for(3200) == {"chunk_chars": 9}
    assert ComparedMethod("auto", "auto").with_chunks(32).options_for(3200) == {}


def test_the_page_says_why_figures_differ_under_the_table_it_is_about() -> None:
    rows = [
        Table("methods", "one", ("a",), (("1",),), "DeepSeek-V3 on LongBench v2"),
        Table("methods", "two", ("a",), (("1",),), "DeepSeek-V3 on L-Eval"),
        Table("methods", "three", ("a",), (("1",),), "DeepSeek-V3 on L-Eval"),
        Table("others", "four", ("a", "b"), (("eager output's overhead", "1"),), ""),
    ]
    placed = placed_differences(rows)
    assert {table.title for table in placed} == {"one", "two", "four"}
    assert [each.title for each in placed[rows[0]]] == ["Long texts"]
    assert placed[rows[1]][0].title == "Delimiters"
    assert [each.title for each in placed[rows[3]]] == ["Eager output"]
    html = page(BenchResults(settings={"paper": True}), rows, [])
    above, below = html.split(">three</h3>")
    assert all(f"<h4>{each.title}</h4>" in above for each in placed[rows[1]])
    assert below.count("<h4>") == 1
    assert "<code>tests/methods/test_lopt.py</code>" in above
    assert "<h4>" not in page(BenchResults(), rows, [])


def test_every_published_size_has_a_figure_of_ours_or_the_reason_for_none() -> None:
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        results = BenchResults(settings={"paper": True})
        made = others(subject, synthetic(1, 1, 2000), 1, resources, 2000)
        run_experiments([made], 1, 1, results, lambda chars: None)
    assert not results.notes
    found = {(row.what, row.setting): row for row in results.figures}
    by_tokenizer = "speed-up over tokenizers (", "speed-up over tiktoken ("
    sizes = [row for row in file_rows("others")[1:] if not row[1].startswith(by_tokenizer)]
    assert len(sizes) > 10
    for _, what, setting, _ in sizes:
        row = found[what, setting]
        assert bool(row.values) == ('"-"' not in row.detail)
    assert found["ms a text", "1 KB"].values
    for what, setting in (("ms a text", "4 MB"), ("speed-up over serial", "BERT 4 MB")):
        assert not found[what, setting].values
        assert "at most 2,000 code points" in found[what, setting].detail
    tables = {table.title.partition(":")[0]: table for table in tables_of(results)}
    assert "llama.cpp is not run" in tables["TokenTree"].note
    [letters] = [
        row for row in tables["incremental BPE (arXiv 2605.30813)"].rows if "65,536" in row[1]
    ]
    assert letters[2:] == ("-", "-")
    assert ("speed-up over llama.cpp", "above 4 MB", "-", "about 3") in tables["TokenTree"].rows


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


def test_without_the_trainer_the_reason_stands_in_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar_bench.training.find_spec", lambda name: None)
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        results = BenchResults(settings={"paper": True})
        made = training(subject, synthetic(1, 1, 5000), 5000)
        run_experiments([made], 1, 1, results, lambda chars: None)
    [table] = tables_of(results)
    assert [row[2] for row in table.rows] == ["-", "-"]
    assert "tokpar-train is not installed" in table.note
