"""`tokpar.as_hf`: each call of the accelerated tokenizer against the same call of the original."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most, cases
from tests.support.hf_calls import full_calls
from tests.support.hf_sources import SOURCES, engine, fresh, original, transformers_tokenizer
from tests.support.hf_values import outcome
from tests.support.tokenizers_drawn import (
    build,
    has_twins,
    hf_specs,
    plain_copy,
)
from tokpar import OptionError

pytest.importorskip("transformers", reason="transformers is missing")

pytestmark = pytest.mark.compiled_at_once

LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! " * 90
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


# --------------------------------------------------------------------------------- calls


@pytest.mark.ids
@at_most(300)
@given(name=st.sampled_from(SOURCES), data=st.data(), chunk_chars=st.sampled_from([1, 5, 40]))
def test_a_call_gives_what_the_original_gives(
    name: str, data: st.DataObject, chunk_chars: int
) -> None:
    call, mine = data.draw(full_calls(original(name))), view(name, chunk_chars)
    expected = outcome(lambda: call.on(original(name), "__call__"))
    assert outcome(lambda: call.on(mine, "__call__")) == expected


@pytest.mark.ids
@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("bert_part", "the man", {"max_length": 1, "truncation": True}),
        ("left", ["", " "], {"return_tensors": "np", **EVERYTHING}),
        *(
            ("left", texts, {"return_tensors": "np", "add_special_tokens": False, **EVERYTHING})
            for texts in ([""], ["", "a"])
        ),
        ("left", ["a b", "c"], {"padding": True, "pad_to_multiple_of": 7, **EVERYTHING}),
        ("roberta", " a b", {"max_length": 4, **EVERYTHING}),
        ("left", " a  b c", {"max_length": 4, "truncation": True}),
        *(
            ("bert_part", text, {})
            for text in (["a", ("b", "c")], None, 3, b"the man", ["a", 3], "a\ud800")
        ),
        ("bert_part", ["x", "\ud800" * 9], {}),
    ],
)
def test_a_call_that_is_easily_got_wrong_gives_what_the_original_gives(
    name: str, text: Any, options: dict[str, Any]
) -> None:
    expected = outcome(lambda: original(name)(text, **options))
    for chunk_chars in (1, 5):
        assert outcome(lambda n=chunk_chars: view(name, n)(text, **options)) == expected


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


@given(spec=hf_specs(), data=st.data())
def test_a_drawn_tokenizer_is_followed(spec: Any, data: st.DataObject) -> None:
    own = read_again(build(spec))
    assume(not has_twins(own))
    split = {"split_special_tokens": True} if own.encode_special_tokens else {}
    reference = transformers_tokenizer(own, **split)
    call = data.draw(full_calls(reference))
    drawn = tokpar.as_hf(reference, smallest_text=1, strategy="cut", chunk_chars=5, workers=1)
    expected = outcome(lambda: call.on(reference, "__call__"))
    assert outcome(lambda: call.on(drawn, "__call__")) == expected


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
        got = outcome(lambda t=text, o=options: dict(mine(t, **o)))
        assert got == outcome(lambda t=text, o=options: dict(own(t, **o)))
        assert mine.tokpar_calls == before + (1 if text is LONG else 4)


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
    result = copied(again("a b c d"))
    assert (dict(result), result.tokens()) == (dict(own("a b c d")), own("a b c d").tokens())
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


# --------------------------------------------------------------------------------- refused


def test_what_is_no_fast_tokenizer_is_refused() -> None:
    pytest.importorskip("transformers", reason="transformers is missing")
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
