"""`tokpar.as_hf`: each call of the accelerated tokenizer against the same call of the original."""

from __future__ import annotations

import copy
import functools
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import cases, divided
from tests.support.hf_sources import SOURCES, engine, fresh, original, transformers_tokenizer
from tests.support.tokenizers_drawn import (
    build,
    contents,
    has_twins,
    hf_specs,
    plain_copy,
    texts_with,
    token_texts,
)
from tokpar import OptionError
from tokpar.adapters.settings import is_panic

pytest.importorskip("transformers", "5", reason="transformers 5 is missing")

pytestmark = pytest.mark.compiled_at_once

LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! " * 150
EVERYTHING = {
    "return_token_type_ids": True,
    "return_attention_mask": True,
    "return_special_tokens_mask": True,
    "return_offsets_mapping": True,
    "return_length": True,
}
FOLLOWED = tuple(name for name in SOURCES if name != "text twice")
CUT_AND_TENSORS: list[tuple[dict[str, Any], str | None]] = [
    (cut, tensors)
    for cut in ({}, {"truncation": True, "max_length": 700})
    for tensors in (None, "np")
]


@functools.cache
def view(name: str, chunk_chars: int = 5) -> Any:
    """`original(name)`, with every text of one character or more through tokpar, and cut."""
    options = {"strategy": "cut", "chunk_chars": chunk_chars, "workers": 1}
    return tokpar.as_hf(original(name), smallest_text=1, **options)


def plain(value: Any) -> object:
    """A value that == compares in full: arrays with their type and shape."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, [plain(item) for item in value.tolist()]
    if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
        return [plain(item) for item in value]
    return value


def outcome(call: Callable[[], Any]) -> object:
    """Columns in order, or the error; a panic of the engine is one."""
    try:
        result = call()
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        return error
    return [(name, plain(value)) for name, value in result.items()]


def assert_same(got: object, expected: object) -> None:
    """The same columns, or an error of the same type that says the same."""
    if isinstance(expected, BaseException):
        assert type(got) is type(expected), (got, expected)
        assert str(got) == str(expected)
    else:
        assert got == expected


arguments = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "longest", "max_length", "do_not_pad", "other"]),
        "truncation": st.sampled_from(
            [None, False, True, "longest_first", "only_first", "only_second", "do_not_truncate", 7]
        ),
        "max_length": st.none() | st.integers(-1, 40) | st.sampled_from([2.5, "3", 4096]),
        "pad_to_multiple_of": st.sampled_from([None, None, 0, 1, 7, 8, -1]),
        "padding_side": st.sampled_from([None, "left", "right", "middle"]),
        "return_tensors": st.sampled_from([None, None, "np", "other"]),
        "return_token_type_ids": st.sampled_from([None, False, True]),
        "return_attention_mask": st.sampled_from([None, False, True]),
        "return_special_tokens_mask": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_length": st.booleans(),
        "split_special_tokens": st.sampled_from([None, False, True]),
        "verbose": st.booleans(),
        "stride": st.integers(0, 3),
        "is_split_into_words": st.booleans(),
        "return_overflowing_tokens": st.booleans(),
        "text_pair": st.sampled_from([None, None, "", "a b"]),
        "an_argument_of_nobody": st.none(),
    },
)


def inputs(own: Tokenizer) -> st.SearchStrategy[str | list[str]]:
    text = texts_with(contents(own), 300, token_texts(own))
    return text | st.lists(text, max_size=4)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any, dict[str, Any]]:
    name = draw(st.sampled_from(SOURCES))
    return name, draw(inputs(engine(name))), draw(arguments)


# --------------------------------------------------------------------------------- calls


@pytest.mark.ids
@given(call=calls(), chunk_chars=st.sampled_from([1, 5, 40]))
@example(call=("bert_part", "the man", {"max_length": 1, "truncation": True}), chunk_chars=5)
@example(call=("left", ["", " "], {"return_tensors": "np", **EVERYTHING}), chunk_chars=5)
@example(
    call=("left", [""], {"return_tensors": "np", "add_special_tokens": False, **EVERYTHING}),
    chunk_chars=5,
)
@example(
    call=("left", ["", "a"], {"return_tensors": "np", "add_special_tokens": False, **EVERYTHING}),
    chunk_chars=5,
)
@example(call=("roberta", " a b", {"max_length": 4, **EVERYTHING}), chunk_chars=1)
@example(call=("left", " a  b c", {"max_length": 4, "truncation": True}), chunk_chars=1)
@example(call=("bert_part", ["a", ("b", "c")], {}), chunk_chars=1)
@example(call=("bert_part", None, {}), chunk_chars=1)
@example(call=("bert_part", 3, {}), chunk_chars=1)
@example(call=("bert_part", b"the man", {}), chunk_chars=1)
@example(call=("bert_part", ["a", 3], {}), chunk_chars=1)
@example(call=("bert_part", "a\ud800", {}), chunk_chars=1)
@example(call=("bert_part", ["x", "\ud800" * 9], {}), chunk_chars=1)
def test_a_call_gives_what_the_original_gives(
    call: tuple[str, Any, dict[str, Any]], chunk_chars: int
) -> None:
    name, text, options = call
    expected = outcome(lambda: original(name)(text, **options))
    assert_same(outcome(lambda: view(name, chunk_chars)(text, **options)), expected)


def read_again(own: Tokenizer) -> Tokenizer:
    """A Unigram model whose scores stay as they are when transformers copies it through a file."""
    if type(own.model).__name__ != "Unigram":
        return own
    for _ in range(20):
        again = Tokenizer.from_str(own.to_str())
        again.encode_special_tokens = own.encode_special_tokens
        if again.to_str() == own.to_str():
            return again
        own = again
    raise AssertionError("scores that change each time they are read")


@given(spec=hf_specs(), data=st.data(), options=arguments)
def test_a_drawn_tokenizer_is_followed(
    spec: Any, data: st.DataObject, options: dict[str, Any]
) -> None:
    own = read_again(build(spec))
    assume(not has_twins(own))
    text = data.draw(inputs(own))
    split = {"split_special_tokens": True} if own.encode_special_tokens else {}
    reference = transformers_tokenizer(own, **split)
    expected = outcome(lambda: reference(text, **options))
    drawn = tokpar.as_hf(reference, smallest_text=1, strategy="cut", chunk_chars=5, workers=1)
    assert_same(outcome(lambda: drawn(text, **options)), expected)


@pytest.mark.each_value
@pytest.mark.parametrize("name", FOLLOWED)
@pytest.mark.parametrize(("cut", "tensors"), cases(CUT_AND_TENSORS, CUT_AND_TENSORS[1:3]))
def test_a_long_text_goes_through_tokpar_with_every_column(
    name: str, cut: dict[str, Any], tensors: str | None
) -> None:
    # one that no test has called: truncation that the engine panicked on stays on its object, and
    # the first call of an accelerated tokenizer then is the engine's own
    own, mine = original(name), tokpar.as_hf(fresh(name))
    padding = {"padding": True} if own.pad_token else {}
    for text in (LONG, [LONG, "short", LONG[::-1], "also short"]):
        options = {**EVERYTHING, **cut, **padding, "return_tensors": tensors}
        before = mine.tokpar_calls
        got = outcome(lambda t=text, o=options: mine(t, **o))
        assert got == outcome(lambda t=text, o=options: own(t, **o))
        assert mine.tokpar_calls == before + (1 if text is LONG else 4)


# --------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("name", FOLLOWED)
@divided(len(FOLLOWED))
@given(data=st.data())
def test_encodings_are_the_engines_own(name: str, data: st.DataObject) -> None:
    own, mine = original(name), view(name)
    text = data.draw(inputs(engine(name)).filter(len))
    options: dict[str, Any] = data.draw(
        st.sampled_from([{}, {"truncation": True, "max_length": 9}, {"add_special_tokens": False}])
    )
    if own.pad_token and data.draw(st.booleans()):
        options = {**options, "padding": "max_length", "max_length": 12}
    got, expected = mine(text, **options), own(text, **options)
    assert got.is_fast
    assert len(got.encodings) == len(expected.encodings)
    assert got.n_sequences == expected.n_sequences
    columns = ("ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids")
    columns += ("special_tokens_mask", "attention_mask")
    for one, other in zip(got.encodings, expected.encodings, strict=True):
        for column in columns:
            assert getattr(one, column) == getattr(other, column), column
    assert got.tokens() == expected.tokens()
    assert got.word_ids() == expected.word_ids()
    if isinstance(text, str) and text:
        assert got.char_to_token(0) == expected.char_to_token(0)
        assert got[:1] == expected[:1] or got[0].ids == expected[0].ids
    again = pickle.loads(pickle.dumps(got))
    assert again.tokens() == expected.tokens()


def test_the_engines_settings_are_neither_read_nor_set() -> None:
    tokenizer = tokpar.as_hf(fresh("left"))
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(3)
    backend.enable_padding(length=99)
    before = backend.truncation, backend.padding
    expected = original("left")(LONG, truncation=True, max_length=20)
    assert tokenizer(LONG, truncation=True, max_length=20)["input_ids"] == expected["input_ids"]
    assert (backend.truncation, backend.padding) == before


# --------------------------------------------------------------------------------- identity


@pytest.mark.each_value
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda tokenizer: pickle.loads(pickle.dumps(tokenizer))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_encode_through_tokpar_too(copied: Callable[[Any], Any], twice: bool) -> None:
    own = fresh("left")
    mine = tokpar.as_hf(own, smallest_text=7)
    again = copied(copied(mine)) if twice else copied(mine)
    assert type(again) is type(mine)
    assert again(LONG)["input_ids"] == own(LONG)["input_ids"]
    assert again.tokpar_calls == 1
    assert mine.tokpar_calls == 0
    assert again.padding_side == "left"
    assert again("a b c d")["input_ids"] == own("a b c d")["input_ids"]
    assert again.tokpar_calls == 2


@pytest.mark.parametrize("name", ["_encode_plus", "_get_padding_truncation_strategies"])
def test_a_method_that_is_replaced_later_is_called(name: str) -> None:
    def replaced(*args: Any, **options: Any) -> None:
        raise NotImplementedError(name)

    by_class, by_object = tokpar.as_hf(fresh("left")), tokpar.as_hf(fresh("left"))
    by_class.__class__ = type("Own", (type(by_class),), {name: replaced})
    vars(by_object)[name] = replaced
    for mine in (by_class, by_object):
        with pytest.raises(NotImplementedError, match=name):
            mine(LONG)


def test_the_engine_is_shared_and_plain_attributes_are_not() -> None:
    own = fresh("left")
    mine = tokpar.as_hf(own)
    before = len(own)
    mine(LONG)
    own.add_tokens(["quick brown"])
    assert len(mine) == len(own) == before + 1
    assert mine(LONG)["input_ids"] == own(LONG)["input_ids"]
    assert own.convert_tokens_to_ids("quick brown") in mine(LONG)["input_ids"]
    mine.add_tokens(["fox, 1"])
    assert mine(LONG)["input_ids"] == own(LONG)["input_ids"]
    own.padding_side = "right"
    assert mine.padding_side == "left"
    mine.truncation_side = "right"
    options = {"truncation": True, "max_length": 12}
    assert mine(LONG, **options)["input_ids"] != own(LONG, **options)["input_ids"]
    own.truncation_side = "right"
    assert mine(LONG, **options)["input_ids"] == own(LONG, **options)["input_ids"]


def test_threads_with_different_settings_do_not_disturb_each_other() -> None:
    own, mine = fresh("left"), tokpar.as_hf(fresh("left"))
    settings = [{}, {"truncation": True, "max_length": 9}, {"padding": "max_length"}]
    expected = [own(LONG, **options)["input_ids"] for options in settings]
    wrong: list[object] = []

    def work(k: int) -> None:
        for _ in range(20):
            got = mine(LONG, **settings[k])["input_ids"]
            if got != expected[k]:
                wrong.append((k, got))

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1, 2) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert mine.tokpar_calls == 120


# --------------------------------------------------------------------------------- refused


def test_what_is_no_fast_tokenizer_is_refused() -> None:
    pytest.importorskip("transformers", "5", reason="transformers 5 is missing")
    for source in (engine("bert_part"), 3, None):
        with pytest.raises(OptionError, match=f"fast tokenizer .* got {type(source).__name__}"):
            tokpar.as_hf(source)
    bare = plain_copy(engine("bert_part"))
    with pytest.raises(OptionError, match=r"tokenizer_object=.* tokpar\.Encoder") as refused:
        tokpar.as_hf(bare)
    assert "transformers.PreTrainedTokenizerFast(" in str(refused.value)
    made = tokpar.as_hf(transformers_tokenizer(bare), smallest_text=1)
    assert tokpar.Encoder(bare).encode(LONG) == made(LONG)["input_ids"] == bare.encode(LONG).ids


@pytest.mark.parametrize("name", ["__call__", "set_truncation_and_padding", "_encode_plus"])
def test_a_class_that_encodes_in_its_own_way_is_refused(name: str) -> None:
    base = type(original("bert_part"))
    kind = type("Own", (base,), {name: lambda self, *args, **options: None})
    own = kind(tokenizer_object=plain_copy(engine("bert_part")))
    with pytest.raises(OptionError, match=f"cannot follow Own: .* its own {name}"):
        tokpar.as_hf(own)
    one = transformers_tokenizer(plain_copy(engine("bert_part")))
    vars(one)[name] = lambda *args, **options: None
    with pytest.raises(OptionError, match=name):
        tokpar.as_hf(one)


class OtherEngine:
    """As a library has it that puts its own engine below transformers: fastokens does."""

    def __init__(self, own: Tokenizer) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return OtherEngine, (self._own,)


def test_an_engine_that_another_library_put_there_is_refused() -> None:
    one = fresh("bert_part")
    one._tokenizer = OtherEngine(one._tokenizer)
    with pytest.raises(OptionError, match=r"needs a tokenizers\.Tokenizer .* got OtherEngine"):
        tokpar.as_hf(one)


def test_an_engine_that_another_library_puts_there_later_is_called_itself() -> None:
    own = original("bert_part")
    view = tokpar.as_hf(fresh("bert_part"))
    assert view(LONG)["input_ids"] == own(LONG)["input_ids"]
    view._tokenizer = OtherEngine(view._tokenizer)
    for each in (view, copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view))):
        called = each.tokpar_calls
        for texts in (LONG, [LONG, "short"]):
            assert each(texts)["input_ids"] == own(texts)["input_ids"]
        assert each.tokpar_calls == called


# --------------------------------------------------------------------------------- other processes


def test_datasets_maps_with_it_in_several_processes() -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    texts = [f"{k} {LONG[: 5000 * (k % 2)]}" for k in range(16)]
    mine, own = tokpar.as_hf(fresh("left")), original("left")
    rows = datasets.Dataset.from_dict({"text": texts}).map(
        lambda batch: mine(batch["text"]), batched=True, batch_size=4, num_proc=2
    )
    assert rows["input_ids"] == [own(text)["input_ids"] for text in texts]
