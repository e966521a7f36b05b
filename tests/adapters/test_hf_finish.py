"""finish of the Hugging Face adapter against the native `encode` and `encode_batch`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import tokpar
from tests.conftest import drawn
from tests.support.tokenizers_drawn import is_panic
from tokpar import Encoder
from tokpar.adapters.hf_postprocess import postprocess_of
from tokpar.adapters.hf_version import load
from tokpar.errors import EngineError
from tokpar.results.spans import postprocess_single
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
    "repeats": lambda: template("$A $A"),
    "drops": lambda: template("[C]"),
    "between": lambda: template("$A [S] $A"),
    "in two parts": lambda: template("[C] $A [S] $A:1"),
    "two insert": lambda: processors.Sequence(
        [processors.BertProcessing(("[S]", SEP), ("[C]", CLS)), template("[C] $A")]
    ),
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


def made(
    post: str, truncation: dict[str, Any] | None = None, padding: dict[str, Any] | None = None
) -> Tokenizer:
    tokenizer = words()
    if POST_PROCESSORS[post]() is not None:
        tokenizer.post_processor = POST_PROCESSORS[post]()
    if truncation is not None:
        tokenizer.enable_truncation(**truncation)
    if padding is not None:
        tokenizer.enable_padding(**padding)
    return tokenizer


@settings(max_examples=drawn(600), deadline=None)
@given(
    post=st.sampled_from(sorted(POST_PROCESSORS)),
    truncation=truncations,
    padding=paddings,
    special=st.booleans(),
    texts=st.lists(st.text("abcdefgh", max_size=14), min_size=1, max_size=4),
)
@example("template", {"max_length": 1}, None, True, ["abc"])  # less than the special tokens
@example("none", {"max_length": 2, "strategy": "only_second"}, None, True, ["ab", "abc"])
@example("repeats", None, {"length": None, "pad_id": PAD}, True, ["abc", "a"])
def test_finish_equals_the_native_call_for_every_setting(
    post: str,
    truncation: dict[str, Any] | None,
    padding: dict[str, Any] | None,
    special: bool,
    texts: list[str],
) -> None:
    tokenizer = made(post, truncation, padding)
    adapter = load(tokenizer, add_special_tokens=special)
    assert adapter is not None
    plain = [adapter.encode(text) for text in texts]
    for ids, text in zip(plain, texts, strict=True):
        native = native_or_error(lambda t=text: tokenizer.encode(t, add_special_tokens=special).ids)
        final = native_or_error(lambda i=ids, t=text: postprocess_single(adapter, i, t).tolist())
        assert final == native
        assert native_or_error(lambda t=text: adapter.encode_whole(t).tolist()) == native
    batch = native_or_error(
        lambda: [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=special)]
    )
    assert native_or_error(lambda: finished(adapter, plain, texts)) == batch


@settings(max_examples=drawn(100), deadline=None)
@given(truncation=truncations, padding=paddings, size=st.integers(0, 20), seed=st.integers(0, 9))
def test_finish_never_looks_at_the_values_of_ids(
    truncation: dict[str, Any] | None, padding: dict[str, Any] | None, size: int, seed: int
) -> None:
    cut = truncation and {**truncation, "strategy": "longest_first"}
    rule = postprocess_of(made("template", cut, padding), True)
    places = np.arange(1000, 1000 + size, dtype=np.uint32)
    values = np.random.default_rng(seed).integers(0, 100, size).astype(np.uint32)
    moved = rule.rows(Rows.of([places]))[0]
    expected = [int(values[p - 1000]) if p >= 1000 else int(p) for p in moved]
    assert rule.rows(Rows.of([values]))[0].tolist() == expected


def test_a_stride_as_large_as_what_is_kept_panics_natively_and_is_an_engine_error_here() -> None:
    adapter = load(made("none", {"max_length": 3, "stride": 3}))
    assert adapter is not None
    assert postprocess_single(adapter, adapter.encode("abc"), "abc").tolist() == [0, 1, 2]
    with pytest.raises(EngineError, match="stride"):
        postprocess_single(adapter, adapter.encode("abcd"), "abcd")
    with pytest.raises(EngineError, match="stride"):
        finished(adapter, [adapter.encode("abcd")], ["abcd"])


STRIDE_TOO_LARGE = {"stride": 7, "strategy": "LongestFirst", "direction": "Right"}
stored_truncations = st.fixed_dictionaries(
    {
        "max_length": st.integers(0, 9),
        "stride": st.integers(0, 12),
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "direction": st.sampled_from(["Left", "Right"]),
    }
)


@pytest.mark.ids
@given(
    st.sampled_from(["none", "bert", "several ids"]),
    stored_truncations,
    st.booleans(),
    st.lists(st.text("abc", max_size=12), min_size=1, max_size=3),
    st.booleans(),
)
@example("none", {**STRIDE_TOO_LARGE, "max_length": 5}, False, ["abc", "abcdefgh"], False)
@example("bert", {**STRIDE_TOO_LARGE, "max_length": 3}, True, ["a", "abcdefgh"], True)
def test_a_stored_stride_of_any_size_loads_and_is_what_the_own_call_makes_of_it(
    post: str, truncation: dict[str, Any], pads: bool, texts: list[str], turned_off: bool
) -> None:
    config = json.loads(made(post, None, {} if pads else None).to_str())
    own = Tokenizer.from_str(json.dumps({**config, "truncation": truncation}))
    settings = {"truncation": False} if turned_off else {}
    encoder = Encoder(tokpar.load(own, **settings))
    if turned_off:
        own.no_truncation()
    for text in texts:
        assert_same(lambda: encoder.encode(text).ids.tolist(), lambda: own.encode(text).ids)  # noqa: B023
    assert_same(
        lambda: [each.ids.tolist() for each in encoder.encode_batch(texts)],
        lambda: [each.ids for each in own.encode_batch(texts)],
    )


def assert_same(call: Callable[[], object], own: Callable[[], object]) -> None:
    """Both return the same, or the engine fails and the call raises its error or EngineError."""
    try:
        expected = own()
    except BaseException as error:
        if not is_panic(error) and "Truncation error" not in str(error):
            raise
        kind = EngineError if is_panic(error) else Exception
        with pytest.raises(kind, match=r"[Ss]tride|Second"):
            call()
    else:
        assert call() == expected


@pytest.mark.parametrize("post", ["repeats", "drops", "between", "in two parts", "two insert"])
def test_what_does_more_than_insert_around_a_text_is_unprovable(post: str) -> None:
    adapter = load(made(post))
    assert adapter is not None
    said = "only one may insert tokens" if post == "two insert" else "template"
    assert said in str(adapter.facts.unprovable)
    with pytest.raises(LookupError, match=f"own call can post-process its ids: .*{said}"):
        postprocess_single(adapter, np.arange(2, dtype=np.uint32), "a ")
