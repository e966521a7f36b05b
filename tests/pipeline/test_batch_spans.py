"""The spans of all texts of a batch, and what a row of a batch costs."""

from __future__ import annotations

import pytest
from tokenizers import processors

import tokpar
from tests.support.offsets_drawn import WORDS
from tests.support.tokenizers_drawn import ByteLevelSpec, build, plain_copy

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
