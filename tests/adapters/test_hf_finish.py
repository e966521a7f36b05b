"""finish of the Hugging Face adapter against the native `encode` and `encode_batch`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tests.conftest import drawn
from tokpar.adapters.hf_postprocess import postprocess_of
from tokpar.adapters.hf_v0 import load
from tokpar.errors import EngineError
from tokpar.spans import postprocess_single
from tokpar.types import Rows

CLS, SEP, PAD = 90, 91, 92


def finished(adapter: Any, rows: list[Any], texts: list[str]) -> list[list[int]]:
    """The final ids of texts that are encoded together."""
    final = adapter.postprocess(Rows.of(rows), texts)
    return [final[k].tolist() for k in range(len(final))]


def words() -> Tokenizer:
    """A tokenizer with one id per letter a-h."""
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate("abcdefgh")}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def template(single: str) -> Any:
    return processors.TemplateProcessing(
        single=single, pair="$A $B", special_tokens=[("[C]", CLS), ("[S]", SEP)]
    )


POST_PROCESSORS = {
    "none": lambda: None,
    "byte level": lambda: processors.ByteLevel(),
    "bert": lambda: processors.BertProcessing(("[S]", SEP), ("[C]", CLS)),
    "roberta": lambda: processors.RobertaProcessing(("[S]", SEP), ("[C]", CLS)),
    "template": lambda: template("[C] $A [S]"),
    "only before": lambda: template("[C] [C] $A"),
    "only after": lambda: template("$A:0 [S]:1"),
    "empty template": lambda: template("$A"),
    "several ids": lambda: processors.TemplateProcessing(
        single="X $A X",
        pair="$A $B",
        special_tokens=[{"id": "X", "ids": [5, 6, 7], "tokens": ["f", "g", "h"]}],
    ),
    "sequence": lambda: processors.Sequence([processors.ByteLevel(), template("[C] $A")]),
}

truncations = st.none() | st.fixed_dictionaries(
    {
        "max_length": st.integers(0, 9),
        "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]),
        "direction": st.sampled_from(["left", "right"]),
    }
)
paddings = st.none() | st.fixed_dictionaries(
    {
        "length": st.none() | st.integers(0, 12),
        "pad_to_multiple_of": st.none() | st.integers(0, 9),
        "direction": st.sampled_from(["left", "right"]),
        "pad_id": st.sampled_from([0, 3, PAD]),
    }
)


def native_or_error(call: Any) -> object:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@settings(max_examples=drawn(600), deadline=None)
@given(
    post=st.sampled_from(sorted(POST_PROCESSORS)),
    truncation=truncations,
    padding=paddings,
    add_special_tokens=st.booleans(),
    texts=st.lists(st.text("abcdefgh", max_size=14), min_size=1, max_size=4),
)
def test_finish_equals_the_native_call_for_every_setting(
    post: str,
    truncation: dict[str, Any] | None,
    padding: dict[str, Any] | None,
    add_special_tokens: bool,
    texts: list[str],
) -> None:
    tokenizer = words()
    if POST_PROCESSORS[post]() is not None:
        tokenizer.post_processor = POST_PROCESSORS[post]()
    if truncation is not None:
        tokenizer.enable_truncation(**truncation)
    if padding is not None:
        tokenizer.enable_padding(**padding)
    adapter = load(tokenizer, add_special_tokens=add_special_tokens)
    assert adapter is not None
    plain = [adapter.encode(text) for text in texts]
    for ids, text in zip(plain, texts, strict=True):
        native = native_or_error(
            lambda t=text: tokenizer.encode(t, add_special_tokens=add_special_tokens).ids
        )
        assert (
            native_or_error(lambda i=ids, t=text: postprocess_single(adapter, i, t).tolist())
            == native
        )
        assert native_or_error(lambda t=text: adapter.encode_whole(t).tolist()) == native
    batch = native_or_error(
        lambda: [
            encoding.ids
            for encoding in tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        ]
    )
    got = native_or_error(lambda: finished(adapter, plain, texts))
    assert got == batch


@settings(max_examples=drawn(100), deadline=None)
@given(truncation=truncations, padding=paddings, size=st.integers(0, 20), seed=st.integers(0, 9))
def test_finish_never_looks_at_the_values_of_ids(
    truncation: dict[str, Any] | None, padding: dict[str, Any] | None, size: int, seed: int
) -> None:
    tokenizer = words()
    tokenizer.post_processor = template("[C] $A [S]")
    if truncation is not None:
        tokenizer.enable_truncation(**{**truncation, "strategy": "longest_first"})
    if padding is not None:
        tokenizer.enable_padding(**padding)
    rule = postprocess_of(tokenizer, True)
    places = np.arange(1000, 1000 + size, dtype=np.uint32)
    values = np.random.default_rng(seed).integers(0, 100, size).astype(np.uint32)
    moved = rule.rows(Rows.of([places]))[0]
    expected = [int(values[p - 1000]) if p >= 1000 else int(p) for p in moved]
    assert rule.rows(Rows.of([values]))[0].tolist() == expected


def test_a_max_length_below_the_number_of_special_tokens_leaves_the_text_whole() -> None:
    tokenizer = words()
    tokenizer.post_processor = template("[C] $A [S]")
    tokenizer.enable_truncation(1)
    adapter = load(tokenizer)
    assert adapter is not None
    assert postprocess_single(adapter, adapter.encode("abc"), "abc").tolist() == [CLS, 0, 1, 2, SEP]
    assert tokenizer.encode("abc").ids == [CLS, 0, 1, 2, SEP]


def test_only_second_raises_the_native_error_when_something_must_go() -> None:
    tokenizer = words()
    tokenizer.enable_truncation(2, strategy="only_second")
    adapter = load(tokenizer)
    assert adapter is not None
    assert postprocess_single(adapter, adapter.encode("ab"), "ab").tolist() == [0, 1]
    with pytest.raises(Exception, match="Second sequence not provided"):
        postprocess_single(adapter, adapter.encode("abc"), "abc")
    with pytest.raises(Exception, match="Second sequence not provided"):
        finished(adapter, [adapter.encode("abc")], ["abc"])


def test_a_stride_as_large_as_what_is_kept_panics_natively_and_is_an_engine_error_here() -> None:
    tokenizer = words()
    tokenizer.enable_truncation(3, stride=3)
    adapter = load(tokenizer)
    assert adapter is not None
    assert postprocess_single(adapter, adapter.encode("abc"), "abc").tolist() == [0, 1, 2]
    with pytest.raises(EngineError, match="stride"):
        postprocess_single(adapter, adapter.encode("abcd"), "abcd")
    with pytest.raises(EngineError, match="stride"):
        finished(adapter, [adapter.encode("abcd")], ["abcd"])


@pytest.mark.parametrize("single", ["$A $A", "[C]", "$A [S] $A", "[C] $A [S] $A:1"])
def test_a_template_that_repeats_or_drops_the_text_is_unprovable(single: str) -> None:
    tokenizer = words()
    tokenizer.post_processor = template(single)
    tokenizer.enable_padding(length=None, pad_id=PAD)
    adapter = load(tokenizer)
    assert adapter is not None
    assert "template" in str(adapter.facts.unprovable)
    assert adapter.encode("abc").tolist() == [0, 1, 2]
    texts = ["abc", "a"]
    plain = [adapter.encode(text) for text in texts]
    assert postprocess_single(adapter, plain[0], "abc").tolist() == tokenizer.encode("abc").ids
    native = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    assert finished(adapter, plain, texts) == native


def test_two_inserting_post_processors_are_unprovable() -> None:
    tokenizer = words()
    bert = processors.BertProcessing(("[S]", SEP), ("[C]", CLS))
    tokenizer.post_processor = processors.Sequence([bert, template("[C] $A")])
    adapter = load(tokenizer)
    assert adapter is not None
    assert "only one may insert tokens" in str(adapter.facts.unprovable)
    assert (
        postprocess_single(adapter, adapter.encode("ab"), "ab").tolist()
        == tokenizer.encode("ab").ids
    )
