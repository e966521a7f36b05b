"""Many texts at once give what each gives alone, in the order of the texts."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import processors

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import OPTIONS, STRATEGIES, adapter_of, any_tokenizer, own_call
from tests.support.tokenizers_drawn import (
    ByteLevelSpec,
    build,
    contents,
    named_tokenizers,
    plain_copy,
    texts_with,
)
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.executors.native import CachedExecutor
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.types import Rows

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

WORDS = "the quick brown fox jumps over the lazy dog "
ROWS = ["", "a b", WORDS * 300, "x", "é 中 " * 2000, WORDS * 40, "\ufeff"]


class Records:
    """Runs the chunks one by one and keeps what it was given."""

    name = "records"

    def __init__(self) -> None:
        self.rows: list[list[str]] = []

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        self.rows.append(list(texts))
        return SerialExecutor().map(texts, tokenizer, spans)


@given(st.data(), any_tokenizer(), st.sampled_from(STRATEGIES))
def test_a_batch_is_its_texts_one_by_one(
    data: st.DataObject, tokenizer: Any, strategy: str
) -> None:
    rows = data.draw(st.lists(texts_with(contents(tokenizer), 120), max_size=5), label="rows")
    options = data.draw(OPTIONS[strategy], label="options")
    for text in rows:
        own_call(tokenizer, text)
    adapter = adapter_of(tokenizer)
    executor = data.draw(
        st.sampled_from([SerialExecutor(), ThreadExecutor(2), CachedExecutor(2), None])
    )
    assume(not isinstance(executor, CachedExecutor) or hasattr(adapter, "encode_many"))
    kept: Any = "auto" if executor is None else executor
    with tokpar.Encoder(adapter, strategy=strategy, executor=kept, **options) as encoder:
        found = encoder.encode_batch(rows)
        alone = [encoder.encode(text) for text in rows]
    finishes = hasattr(adapter, "postprocess")
    for text, one, other in zip(rows, found, alone, strict=True):
        assert one.lossless
        if finishes and one != other:  # padded to the longest of the batch
            assert len({len(row) for row in found}) == 1
            continue
        assert one == other
        report = tokpar.check(one, text, adapter)
        assert report.ok, report.findings


def test_the_error_is_that_of_the_first_text_which_cannot_be_encoded() -> None:
    class Chokes:
        name = "chokes"

        def encode(self, text: str) -> Any:
            if "!" in text:
                raise RuntimeError(f"no {text[:3]}")
            return tokpar.load().encode(text)

    for executor in ("serial", "threads"):
        with (
            tokpar.Encoder(Chokes(), executor=executor) as encoder,
            pytest.raises((RuntimeError, EngineError), match="no b!"),
        ):
            encoder.encode_batch(["a", "b!", "c! longer"])


def test_a_text_whose_chunks_cannot_be_joined_is_encoded_alone() -> None:
    """An overlap of two characters hardly ever holds what a join needs."""
    text = "unbelievable" * 200
    adapter = tokpar.load(named_tokenizers()["deepseek_part"])
    with tokpar.Encoder(adapter, strategy="lopt", chunk_chars=50, overlap_chars=2) as encoder:
        found = encoder.encode_batch([text, "a", text + "s"])
    assert [row.ids.tolist() for row in found] == [
        adapter.encode(each).tolist() for each in (text, "a", text + "s")
    ]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (b"a", tokpar.OptionError, "text 2 must be a str, got bytes"),
        (None, tokpar.OptionError, "text 2 must be a str, got NoneType"),
        ("x <|endoftext|>", ValueError, "text 2 of the batch: .*disallowed special token"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_encoded(text: Any, kind: Any, said: str) -> None:
    executor = Records()
    rows = ["a", WORDS * 300, text, "b"]
    with (
        tokpar.Encoder(named_tokenizers()["cl100k_part"], executor=executor) as encoder,
        pytest.raises(kind, match=said),
    ):
        encoder.encode_batch(rows)
    assert executor.rows == []


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_rectangle_has_every_id_and_a_mask(side: str) -> None:
    with tokpar.Encoder() as encoder:
        batch = encoder.encode_batch(["a b c", "", "x"])
    rectangle, mask = batch.padded(7, side=side)
    assert rectangle.shape == mask.shape == (3, batch.lengths.max())
    for k, row in enumerate(batch):
        assert rectangle[k][mask[k]].tolist() == row.ids.tolist()
        assert (rectangle[k][~mask[k]] == 7).all()
        ends = mask[k] if side == "right" else mask[k][::-1]
        assert ends.tolist() == sorted(ends.tolist(), reverse=True)


PADDED = [["a b c d e f", "", "x"], ["", ""], ["a b c"], []]


@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize("cut", [None, 3, 4, 5, 8])
@pytest.mark.parametrize(
    "settings", [{}, {"length": 9}, {"direction": "left"}, {"direction": "left", "length": 12}]
)
def test_the_mask_is_that_of_the_own_call_where_the_tokenizer_pads(
    settings: dict[str, Any], cut: int | None, prepared: bool
) -> None:
    own = plain_copy(named_tokenizers()["deepseek_part"])
    own.post_processor = (
        processors.TemplateProcessing("$A", special_tokens=[])
        if cut is None
        else processors.TemplateProcessing("a a $A b", special_tokens=[("a", 3), ("b", 0)])
    )
    own.enable_padding(pad_id=0, **settings)
    if cut is not None:
        own.enable_truncation(cut)
    with tokpar.Encoder(own) as encoder:
        if prepared:
            encoder.prepare()
        for texts in PADDED:
            batch, expected = encoder.encode_batch(texts), own.encode_batch(texts)
            for found in (batch, pickle.loads(pickle.dumps(batch))):
                rectangle, mask = found.padded(7)
                assert rectangle.tolist() == [each.ids for each in expected]
                assert mask.tolist() == [[*map(bool, e.attention_mask)] for e in expected]


@pytest.mark.parametrize("direction", ["left", "right"])
def test_the_side_of_padding_that_looks_like_special_tokens_is_not_known(direction: Any) -> None:
    own = plain_copy(named_tokenizers()["deepseek_part"])
    own.post_processor = processors.TemplateProcessing("a $A a", special_tokens=[("a", 0)])
    own.enable_padding(pad_id=0, direction=direction)
    own.enable_truncation(3)
    with tokpar.Encoder(own) as encoder:
        batch = encoder.encode_batch(["x y z", ""])
        assert [row.ids.tolist() for row in batch] == [
            e.ids for e in own.encode_batch(["x y z", ""])
        ]
        with pytest.raises(LookupError, match="its side is unknown"):
            batch.padded(7)


def test_a_batch_becomes_an_arrow_array_without_copying_ids() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with tokpar.Encoder() as encoder:
        batch = encoder.encode_batch(ROWS)
    array = batch.to_arrow()
    assert array.type == pyarrow.large_list(pyarrow.uint32())
    assert array.to_pylist() == [row.ids.tolist() for row in batch]


@needs_kernel
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_a_batch_and_an_encoding_can_be_pickled_and_copied(copied: Any) -> None:
    with tokpar.Encoder() as encoder:
        batch = encoder.encode_batch(ROWS)
        again = copied(batch)
        assert again == batch
        one = encoder.encode(ROWS[2])
    twin = copied(one)
    assert (twin, twin.report, twin.lossless) == (one, one.report, True)
    assert tokpar.check(twin, ROWS[2], tokpar.load()).ok
    with pytest.raises(LookupError, match="encode the text again"):
        _ = twin.spans
    with pytest.raises(LookupError, match=r"tokpar\.check takes text and tokenizer"):
        len(twin.seams)


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
    for text in ("ab é", WORDS * 300):
        one = tokpar.Encoder(own).encode_batch([text])
        assert one.spans().tolist() == one[0].spans.tolist()


def test_a_batch_is_a_sequence_of_its_encodings() -> None:
    with tokpar.Encoder() as encoder:
        batch = encoder.encode_batch(["a", "b c", "d"])
    assert [row.ids.tolist() for row in batch] == [batch[k].ids.tolist() for k in range(3)]
    assert batch[-1].ids.tolist() == batch[2].ids.tolist() != batch[0].ids.tolist()
    for k in (3, -4):
        with pytest.raises(IndexError):
            batch[k]


@needs_kernel
@pytest.mark.compiled_at_once
def test_one_text_of_the_engine_counts_once() -> None:
    assert tokpar.Encoder(strategy="serial").encode_batch(["some words"]).ways == {"engine": 1}


def test_a_text_that_all_threads_share_is_answered_in_its_batch() -> None:
    texts = ["a b", "some words " * 40_000, "c"]
    with tokpar.Encoder(workers=2) as encoder:
        rows = encoder.encode_batch(texts)
        assert encoder.report.texts["compiled"] == 3
        assert [row.ids.tolist() for row in rows] == [encoder.encode(t).ids.tolist() for t in texts]
