"""The spans of all texts of a batch, and what a row of a batch costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tokenizers import processors

import tokpar
from tests.support.offsets_drawn import WORDS, bert
from tests.support.tokenizers_drawn import ByteLevelSpec, build, plain_copy
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.plan import Plan
from tokpar.results import Result

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def test_a_batch_tells_the_spans_of_all_its_texts() -> None:
    own = plain_copy(build(ByteLevelSpec("llama3", 1, 40)))
    own.add_special_tokens(["<s>", "</s>"])
    ids = [(token, own.token_to_id(token)) for token in ("<s>", "</s>")]
    own.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)
    own.enable_padding(pad_id=0, direction="left")
    own.enable_truncation(6)
    batch = tokpar.Encoder(own).encode_batch(["ab é", "", "中 1 2 3 4 5 6"])
    assert batch.spans().shape == batch.char_spans().shape == (len(batch.ids), 2)
    for k, encoding in enumerate(batch):
        rows = slice(batch.offsets[k], batch.offsets[k + 1])
        assert batch.spans()[rows].tolist() == encoding.spans.tolist()
        assert batch.char_spans()[rows].tolist() == encoding.char_spans.tolist()
    assert tokpar.Encoder(own).encode_batch([]).spans().shape == (0, 2)
    for text in ("ab é", WORDS * 400):
        one = tokpar.Encoder(own).encode_batch([text])
        assert one.spans().tolist() == one[0].spans.tolist()


def test_a_row_of_a_batch_does_not_count_the_others_again() -> None:
    """It took 350 microseconds in a batch of 8,000."""

    class Counting(list[str]):
        seen = 0

        def __iter__(self) -> Any:
            self.seen += 1
            return super().__iter__()

    texts = Counting(["a b", "c", "d e f"])
    adapter = tokpar.load(bert())
    own = adapter.encode_many(texts, False)  # type: ignore[attr-defined]
    plan = Plan(adapter, CutSplitter(), SerialExecutor(), CutMerger())
    results = Result(texts, plan, np.zeros(3, dtype=np.bool_), own=own, final=own)
    seen = texts.seen
    shares = [results.encoding(k).report.seconds for k in range(3) for _ in range(5)]
    assert texts.seen == seen + 1
    assert len(shares) == 15
