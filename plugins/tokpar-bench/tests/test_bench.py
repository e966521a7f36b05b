"""`tokpar bench`: what it measures, keeps, prints, draws and refuses. No test looks at a time."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokpar_bench.comparing import comparison, sweep
from tokpar_bench.datasets import KINDS, Dataset, read_dataset, synthetic
from tokpar_bench.html_page import page
from tokpar_bench.measuring import (
    JobRun,
    LongText,
    TimedJob,
    TimingExecutor,
    encode_job,
    interleave,
    shared_ids,
)
from tokpar_bench.measuring import run as run_experiments
from tokpar_bench.plots import pictures
from tokpar_bench.records import (
    CONDITIONS,
    BenchResults,
    FigureRow,
    MethodRow,
    ProjectionRow,
    ScalingRow,
    Spread,
    StageRow,
    SweepRow,
    from_json,
    to_json,
)
from tokpar_bench.schedule import PARTS
from tokpar_bench.stages import stages
from tokpar_bench.subjects import ComparedMethod, Resources, choose_methods, compared_methods
from tokpar_bench.tables import Table, tables

import tokpar
from tests.support.cli_runs import run
from tokpar import FileFormatError, UnknownNameError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.types import Report

SMALL = ("--chunk-chars", 300, "--overlap-chars", 100, "--chars", 4000, "--repeats", 1)
TEXT = "The quick brown fox, 12345 times. It jumps again; naïve 中文 too.\n"


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    """Three texts of about 1,300 code points."""
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"text": TEXT * 20 + str(i), "title": TEXT}) for i in range(3)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def a_spread(median: float) -> Spread:
    return Spread.of([median / 2, median, median * 2])


METHOD = MethodRow(
    part="methods",
    dataset="some.jsonl",
    texts=3,
    code_points=3000,
    tokenizer="deepseek",
    engine="oniguruma",
    executor="native",
    workers=2,
    method="delimiter-comma",
    strategy="delimiter",
    options={"delimiter": ","},
    lossless=False,
    texts_equal=0.6666666,
    ids_equal=0.99999999,
    condition="cache off",
    seconds=a_spread(0.02),
    chunks=9,
    retries=2,
    repairs=1,
    redundant=1500,
    stages={"split": 0.001, "tokenize": 0.018, "merge": 0.001},
)
OWN = replace(
    METHOD, method="serial", texts_equal=1.0, ids_equal=1.0, seconds=a_spread(0.05), executor="none"
)
STAGE = StageRow(
    dataset="some.jsonl",
    code_points=3000,
    tokenizer="deepseek",
    engine="oniguruma",
    method="lopt",
    condition="cache off",
    equal=True,
    chunks=3,
    seconds=a_spread(0.01),
    stages={"split": 0.001, "tokenize": 0.008, "merge": 0.001},
    work=0.008,
    span=0.003,
    own=a_spread(0.02),
    amdahl={"4": 2.5, "8": 3.33, "16": 4.0, "32": 4.44, "64": 4.7, "128": 4.85, "all": 5.0},
)
PROJECTION = ProjectionRow(
    tokenizer="deepseek",
    engine="oniguruma",
    executor="native",
    method="lopt",
    workers=2,
    projected=0.006,
    longest_first=0.0055,
    bound=0.005,
    speedup=3.3,
    measured=a_spread(0.005),
    error=20.0,
)
SWEEP = SweepRow(
    sweep="length",
    dataset="some.jsonl",
    code_points=3000,
    tokenizer="deepseek",
    engine="oniguruma",
    method="lopt",
    x=1024,
    condition="cache off",
    equal=True,
    seconds=a_spread(0.0123),
)
SCALING = ScalingRow(
    dataset="some.jsonl",
    code_points=3000,
    tokenizer="deepseek",
    engine="oniguruma",
    method="lopt-paper",
    condition="cache off",
    seconds=a_spread(0.02),
    executor="native",
    workers=1,
    equal=True,
    stages={"split": 0.001, "tokenize": 0.018, "rest": 0.001},
    own=a_spread(0.03),
)
FIGURE = FigureRow(
    source="blocks",
    what="MiB/s at 4 MB",
    setting="block 4 KB",
    tokenizer="deepseek",
    values=[1.25],
    detail="Cache off.",
)
CONDITIONED = [
    replace(row, part="conditions", condition=condition, seconds=a_spread(seconds))
    for row, times in (
        (OWN, (0.04, 0.05, 0.05, 0.04)),
        (replace(METHOD, method="auto"), (0.02, 0.1, 0.01, 0.001)),
    )
    for condition, seconds in zip(CONDITIONS, times, strict=True)
]
RESULTS = BenchResults(
    provenance={
        "date": "today",
        "processor": "x",
        "texts": [{"name": "some.jsonl", "published_corpus": "leval"}],
        "tokenizers": [{"name": "deepseek", "published_tokenizer": "DeepSeek-V3"}],
    },
    settings={"repeats": 3, "paper": False},
    methods=[
        OWN,
        METHOD,
        *CONDITIONED,
        replace(METHOD, part="retries", method="lopt-paper-restart"),
    ],
    scaling=[SCALING, replace(SCALING, workers=2, seconds=a_spread(0.0125))],
    figures=[FIGURE],
    stages=[STAGE],
    projection=[PROJECTION, replace(PROJECTION, workers=8, measured=None, error=None)],
    sweeps=[
        replace(SWEEP, sweep=kind, x=x, method=method)
        for kind in ("length", "chunk", "workers", "batch")
        for method, x in (("serial", 0), ("lopt", 1), ("lopt", 2), ("auto", 1), ("auto", 2))
    ],
    notes=["a note"],
)


# datasets


def test_a_jsonl_is_a_text_per_row_and_another_file_is_one_text(tmp_path: Path) -> None:
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"text": "one"}\n\n  {"text": ""}\n{"text": "zwei\\u2028"}', encoding="utf-8")
    assert read_dataset(rows).texts == ("one", "", "zwei\u2028")
    plain = tmp_path / "a.txt"
    plain.write_bytes("one\r\ntwo\x0b中".encode())
    assert read_dataset(plain).texts == ("one\r\ntwo\x0b中",)


BAD = [
    (b"not json", "JSON"),
    (b'{"other": "x"}', "'text'"),
    (b'{"text": 3}', "'text'"),
    (b'["text"]', "'text'"),
    (b'{"text": "\xff"}', "UTF-8"),
    (b'{"text": "\\ud800"}', "surrogate"),
]


@pytest.mark.parametrize(("line", "named"), BAD)
def test_a_bad_line_is_named_with_its_file_and_line(
    tmp_path: Path, line: bytes, named: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"text": "good"}\n\n' + line + b'\n{"text": "more"}\n')
    with pytest.raises(FileFormatError, match=f"{path}:3: .*--skip-bad-lines") as caught:
        read_dataset(path)
    assert named in str(caught.value)
    left = read_dataset(path, skip_bad_lines=True)
    assert left.texts == ("good", "more")
    assert [problem.split(": ")[0] for problem in left.bad_lines] == [f"{path}:3"]


def test_drawn_texts_are_the_same_for_the_same_seed_and_no_other() -> None:
    one, again, other = (synthetic(seed, texts=2, size=500) for seed in (1, 1, 2))
    assert [dataset.name for dataset in one] == list(KINDS)
    assert one == again
    assert all(len(text) == 500 for dataset in one for text in dataset.texts)
    assert all(a.texts != b.texts for a, b in zip(one[:4], other[:4], strict=True))


# what is compared


def test_chosen_methods_come_with_the_own_call_and_unknown_ones_are_listed() -> None:
    methods = compared_methods(1000, 100)
    assert [method.name for method in choose_methods(methods, ["auto"])] == ["serial", "auto"]
    assert choose_methods(methods, None) == methods
    with pytest.raises(UnknownNameError, match="unknown method 'nope'; known: auto, blocks, "):
        choose_methods(methods, ["auto", "nope"])
    combined = choose_methods(methods, ["lopt", "cut+certified"])
    assert [method.name for method in combined] == ["serial", "lopt", "cut+certified"]
    assert combined[-1].with_options(chunk_chars=9) == combined[-1]
    with pytest.raises(UnknownNameError, match="nope"):
        choose_methods(methods, ["cut+nope"])


# equality


def ids(*values: int) -> Any:
    return np.array(values, dtype=np.uint32)


def test_shared_ids_find_back_into_step() -> None:
    own = ids(*range(100))
    assert shared_ids(own, own) == 1
    assert shared_ids(ids(), ids()) == 1
    assert shared_ids(ids(*range(50), 777, *range(51, 100)), own) == 0.99
    assert shared_ids(ids(*range(50), *range(60, 100)), own) == 0.9
    assert shared_ids(ids(*range(50), *range(40, 100)), own) == 100 / 110
    assert shared_ids(ids(*range(99)), own) == 0.99
    assert shared_ids(ids(*range(200, 300)), own) == 0
    rest = (5, 5, 5, 5, 6, 7, 8, 9, 5, 5, 5, 5)
    assert shared_ids(ids(0, 1, *rest), ids(0, 1, 99, *rest)) == 14 / 15, "not the nearest place"


# measuring


def sample(seconds: float, **changes: Any) -> JobRun:
    report = Report("lopt", seconds={"tokenize": seconds})
    return JobRun(
        **{"seconds": seconds, "share": 1.0, "report": report, "lossless": True} | changes
    )


def silent(chars: int) -> None:
    """Nobody is told of progress."""


def test_each_round_runs_every_job_once_and_the_first_round_is_not_counted() -> None:
    ran: list[str] = []

    def job(key: str) -> TimedJob[str]:
        def call() -> JobRun:
            ran.append(key)
            return sample(len(ran))

        return TimedJob(key, 10, call)

    moved: list[int] = []
    found = interleave([job("a"), job("b"), job("c")], 4, 1, BenchResults(), moved.append)
    rounds = ["".join(sorted(ran[i : i + 3])) for i in range(0, 15, 3)]
    assert rounds == ["abc"] * 5
    assert len(ran) == 15
    assert {key: len(samples) for key, samples in found.items()} == {"a": 4, "b": 4, "c": 4}
    assert min(each.seconds for samples in found.values() for each in samples) == 4
    assert moved == [10] * 15
    assert len({tuple(ran[i : i + 3]) for i in range(0, 15, 3)}) > 1, "one order in all rounds"


# comparison, stages, sweeps on a real tokenizer


def compare(texts: tuple[str, ...], methods: list[ComparedMethod]) -> dict[str, MethodRow]:
    with Resources() as resources:
        subjects = resources.subjects(["default"], ["auto"], [])
        dataset = Dataset("d", texts, "here")
        experiment = comparison("methods", dataset, subjects, ["serial"], methods, 1, resources)
        results = BenchResults()
        run_experiments([experiment], 2, 1, results, silent)
    return {row.method: row for row in results.methods}


def test_lossless_methods_have_accuracy_1_and_a_known_lossy_one_has_less() -> None:
    texts = (TEXT * 30, "a" * 3000, "0123456789" * 300)
    rows = compare(texts, compared_methods(400, 100))
    for name in ("serial", "lopt", "recursive", "blocks", "cut", "auto"):
        assert (rows[name].texts_equal, rows[name].ids_equal, rows[name].lossless) == (1, 1, True)
    lossy = rows["overlap-longest"]
    assert lossy.texts_equal < 1
    assert 0 < lossy.ids_equal < 1
    assert not lossy.lossless


def test_a_row_counts_all_texts_and_there_is_none_for_a_method_that_failed_on_one() -> None:
    report = Report("lopt", chunks=3, retries=2, repairs=1, redundant=10)
    methods = [ComparedMethod("lopt", "lopt"), ComparedMethod("cut", "cut")]
    taken = [sample(1.0, report=report), sample(3.0, report=report, share=0.5)]
    other = [sample(5.0, report=report), sample(5.0, report=report, lossless=False)]
    samples = {(0, 0): taken, (0, 1): other, (1, 0): taken}
    with Resources() as resources:
        subjects = resources.subjects(["default"], ["auto"], [])
        dataset = Dataset("d", ("one", "two"), "here")
        made = comparison("retries", dataset, subjects, ["serial"], methods, 1, resources)
        [row] = made.rows(samples)
    assert isinstance(row, MethodRow)
    assert row.seconds == Spread.of([3.0, 4.0])
    assert (row.chunks, row.retries, row.repairs, row.redundant) == (6, 4, 2, 20)
    assert (row.texts_equal, row.ids_equal, row.lossless) == (0.5, 0.75, False)
    assert (row.part, row.method, row.engine) == ("retries", "lopt", "huggingface")


def test_the_timing_executor_times_every_chunk_of_every_call() -> None:
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        timing = TimingExecutor(SerialExecutor())
        method = ComparedMethod("cut", "cut", {"chunk_chars": 200})
        taken = encode_job("k", subject, method, timing, TEXT * 20).call()
    [seconds] = taken.chunk_seconds
    assert taken.same
    assert len(seconds) == taken.report.chunks > 3
    assert 0 < sum(seconds) < taken.seconds


def test_stages_and_projection_are_those_of_the_samples() -> None:
    report = Report("cut", chunks=3, seconds={"split": 1.0, "tokenize": 10.5, "merge": 0.5})
    alone = sample(12.5, report=report, chunk_seconds=((3.0, 3.0, 4.0),))
    samples = {
        ("serial", "own"): [sample(20.0)],
        ("cut", "alone"): [alone],
        ("cut", "1"): [sample(10.0)],
    }
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        method = ComparedMethod("cut", "cut", {"chunk_chars": 100})
        long = LongText("d", TEXT, subject, [method], "native", 1, resources)
        rows = stages(long).rows(samples)
    first, *projection = rows
    assert isinstance(first, StageRow)
    assert first.stages == {"split": 1.0, "tokenize": 10.5, "merge": 0.5, "rest": 0.5}
    assert (first.work, first.span, first.chunks) == (10.0, 4.0, 3)
    assert first.amdahl["all"] == pytest.approx(1 / (1 - 10.5 / 12.5))
    found = {row.workers: row for row in projection if isinstance(row, ProjectionRow)}
    assert list(found) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert (found[1].projected, found[1].error) == (12.5, pytest.approx(25.0))
    assert (found[2].projected, found[2].longest_first, found[2].bound) == (9.5, 8.5, 7.5)
    assert (found[2].measured, found[2].error) == (None, None)
    assert found[8].projected == found[8].bound == 6.5
    assert found[8].speedup == pytest.approx(20 / 6.5)


def test_a_sweep_has_every_method_at_every_place() -> None:
    text = TEXT * 100
    methods = [
        ComparedMethod("cut", "cut", {"chunk_chars": 500}),
        ComparedMethod("auto", "auto"),
        ComparedMethod("recursive", "recursive"),
    ]
    with Resources() as resources:
        [subject] = resources.subjects(["default"], ["auto"], [])
        long = LongText("d", text, subject, methods, "serial", 1, resources)
        results = BenchResults()
        kinds = ("length", "chunk", "workers", "batch")
        run_experiments((sweep(kind, long) for kind in kinds), 1, 1, results, silent)
    found = {(row.sweep, row.method, row.x) for row in results.sweeps}
    assert {x for kind, _, x in found if kind == "length"} == {1024, len(text)}
    assert {x for kind, _, x in found if kind == "chunk"} == {0, 1024, len(text) // 2}
    assert {x for kind, _, x in found if kind == "workers"} == {0, 1, 2}
    assert {x for kind, _, x in found if kind == "batch"} == {1, 2, 4, 8, 16, 32}
    assert {("chunk", "serial", 0), ("chunk", "auto", 1024), ("batch", "serial", 32)} <= found
    assert ("batch", "recursive", 32) in found
    assert ("chunk", "recursive", 1024) not in found, "it has no such option"
    assert all(row.equal for row in results.sweeps)


# results


def test_results_survive_json() -> None:
    assert from_json(json.loads(json.dumps(to_json(RESULTS)))) == RESULTS
    assert RESULTS.rows == 11 + 1 + 2 + 2 + 20 + 1


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {},
        {"format": "other"},
        to_json(RESULTS) | {"version": 99},
        {name: value for name, value in to_json(RESULTS).items() if name != "notes"},
        to_json(RESULTS) | {"stages": [{"dataset": "d"}]},
        to_json(RESULTS) | {"sweeps": [{**to_json(RESULTS)["sweeps"][0], "more": 1}]},
    ],
)
def test_what_is_no_result_is_refused(broken: Any) -> None:
    with pytest.raises(FileFormatError, match="expected"):
        from_json(json.loads(json.dumps(broken)))


# tables


def cells(found: list[Table], part: str) -> list[tuple[str, ...]]:
    return [row for table in found if table.part == part for row in table.rows]


def test_the_tables_hold_what_was_measured() -> None:
    found = tables(RESULTS)
    own, method = cells(found, "methods")
    assert own == ("serial", "1.000", "1.000000", "25.0", "37.5", "50.0", "75.0", "100", "1.00x")
    assert method[:3] == ("delimiter-comma", "0.666", "0.999999"), "rounded up"
    assert (method[5], method[-1]) == ("20.0", "2.50x")
    [stage] = cells(found, "stages")
    assert stage[:5] == ("lopt", "3", "10.0%", "80.0%", "10.0%")
    assert stage[-7:] == ("2.50x", "3.33x", "4.00x", "4.44x", "4.70x", "4.85x", "5.00x")
    assert cells(found, "projection") == [
        ("lopt", "2", "6.00", "5.50", "5.00", "3.30x", "2.50", "+20.0%"),
        ("lopt", "8", "6.00", "5.50", "5.00", "3.30x", "-", "-"),
    ]
    assert cells(found, "retries") == [
        ("lopt-paper-restart", "0.666", "2", "1", "0.50x", "20.0", "")
    ]
    assert cells(found, "chunk") == [("1", "12.3", "12.3", "12.3"), ("2", "12.3", "12.3", "12.3")]


# pictures and page


def hostile() -> BenchResults:
    """Names that are markup, formulas, or not in any font."""
    name = '<b onload="x">&amp; $x_y$ </script> 中\x00\x1b.jsonl'
    changed = [replace(row, dataset=name, tokenizer=name) for row in RESULTS.methods]
    return replace(RESULTS, methods=changed, notes=[name], provenance={"command": name})


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere() -> None:
    interrupted = replace(hostile(), complete=False)
    for results, drawn in ((RESULTS, []), (interrupted, pictures(interrupted))):
        html = page(results, tables(results), drawn)
        root = ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert {"table", "dl"} <= tags
        assert ("svg" in tags) == bool(drawn)
        assert not tags & {"script", "link", "img", "iframe", "object", "image", "b"}
        marks = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(marks) == len(set(marks))
        for element in root.iter():
            for name, value in element.attrib.items():
                if name.rpartition("}")[2] in ("href", "src"):
                    assert value[:1] == "#"
                    assert value[1:] in marks
                assert not name.startswith("on")
        assert "@import" not in html
        assert "url(http" not in html
        assert ("Interrupted" in html) == (not results.complete)
        for table in tables(results):
            for row in table.rows:
                assert all(f">{escape(cell)}</td>" in html for cell in row[1:])


# the command


def test_the_command_writes_results_with_their_provenance(
    rows_file: Path, tmp_path: Path, deepseek: str
) -> None:
    out = tmp_path / "new" / "out"
    options = ("--out", out, "--no-plots", "--methods", "lopt,auto", "--tokenizer", deepseek)
    outcome = run("bench", rows_file, *SMALL, *options, "--json", "--seed", 7)
    assert outcome.code == 0
    assert sorted(path.name for path in out.iterdir()) == ["results.json", "tables.txt"]
    written = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert written == outcome.json
    results = from_json(written)
    assert to_json(results) == written
    assert results.complete
    assert results.notes == []
    assert {row.method for row in results.methods if row.part == "methods"} == {
        "serial",
        "lopt",
        "auto",
    }
    assert {row.sweep for row in results.sweeps} == {"length", "chunk", "workers", "batch"}
    assert {row.method for row in results.stages} == {"lopt", "auto"}
    about = results.provenance
    assert about["packages"]["tokpar"] == tokpar.__version__
    assert about["cores"]["usable"] >= 1
    assert "builtins" in " ".join(about["plugins"])
    assert {"date", "command", "processor", "memory_bytes", "system", "python"} <= set(about)
    [texts] = about["texts"]
    rows = [json.loads(line)["text"] for line in rows_file.read_text("utf-8").splitlines()]
    digest = hashlib.sha256(b"".join(row.encode() + b"\0" for row in rows)).hexdigest()
    assert texts["sha256"] == digest
    assert (texts["texts"], texts["code_points"]) == (3, sum(map(len, rows)))
    assert texts["bytes"] == sum(len(row.encode()) for row in rows)
    [tokenizer] = about["tokenizers"]
    assert tokenizer["sha256"] == hashlib.sha256(Path(deepseek).read_bytes()).hexdigest()
    assert results.settings["seed"] == 7
    assert results.settings["parts"] == list(PARTS)


def test_the_command_prints_tables_and_writes_pictures_and_a_run_that_can_be_read_again(
    rows_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    only = ("--only", "methods,retries,length", "--methods", "cut")
    outcome = run("bench", rows_file, *SMALL, *only, "--out", out)
    assert outcome.code == 0
    assert outcome.err == f"written to {out}\n"
    assert "Accuracy and latency, cache off: rows.jsonl (3 texts" in outcome.out
    assert "Repetitive texts" in outcome.out
    assert "Stages" not in outcome.out
    assert (out / "tables.txt").read_text(encoding="utf-8") == outcome.out
    names = {path.suffix for path in out.iterdir()}
    assert names == {".json", ".txt", ".svg", ".png", ".html"}
    assert len(list(out.glob("*.png"))) == len(list(out.glob("*.svg"))) >= 4
    again = run("bench", "--read", out / "results.json")
    assert (again.code, again.out) == (0, outcome.out)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--methods", "nope"), "delimiter-comma"),
        (("--only", "nope"), "retries"),
        (("--engine", "nope"), "huggingface"),
        (("--executor", "nope"), "threads"),
        (("--tokenizer", "nope"), "nope"),
        (("--workers", "0"), "workers"),
        (("--repeats", "0"), "--repeats must be at least 1, got 0"),
        (("--chunk-chars", "0"), "--chunk-chars must be at least 1"),
        (("--read", "none.json"), "give no FILE"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_what_there_is(
    rows_file: Path, arguments: tuple[str, ...], named: str
) -> None:
    assert named in run("bench", rows_file, *arguments).error


# files of one's own, and two runs


HALVES = """
from tokpar.plugin.split import Chunk, Split

class Halves:
    def split(self, text, tokenizer, attempt):
        middle = len(text) // 2
        return Split([Chunk(0, middle, 0, middle), Chunk(middle, len(text), middle, len(text))])

splitter, merger = Halves(), "concatenate"
"""


def test_a_file_of_ones_own_is_a_method_and_its_wrong_ids_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "halves.py"
    file.write_text(HALVES, encoding="utf-8")
    texts = tmp_path / "texts.jsonl"
    pair = ("one two one two", "information")
    lines = [json.dumps({"text": text}) for text in pair]
    texts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    only = ("--only", "methods,stages", "--methods", f"{file},cut", "--json")
    outcome = run("bench", texts, *SMALL, *only)
    assert outcome.code == 0
    rows = {row["method"]: row for row in outcome.json["methods"]}
    assert list(rows) == ["serial", "cut", "halves"]
    assert (rows["halves"]["strategy"], rows["halves"]["chunks"]) == ("Halves+concatenate", 4)
    equal = []
    for text in pair:
        left, right = text[: len(text) // 2], text[len(text) // 2 :]
        joined = [*tokpar.encode(left).ids, *tokpar.encode(right).ids]
        equal.append(joined == list(tokpar.encode(text, strategy="serial").ids))
    assert rows["halves"]["texts_equal"] == sum(equal) / 2 < 1
    assert rows["cut"]["texts_equal"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there")
def test_sigterm_keeps_prints_and_writes_what_was_measured(tmp_path: Path) -> None:
    words = [
        "bench",
        "--quick",
        "--only",
        "methods,conditions",
        "--repeats",
        "100000",
        "--no-plots",
    ]
    command = [sys.executable, "-m", "tokpar", *words, "--out", str(tmp_path), "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as bench:
        assert bench.stderr is not None
        while b"ch/s" not in (bar := bench.stderr.read(200)):  # the bar moves after a job
            assert bar
        bench.terminate()
        printed, _ = bench.communicate(timeout=240)
    assert bench.returncode == 130
    assert not json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["complete"]
    assert (tmp_path / "tables.txt").is_file()
    assert printed.strip().decode() == (tmp_path / "tables.txt").read_text("utf-8").strip()
