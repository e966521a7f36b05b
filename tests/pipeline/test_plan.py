"""How a plan runs the executor on slices of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.pipeline.plan import Plan
from tokpar.types import Rows

pytestmark = pytest.mark.ids


@dataclass
class Notes:
    """An executor that notes what it maps. `drops`: rows that it leaves out."""

    drops: int = 0
    name: str = "notes"
    mapped: list[str] = field(default_factory=list)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        self.mapped += texts
        return SerialExecutor().map(texts[self.drops :], tokenizer, spans)


def plan_with(executor: Any) -> Plan:
    return Plan(tokpar.load(), CutSplitter(), executor, CutMerger())


@given(st.lists(st.sampled_from(["a", "b c", "d e f", ""]), max_size=9))
def test_each_slice_is_mapped_once_and_has_its_row(texts: list[str]) -> None:
    executor = Notes()
    plan = plan_with(executor)
    rows = plan.run(texts)
    assert [rows[k].tolist() for k in range(len(rows))] == [
        plan.tokenizer.encode(text).tolist() for text in texts
    ]
    assert executor.mapped == texts


def test_an_executor_that_drops_a_row_is_an_error() -> None:
    with pytest.raises(EngineError, match="'notes' gave 2 rows for 3 texts"):
        plan_with(Notes(drops=1)).run(["a", "b", "c"])


def test_the_name_in_reports_is_that_of_the_executor_that_was_used() -> None:
    executor: Any = Notes()
    assert plan_with(executor).executor_name == "notes"
    executor.used_name = "threads"
    assert plan_with(executor).executor_name == "threads"
