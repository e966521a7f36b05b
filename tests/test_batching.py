"""Many texts at once give what each gives alone, in the order of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tokpar
from tests.test_lossless import OPTIONS, STRATEGIES, adapter_of, any_tokenizer, own_call
from tests.texts import texts
from tests.tokenizers_drawn import contents, named_tokenizers, texts_with
from tokpar import batching
from tokpar.errors import EngineError
from tokpar.executors.memo import MemoExecutor
from tokpar.executors.serial import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.interfaces import TokenizerAdapter
from tokpar.types import Chunk, Piece

pytestmark = pytest.mark.ids

WORDS = "the quick brown fox jumps over the lazy dog "
ROWS = ["", "a b", WORDS * 300, "x", "é 中 " * 2000, WORDS * 40, "\ufeff"]


class Records:
    """Runs the chunks one by one and keeps what it was given."""

    name = "records"

    def __init__(self) -> None:
        self.rows: list[list[str]] = []

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        self.rows.append([text[chunk.start : chunk.stop] for chunk in chunks])
        return SerialExecutor().map(text, chunks, tokenizer, spans)


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
        st.sampled_from([SerialExecutor(), ThreadExecutor(2), MemoExecutor(2, most_new=9.0), None])
    )
    assume(not isinstance(executor, MemoExecutor) or hasattr(adapter, "encode_many"))
    kept: Any = "auto" if executor is None else executor
    with tokpar.Encoder(adapter, strategy=strategy, executor=kept, **options) as encoder:
        found = encoder.encode_batch(rows)
        alone = [encoder.encode(text) for text in rows]
    finishes = hasattr(adapter, "finish_batch")
    for text, one, other in zip(rows, found, alone, strict=True):
        assert one.lossless
        if finishes and one != other:  # padded to the longest of the batch
            assert len({len(row) for row in found}) == 1
            continue
        assert one == other
        report = tokpar.check(one, text, adapter)
        assert report.ok, report.findings


@pytest.mark.parametrize("name", ["default", "bert_part", "deepseek_part", "cl100k_part"])
def test_a_batch_of_long_and_short_texts(name: str) -> None:
    tokenizer = named_tokenizers()[name]
    with tokpar.Encoder(tokenizer, chunk_chars=1000) as encoder:
        found = encoder.encode_batch(ROWS)
    for text, encoding in zip(ROWS, found, strict=True):
        assert encoding.ids.tolist() == own_call(tokenizer, text)
        assert encoding.spans.tolist() == tokpar.encode(text, tokenizer).spans.tolist()
    assert found[2].seams
    assert found[2].report.chunks > 1


def test_the_chunks_of_the_longest_text_go_first_and_all_in_one_row() -> None:
    executor = Records()
    adapter = tokpar.load()
    with tokpar.Encoder(adapter, executor=executor, chunk_chars=2000) as encoder:
        found = encoder.encode_batch(ROWS)
    (row,) = executor.rows
    assert "".join(row) == "".join(sorted(ROWS, key=len, reverse=True))
    assert [encoding.ids.tolist() for encoding in found] == [
        adapter.encode(text).tolist() for text in ROWS
    ]


def test_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MOST_TOGETHER", 13_000)
    executor = Records()
    with tokpar.Encoder(executor=executor) as encoder:
        encoder.encode_batch(ROWS)
    assert [sum(map(len, row)) for row in executor.rows] == [13_200, 8_000 + 1_760 + 5]


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


@given(st.lists(texts(max_size=60), max_size=6))
def test_numbers_of_rows_are_those_of_all_texts(rows: list[str]) -> None:
    numbers = [i for row in batching._rows(rows) for i in row]
    assert sorted(numbers) == list(range(len(rows)))
    assert [len(rows[i]) for i in numbers] == sorted(map(len, rows), reverse=True)
