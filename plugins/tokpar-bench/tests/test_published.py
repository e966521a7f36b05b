"""The published figures, and the conditions under which ours are measured."""

from __future__ import annotations

import pytest
from tokpar_bench.conditions import conditions
from tokpar_bench.datasets import Dataset, synthetic
from tokpar_bench.measuring import run as run_experiments
from tokpar_bench.records import CONDITIONS, BenchResults
from tokpar_bench.subjects import ComparedMethod, Resources
from tokpar_bench.training import training


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
