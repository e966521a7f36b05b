"""Many texts at once give what each gives alone, in the order of the texts."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import OPTIONS, STRATEGIES, adapter_of, any_tokenizer, own_call
from tests.support.tokenizers_drawn import contents, named_tokenizers, texts_with
from tests.support.toy import Toy
from tokpar.errors import EngineError
from tokpar.executors.native import CachedExecutor
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.interfaces import TokenizerAdapter
from tokpar.results import Result
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


def test_whole_texts_and_then_the_chunks_of_the_others_go_in_one_call() -> None:
    executor = Records()
    adapter = tokpar.load()
    with tokpar.Encoder(adapter, executor=executor, chunk_chars=2000) as encoder:
        found = encoder.encode_batch(ROWS)
    (row,) = executor.rows
    assert len(row) > len(ROWS)
    whole = [k for k, encoding in enumerate(found) if encoding.report.chunks == 1]
    assert row[: len(whole)] == [ROWS[k] for k in whole]
    cut = [text for k, text in enumerate(ROWS) if k not in whole]
    assert "".join(row[len(whole) :]) == "".join(cut)
    assert [encoding.ids.tolist() for encoding in found] == [
        adapter.encode(text).tolist() for text in ROWS
    ]


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


@pytest.mark.parametrize("name", ["default", "bert_part"])
def test_a_surrogate_in_a_row_is_the_engines_own_error_with_its_number(name: str) -> None:
    tokenizer = named_tokenizers()[name]
    own = error_of(lambda: tokenizer.encode("a\ud800"))
    with tokpar.Encoder(tokenizer) as encoder:
        ours = error_of(lambda: encoder.encode_batch(["a", WORDS * 300, "a\ud800", "b\udfff"]))
    assert type(ours) is type(own)
    assert "text 2 of the batch" in str(ours)


def test_the_number_of_a_row_is_in_the_reason_of_an_error_of_its_encoding() -> None:
    """The message of such an error is made of its parts."""

    class Strict(Toy):
        def check_text(self, text: str) -> None:
            text.encode()

    with tokpar.Encoder(Strict()) as encoder:
        error = error_of(lambda: encoder.encode_batch(["a", "b", WORDS * 300 + "\ud800", "c"]))
        alone = error_of(lambda: encoder.encode(WORDS * 300 + "\ud800"))
    assert isinstance(error, UnicodeEncodeError)
    assert error.reason == "surrogates not allowed, in text 2 of the batch"
    assert "text" not in str(alone)


def error_of(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_no_encoding_exists_before_a_row_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    own = Result.encoding

    def counted(self: Result, k: int) -> tokpar.Encoding:
        made.append(k)
        return own(self, k)

    monkeypatch.setattr(Result, "encoding", counted)
    with tokpar.Encoder() as encoder:
        batch = encoder.encode_batch(ROWS)
        assert batch.ids.dtype == np.uint32
        assert batch.offsets.tolist()[0] == 0
        assert len(batch) == len(ROWS)
        batch.padded(0)
        assert made == []
        assert len(batch[2].seams) > 1
        assert made == [2]
    assert [batch[k].ids.tolist() for k in range(len(batch))] == [
        batch.ids[start:stop].tolist() for start, stop in pairwise(batch.offsets.tolist())
    ]


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((-1,), r"pad_id must be an int from 0 to 2\*\*32 - 1, got -1"),
        ((2**32,), "got 4294967296"),
        (("0",), "got '0'"),
    ],
)
def test_what_cannot_pad_is_refused(arguments: tuple[Any, ...], said: str) -> None:
    with tokpar.Encoder() as encoder, pytest.raises(ValueError, match=said):
        encoder.encode_batch(["a"]).padded(*arguments)
    with tokpar.Encoder() as encoder, pytest.raises(ValueError, match="side must be"):
        encoder.encode_batch(["a"]).padded(0, side="up")


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
