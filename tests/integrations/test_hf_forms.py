"""The forms of a call of `tokpar.as_hf`: what they return, when they notice a change, and how far
a call goes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, normalizers, pre_tokenizers, processors, trainers

import tokpar
from tests.benchmarks.hf_forms import FORMS
from tests.conftest import at_most, needs_kernel
from tests.support.hf_values import outcome
from tests.support.model_files import SMALL, fresh

pytest.importorskip("transformers", reason="transformers is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

from tokpar.integrations.hf_release import copied_settings

pytestmark = [needs_kernel, pytest.mark.compiled_at_once]

TEXT = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> " * 20
HANDED_OVER = {
    *("pair", "pair, only second", "batch of pairs, padded", "words", "overflow", "split special"),
}
OF_BATCHES = {name: 1 if "of 1" in name else 8 for name in FORMS if name.startswith("batch")}


@cache
def pair(name: str) -> tuple[Any, Any]:
    """A tokenizer and a drop-in of an equal one, both of which can pad."""
    own, mine = fresh(name), tokpar.as_hf(fresh(name))
    for each in (own, mine):
        if each.pad_token is None:
            each.pad_token = each.eos_token
    mine("a")
    return own, mine


def said(result: Any) -> object:
    """A result, and what its encodings say."""
    encodings = getattr(result, "encodings", None) or []
    names = ("ids", "tokens", "offsets", "type_ids", "attention_mask", "special_tokens_mask")
    each = [[getattr(one, name) for name in (*names, "word_ids")] for one in encodings]
    return type(result).__name__, repr(result), each


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SMALL)
def test_a_form_gives_what_the_original_gives_and_is_answered_or_handed_over(
    name: str, form: str
) -> None:
    own, mine = pair(name)
    for size in (1, 3, 200, 1000):
        text, before = TEXT[:size], mine.tokpar_texts
        call = FORMS[form]
        assert outcome(lambda c=call, t=text: said(c(mine, t))) == outcome(
            lambda c=call, t=text: said(c(own, t))
        )
        new = {way: mine.tokpar_texts[way] - before[way] for way in before}
        count = OF_BATCHES.get(form, 1)
        way = "engine" if form in HANDED_OVER else "compiled"
        assert {k: v for k, v in new.items() if v} == {way: count}


@pytest.mark.ids
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", SMALL)
def test_batches_of_passages_have_the_arrays_of_the_original(name: str, side: str) -> None:
    own, mine = pair(name)
    texts = [TEXT[k : k + 9 * (k % 44)] for k in range(64)]
    cut = {"padding": True, "padding_side": side, "truncation": True, "max_length": 50}
    more = {"return_special_tokens_mask": True, "return_tensors": "np", "return_length": True}
    before = mine.tokpar_texts["compiled"]
    got, expected = (each(texts, **cut, **more) for each in (mine, own))
    assert mine.tokpar_texts["compiled"] - before == len(texts)
    assert got.keys() == expected.keys()
    for column in got:
        assert got[column].dtype == expected[column].dtype
        assert got[column].tolist() == expected[column].tolist()


@cache
def attributes(name: str) -> list[dict[str, Any]]:
    return [copied_settings(vars(each)) | _plain(vars(each)) for each in pair(name)]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in values.items() if isinstance(each, (str, int, bool))}


def as_they_were(name: str) -> tuple[Any, Any]:
    """The tokenizers of `pair`, with the attributes that they had at first."""
    both, known = pair(name), attributes(name)
    for each, values in zip(both, known, strict=True):
        vars(each).update(copied_settings(values) | _plain(values))
    return both


ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "truncation_side": st.sampled_from(["left", "right"]),
    "padding_side": st.sampled_from(["left", "right"]),
    "model_max_length": st.sampled_from([4, 9, 512]),
    "pad_token": st.sampled_from(["a", "b"]),
    "_pad_token_type_id": st.integers(0, 2),
    "split_special_tokens": st.booleans(),
}
ARGUMENTS = {
    "truncation": st.sampled_from([True, False, None, 1, "only_first"]),
    "max_length": st.sampled_from([1, True, 5, None]),
    "padding": st.sampled_from([False, True, 0, 1, "max_length"]),
    "add_special_tokens": st.sampled_from([True, False, 0, 1]),
    "return_offsets_mapping": st.sampled_from([True, 1, 0]),
    "return_tensors": st.sampled_from([None, "np"]),
    "text_pair": st.none(),
}


@pytest.mark.ids
@at_most(60)
@given(name=st.sampled_from(sorted(SMALL)), data=st.data())
def test_equal_arguments_mean_what_the_tokenizer_makes_of_them_at_each_call(
    name: str, data: st.DataObject
) -> None:
    """Arguments that are equal and not the same, and attributes that are set between calls."""
    own, mine = as_they_were(name)
    few = st.fixed_dictionaries({}, optional=ARGUMENTS)
    calls = data.draw(st.lists(few, min_size=1, max_size=3))
    stop = data.draw(st.integers(1, 60))
    for _ in range(4):
        attribute = data.draw(st.sampled_from([*ATTRIBUTES, "model_input_names", "no change"]))
        value = data.draw(ATTRIBUTES.get(attribute, st.just("token_type_ids")))
        for each in (own, mine):
            if attribute in ATTRIBUTES:
                setattr(each, attribute, value)
            elif attribute == "model_input_names":
                each.model_input_names.append(value)
        for arguments in calls:
            for text in (TEXT[:stop], [TEXT[:stop], "a"]):
                for door in ("__call__", "encode"):
                    got, expected = (
                        outcome(lambda t=t, a=arguments, x=text, d=door: getattr(t, d)(x, **a))
                        for t in (mine, own)
                    )
                    assert got == expected


SET_IN_TURN: dict[str, tuple[Any, Any]] = {
    "truncation_side": ("left", "right"),
    "padding_side": ("left", "right"),
    "model_max_length": (4, 9),
    "pad_token": ("a", "b"),
    "_pad_token_type_id": (1, 2),
    "split_special_tokens": (True, False),
    "model_input_names": (["input_ids"], ["input_ids", "token_type_ids"]),
}


@pytest.mark.parametrize("attribute", SET_IN_TURN)
def test_an_attribute_that_is_set_between_equal_calls_holds_for_the_later_one(
    attribute: str,
) -> None:
    own, mine = as_they_were("bert")
    for value in SET_IN_TURN[attribute]:
        for each in (own, mine):
            setattr(each, attribute, value)
        for arguments in (
            {"truncation": True, "return_token_type_ids": None},
            {"truncation": True, "max_length": 9},
            {"truncation": True, "max_length": 24, "padding": "max_length"},
        ):
            text = TEXT[: 20 if "padding" in arguments else 200]
            assert outcome(lambda a=arguments, t=text: mine(t, **a)) == outcome(
                lambda a=arguments, t=text: own(t, **a)
            )


@pytest.mark.parametrize(
    ("named", "first", "second"),
    [
        ("max_length", 1, True),
        ("padding", False, 0),
        ("padding", True, 1),
        ("add_special_tokens", True, 1),
        ("truncation", True, 1),
    ],
)
def test_arguments_that_are_equal_and_not_the_same_are_told_apart(
    named: str, first: Any, second: Any
) -> None:
    own, mine = as_they_were("llama 2")
    for value in (first, second, first):
        arguments = {"add_special_tokens": False, "truncation": True, named: value}
        assert outcome(lambda a=arguments: mine(TEXT[:50], **a)) == outcome(
            lambda a=arguments: own(TEXT[:50], **a)
        )


def _train(engine: Any) -> None:
    kinds = {"BPE": trainers.BpeTrainer, "WordPiece": trainers.WordPieceTrainer}
    trainer: Any = kinds[type(engine.model).__name__](vocab_size=300, show_progress=False)
    engine.train_from_iterator([TEXT], trainer)


def _exchange_template(engine: Any) -> None:
    one = engine.id_to_token(7)
    engine.post_processor = processors.TemplateProcessing(
        single=f"{one} $A {one}", pair="$A $B", special_tokens=[(one, 7)]
    )


CHANGES: dict[str, Callable[[Any], object]] = {
    "a new token": lambda engine: engine.add_tokens(["quick bro"]),
    "a token of the model": lambda engine: engine.add_tokens(["qu"]),
    "other flags": lambda engine: engine.add_tokens(
        [AddedToken(engine.get_added_tokens_decoder()[min(_ids(engine))].content, lstrip=True)]
    ),
    "normalizer": lambda engine: setattr(engine, "normalizer", normalizers.Replace("q", "k")),
    "pre-tokenizer": lambda engine: setattr(
        engine, "pre_tokenizer", pre_tokenizers.Sequence([pre_tokenizers.Digits(True)])
    ),
    "post-processor": _exchange_template,
    "dropout": lambda engine: setattr(engine.model, "unk_token", "a"),
    "training": _train,
}


def _ids(engine: Any) -> list[int]:
    return [*engine.get_added_tokens_decoder()] or [0]


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", SMALL)
def test_a_change_of_the_engine_is_noticed_by_the_next_call(name: str, change: str) -> None:
    own = fresh(name)
    mine = tokpar.as_hf(own)  # both have one engine: WordPiece is trained in no fixed order
    text = f"the <s> {own.all_special_tokens[0]} quick brown fox 123 "
    doors: tuple[Callable[[Any], object], ...] = (
        lambda t: t(text, return_offsets_mapping=True),
        lambda t: t.encode(text),
        lambda t: t.tokenize(text),
    )
    for _ in doors:
        mine(text)  # a whole look
        mine(text)  # a quick look
    outcome(lambda: CHANGES[change](own.backend_tokenizer))
    for door in doors:
        assert outcome(lambda d=door: d(mine)) == outcome(lambda d=door: d(own))


def trip(call: Callable[[], object]) -> tuple[set[str], set[tuple[str, str]]]:
    """The files and the functions of tokpar that a call runs through."""
    functions: set[tuple[str, str]] = set()

    def enter(frame: Any, event: str, _: object) -> None:
        if event == "call" and "tokpar" in frame.f_code.co_filename:
            functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {file for file, _ in functions}, functions


@pytest.mark.skipif(sys.version_info < (3, 11), reason="functions have no qualified names")
@pytest.mark.parametrize("form", ["call", "encode", "tokenize", "np", "pair", "words"])
def test_a_call_goes_through_twelve_files_and_35_functions_at_most(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quick look, however late the second call comes."""
    monkeypatch.setattr("tokpar.integrations.hf_answers._LOOK_AGAIN", 1e3)
    _, mine = pair("qwen")
    FORMS[form](mine, TEXT[:200])
    files, functions = trip(lambda: FORMS[form](mine, TEXT[:200]))
    assert len(files) <= 12
    assert len(functions) <= 35
