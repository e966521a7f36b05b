"""The claim itself: every lossless strategy gives the serial ids, on any text, cut anywhere.

The oracle is the tokenizer object's own call. Chunks are tiny, so that seams are everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tokpar
from tests.conftest import drawn
from tests.support.drawn_runs import (
    NAMES,
    OPTIONS,
    SIZES,
    STRATEGIES,
    adapter_of,
    any_tokenizer,
    drawn_text,
    named,
    own_call,
)
from tests.support.texts import surrogate_texts
from tests.support.tokenizers_drawn import (
    contents,
    hf_tokenizers,
    is_panic,
    named_tokenizers,
    texts_with,
)
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.executors.processes import ProcessExecutor

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

EXECUTORS = ("serial", "threads", "native")


def encoded(
    text: str, adapter: Any, strategy: str, executor: str, options: dict[str, Any]
) -> tokpar.Encoding:
    if executor == "native" and not hasattr(adapter, "encode_many"):
        executor = "threads"
    return tokpar.encode(text, adapter, strategy=strategy, executor=executor, workers=2, **options)


def assert_same(
    tokenizer: Any, text: str, strategy: str, executor: str, options: dict[str, Any]
) -> None:
    expected = own_call(tokenizer, text)
    adapter = adapter_of(tokenizer)
    encoding = encoded(text, adapter, strategy, executor, options)
    assert encoding.ids.tolist() == expected
    assert encoding.lossless
    report = tokpar.check(encoding, text, adapter)
    assert report.ok, report.findings


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(data=st.data(), tokenizer=any_tokenizer(), executor=st.sampled_from(EXECUTORS))
def test_every_lossless_strategy(
    strategy: str, data: st.DataObject, tokenizer: Any, executor: str
) -> None:
    options = data.draw(OPTIONS[strategy], label="options")
    assert_same(tokenizer, drawn_text(data, tokenizer), strategy, executor, options)


@pytest.mark.each_value
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=drawn(50))
@given(data=st.data(), executor=st.sampled_from(EXECUTORS))
def test_every_strategy_gives_the_serial_ids_of_real_vocabularies(
    name: str, strategy: str, data: st.DataObject, executor: str
) -> None:
    tokenizer = named(name)
    options = data.draw(OPTIONS[strategy], label="options")
    assert_same(tokenizer, drawn_text(data, tokenizer, 2000), strategy, executor, options)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessExecutor]:
    with ProcessExecutor(2) as executor:
        yield executor


@given(data=st.data(), tokenizer=hf_tokenizers(finishing=False))
def test_every_certified_place_is_a_lossless_cut(data: st.DataObject, tokenizer: Any) -> None:
    """Not only the places the splitter happens to take: every one the finder would certify."""
    text = drawn_text(data, tokenizer, 60)
    expected = own_call(tokenizer, text)
    adapter = adapter_of(tokenizer)
    finder = finder_for(facts_of(adapter))
    if finder.refusal_for(text) is not None:
        return
    for p in range(1, len(text)):
        seam = finder.certify(text, p)
        if seam is not None:
            absorbed = int(dict(seam.witness).get("absorbed", 0))
            halves = [adapter.encode(text[:p]), adapter.encode(text[p + absorbed :])]
            assert np.concatenate(halves).tolist() == expected, (p, seam)


@given(data=st.data(), tokenizer=hf_tokenizers(), size=SIZES)
def test_lone_surrogates_end_as_the_own_call_ends(
    data: st.DataObject, tokenizer: Any, size: int
) -> None:
    text = data.draw(surrogate_texts(max_size=100))
    adapter = adapter_of(tokenizer)
    try:
        expected = own_call(tokenizer, text)
    except Exception as own:
        with pytest.raises(type(own)):
            tokpar.encode(text, adapter, strategy="cut", chunk_chars=size)
    else:
        encoding = tokpar.encode(text, adapter, strategy="cut", chunk_chars=size)
        assert encoding.ids.tolist() == expected
        assert not encoding.seams


@given(text=surrogate_texts(max_size=100), size=SIZES)
def test_lone_surrogates_in_tiktoken(text: str, size: int) -> None:
    tokenizer = named_tokenizers()["cl100k_part"]
    adapter = adapter_of(tokenizer)
    encoding = tokpar.encode(text, adapter, strategy="cut", chunk_chars=size)
    assert encoding.ids.tolist() == own_call(tokenizer, text)


@given(data=st.data(), tokenizer=hf_tokenizers())
def test_batches_are_padded_as_the_own_batch_call(data: st.DataObject, tokenizer: Any) -> None:
    rows = data.draw(st.lists(texts_with(contents(tokenizer), 60), max_size=4))
    try:
        expected = [encoding.ids for encoding in tokenizer.encode_batch(rows)]
    except BaseException as error:
        assume(not is_panic(error))
        raise
    with tokpar.Encoder(tokenizer, strategy="cut", chunk_chars=3) as encoder:
        found = encoder.encode_batch(rows)
    assert [encoding.ids.tolist() for encoding in found] == expected


@given(data=st.data(), tokenizer=hf_tokenizers(finishing=False), size=SIZES)
@example(data=None, tokenizer=None, size=3)
def test_spans_do_not_depend_on_the_cuts(
    data: st.DataObject | None, tokenizer: Any, size: int
) -> None:
    if data is None:
        tokenizer, text = named_tokenizers()["llama_style"], "the  quick brown fox 中文 é a b"
    else:
        text = drawn_text(data, tokenizer, 100)
    own_call(tokenizer, text)
    adapter = adapter_of(tokenizer)
    whole = tokpar.encode(text, adapter, strategy="serial")
    parts = tokpar.encode(text, adapter, strategy="cut", chunk_chars=size)
    try:
        expected = whole.spans
    except LookupError:
        with pytest.raises(LookupError):
            _ = parts.spans
    else:
        assert parts.spans.tolist() == expected.tolist()
