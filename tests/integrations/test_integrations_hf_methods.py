"""Each public method and attribute of transformers' class of fast tokenizers, on
`tokpar.as_hf(tok)` and on `tok`, for tokenizers like those of BERT, GPT-2, Llama, Qwen and Gemma.

A method that transformers adds makes `test_every_public_name_is_compared` fail until it has a
drawing here, or stands in `LEFT_OUT` with the reason."""

from __future__ import annotations

import copy
import functools
import inspect
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most, drawn
from tests.support import hf_calls as draw
from tests.support import hf_changes as changes
from tests.support import hf_chats as chats
from tests.support.hf_calls import Call, Drawing, calls
from tests.support.hf_releases import EXTRA_TOKENS, HF_RELEASE, IS_VERSION_4
from tests.support.hf_values import Raised, outcome, plain
from tests.support.model_files import CHATML, FULL, SMALL, folder, fresh
from tests.support.profiles import cases, is_quick

pytest.importorskip("transformers", reason="transformers is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

pytestmark = pytest.mark.compiled_at_once


def alone(own: Any) -> st.SearchStrategy[Call]:
    return st.just(Call())


CALLED: dict[str, Drawing] = {
    "__call__": draw.full_calls,
    "__bool__": alone,
    "__len__": alone,
    "__repr__": alone,
    "__getattr__": lambda own: calls(st.sampled_from([*changes.ATTRIBUTES, "no_such_name"])),
    "apply_chat_template": chats.chat_calls,
    "batch_decode": draw.decode_calls,
    "clean_up_tokenization": lambda own: calls(draw.one_text(own)),
    "convert_added_tokens": lambda own: calls(
        changes.added(own) | st.lists(changes.added(own)), few={"save": st.booleans()}
    ),
    "convert_ids_to_tokens": draw.decode_calls,
    "convert_tokens_to_ids": lambda own: calls(draw.tokens(own) | st.lists(draw.tokens(own))),
    "convert_tokens_to_string": lambda own: calls(st.lists(draw.tokens(own))),
    "decode": draw.decode_calls,
    "encode": draw.encode_calls,
    "encode_message_with_chat_template": chats.message_calls,
    "get_added_vocab": alone,
    "get_chat_template": lambda own: calls(
        few={key: chats.CHAT[key] for key in ("chat_template", "tools")}
    ),
    "get_special_tokens_mask": lambda own: calls(
        draw.id_lists(own), few={"already_has_special_tokens": st.booleans()}
    ),
    "get_vocab": alone,
    "num_special_tokens_to_add": lambda own: calls(few={"pair": st.booleans()}),
    "pad": draw.pad_calls,
    "parse_response": chats.response_calls,
    "tokenize": draw.tokenize_calls,
}
"""Methods that change nothing but the engine's truncation and padding."""
if IS_VERSION_4:
    CALLED |= {"encode_plus": draw.encode_calls, "batch_encode_plus": draw.encode_calls}

CHANGING: dict[str, Drawing] = {
    "add_special_tokens": lambda own: calls(
        changes.special_tokens(own), few={f"replace_{EXTRA_TOKENS}": st.booleans()}
    ),
    "add_tokens": changes.add_calls,
    "set_truncation_and_padding": changes.truncation_calls,
    "update_post_processor": alone,
    "__setattr__": lambda own: st.sampled_from(sorted(changes.ATTRIBUTES)).flatmap(
        lambda name: calls(st.just(name), changes.ATTRIBUTES[name])
    ),
}
"""Methods that change the tokenizer."""

ENCODING = ("__call__", "apply_chat_template", "encode", "encode_message_with_chat_template", "pad")
"""Methods that encode texts through tokpar; `pad` is drawn with results of calls."""

READ = (
    *("SPECIAL_TOKENS_ATTRIBUTES", "add_bos_token", "add_eos_token", "added_tokens_decoder"),
    *("added_tokens_encoder", "all_special_ids", "all_special_tokens", "backend_tokenizer"),
    *("can_save_slow_tokenizer", "decoder", "is_fast", "max_len_sentences_pair", "vocab_size"),
    *("max_len_single_sentence", "model", "model_input_names", "pad_token_type_id", "vocab"),
    *("padding_side", "pretrained_vocab_files_map", "slow_tokenizer_class", "truncation_side"),
    *("special_tokens_map", "vocab_files_names"),
    # set by __init__ or found by __getattr__
    *("pad_token", "pad_token_id", "bos_token_id", "extra_special_tokens", "name_or_path"),
    *("extra_special_tokens_ids", "init_kwargs", "model_max_length", "chat_template", "verbose"),
    # methods and attributes of transformers 4
    *("encode_plus", "batch_encode_plus", "prepare_for_model", "truncate_sequences"),
    *("build_inputs_with_special_tokens", "create_token_type_ids_from_sequences"),
    *("as_target_tokenizer", "prepare_seq2seq_batch", "sanitize_special_tokens"),
    *("additional_special_tokens", "additional_special_tokens_ids", "special_tokens_map_extended"),
)
"""Attributes whose value is compared, or the error that they are missing."""

BY_THEMSELVES = {
    "convert_to_native_format": "test_a_class_method_gives_what_the_original_gives",
    "from_pretrained": "test_a_class_method_gives_what_the_original_gives",
    "get_response_parser": "test_a_response_is_parsed_alike_while_it_comes",
    "register_for_auto_class": "test_a_class_that_is_registered_is_saved_alike",
    "save_chat_templates": "test_the_same_files_are_saved",
    "save_pretrained": "test_the_same_files_are_saved",
    "save_vocabulary": "test_the_same_files_are_saved",
    "train_new_from_iterator": "test_a_tokenizer_trained_from_it_is_the_same",
}
"""Methods with a test of their own."""

LEFT_OUT = {
    "__init__": "as_hf makes no object by it; from_pretrained of the class does, and is compared",
    "push_to_hub": "it needs a hub to send files to",
}


@functools.cache
def pair(name: str) -> tuple[Any, Any, Any]:
    """A tokenizer, and two accelerated ones: by the planner's strategy, and cut every few
    characters. The three share one engine."""
    own = fresh(name)
    options = {"strategy": "cut", "chunk_chars": 5, "workers": 1}
    return own, tokpar.as_hf(own, smallest_text=1), tokpar.as_hf(own, smallest_text=1, **options)


def answers(method: str, call: Call, *tokenizers: Any) -> list[object]:
    """What each tokenizer answers the call."""
    return [
        named_alike(tokenizer, outcome(lambda t=tokenizer: call.on(t, method)))
        for tokenizer in tokenizers
    ]


def named_alike(tokenizer: Any, answer: object) -> object:
    """An error of the interpreter itself has the qualified name of a class, which for a drop-in is
    its place in `hf_named_classes`; here it is the name of both classes."""
    if not isinstance(answer, Raised):
        return answer
    error, text = answer
    return Raised((error, text.replace(type(tokenizer).__qualname__, type(tokenizer).__name__)))


def compare(method: str, call: Call, name: str) -> None:
    """The accelerated tokenizers answer the call as the original does, twice."""
    own, *accelerated = pair(name)
    expected = outcome(lambda: call.on(own, method))
    for cache in ("cold", "warm"):
        assert answers(method, call, *accelerated) == [expected, expected], cache


@pytest.mark.skipif(HF_RELEASE < (5, 24), reason="these are the names of transformers 5.24")
def test_every_public_name_is_compared() -> None:
    from transformers import PreTrainedTokenizerFast

    public = {name for name in dir(PreTrainedTokenizerFast) if not name.startswith("_")}
    kinds = [k for k in PreTrainedTokenizerFast.__mro__ if k.__module__.startswith("transformers")]
    special = {
        name
        for kind in kinds
        for name, value in vars(kind).items()
        if name.startswith("__") and callable(value)
    }
    compared = {*CALLED, *CHANGING, *READ, *BY_THEMSELVES, *LEFT_OUT}
    assert public | special <= compared
    assert all(test in globals() for test in BY_THEMSELVES.values())


@pytest.mark.ids
@pytest.mark.parametrize("method", CALLED)
@at_most(60)
@given(data=st.data())
def test_a_method_gives_what_the_original_gives(method: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SMALL)))
    compare(method, data.draw(CALLED[method](pair(name)[0])), name)


@pytest.mark.parametrize("name", SMALL)
def test_attributes_are_those_of_the_original(name: str) -> None:
    own, *accelerated = pair(name)
    for view in accelerated:
        for attribute in READ:
            if inspect.ismethod(getattr(own, attribute, None)):
                continue  # of transformers 4
            got, expected = (outcome(lambda t=t, a=attribute: getattr(t, a)) for t in (view, own))
            assert got == expected, attribute


@pytest.mark.parametrize("name", SMALL)
def test_signatures_are_those_of_the_original(name: str) -> None:
    own, view, _ = pair(name)
    for method in dir(own):
        value = getattr(own, method, None)
        if inspect.ismethod(value) and not method.startswith("_"):
            assert inspect.signature(getattr(view, method)) == inspect.signature(value), method
            assert getattr(view, method).__doc__ == value.__doc__


def test_an_attribute_that_cannot_be_set_is_refused_as_by_the_original() -> None:
    own, mine = fresh("bert"), tokpar.as_hf(fresh("bert"), smallest_text=1)
    got, expected = answers("__setattr__", Call(("vocab_size", 3), {}), mine, own)
    assert isinstance(expected, Raised)
    assert got == expected


@at_most(12 if is_quick() else 25 * len(SMALL))
@given(name=st.sampled_from(sorted(SMALL)), data=st.data())
def test_a_changed_tokenizer_does_what_the_changed_original_does(
    name: str, data: st.DataObject
) -> None:
    own, mine = fresh(name), tokpar.as_hf(fresh(name), smallest_text=1)
    unchanged = pair(name)[0]  # its strategies are kept
    for _ in range(data.draw(st.integers(1, 3))):
        method = data.draw(st.sampled_from(sorted(CHANGING)))
        got, expected = answers(method, data.draw(CHANGING[method](unchanged)), mine, own)
        assert got == expected
        asked = data.draw(st.sampled_from(["__call__", "apply_chat_template", "decode", "pad"]))
        got, expected = answers(asked, data.draw(CALLED[asked](unchanged)), mine, own)
        assert got == expected
        assert plain(mine) == plain(own)


# --------------------------------------------------------------------------------- by themselves


def saved(tokenizer: Any, method: str, call: Call) -> object:
    """What the method returns, and the files that it writes."""
    with tempfile.TemporaryDirectory() as made:
        call = Call((made, *call.given), call.named)
        answer = outcome(lambda: call.on(tokenizer, method))
        files = {
            str(path.relative_to(made)): path.read_bytes()
            for path in Path(made).rglob("*")
            if path.is_file()
        }
        return repr(answer).replace(made, ""), files


@at_most(20)
@given(data=st.data())
def test_the_same_files_are_saved(data: st.DataObject) -> None:
    own, *accelerated = pair(data.draw(st.sampled_from(sorted(SMALL))))
    prefix = st.sampled_from([None, "new"])
    options = {
        "legacy_format": st.sampled_from([None, False, True]),
        "filename_prefix": prefix,
        "save_format": st.sampled_from([None, "hf", "mistral", "other"]),
        "save_jinja_files": st.booleans(),
    }
    drawn = {
        "save_pretrained": calls(few=options),
        "save_vocabulary": calls(few={"filename_prefix": prefix}),
        "save_chat_templates": calls(st.just({}), prefix, st.booleans()),
    }
    method = data.draw(st.sampled_from(sorted(drawn)))
    call = data.draw(drawn[method])
    expected = saved(own, method, call)
    assert all(saved(view, method, call) == expected for view in accelerated)


@pytest.mark.parametrize("name", SMALL)
def test_a_class_method_gives_what_the_original_gives(name: str) -> None:
    own, view, _ = pair(name)
    path = folder(name)
    arguments: list[dict[str, Any]] = [
        {"tokenizer_file": str(path / "tokenizer.json")},
        {"vocab_file": "no such file"},
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [("a", "b")]},
        {"vocab": {"a": 0, "b": 1, "ab": 2}},
    ]
    for named in [] if IS_VERSION_4 else arguments:
        got, expected = (
            outcome(lambda t=t, n=named: type(t).convert_to_native_format(**n)) for t in (view, own)
        )
        assert got == expected
    for named in ({}, {"pad_token": "the", "padding_side": "left"}):
        loaded = [type(t).from_pretrained(path, **named) for t in (view, own)]
        assert plain(loaded[0]) == plain(loaded[1])
        assert loaded[0]("the man")["input_ids"] == loaded[1]("the man")["input_ids"]
    with pytest.raises((OSError, ValueError), match="no-such-folder"):
        type(view).from_pretrained(path / "no-such-folder")


# not BERT: the engine's trainer of WordPiece numbers tokens in another order each time
@pytest.mark.parametrize("name", ["qwen", "gemma", "llama 3"])
@at_most(drawn(15))
@given(data=st.data())
def test_a_tokenizer_trained_from_it_is_the_same(name: str, data: st.DataObject) -> None:
    own, view, _ = pair(name)
    call = data.draw(changes.training_calls(own))
    got, expected = answers("train_new_from_iterator", call, view, own)
    assert got == expected


@at_most(20)
@given(data=st.data())
def test_a_response_is_parsed_alike_while_it_comes(data: st.DataObject) -> None:
    own, view, _ = pair("qwen")
    prompt = "<|im_start|>assistant\n<think>"
    prefix = data.draw(st.sampled_from([None, "", prompt, [5, 6], [[5]]]))
    written = data.draw(draw.one_text(own)) + data.draw(
        st.sampled_from(["", "</think>a<|im_end|>"])
    )
    template = data.draw(st.sampled_from([None, chats.PARSED]))

    def events(tokenizer: Any) -> object:
        parser = tokenizer.get_response_parser(template, prefix=prefix)
        fed = [parser.feed(written[at : at + 7]) for at in range(0, len(written), 7)]
        return parser.initial_events, fed, parser.finalize()

    assert outcome(lambda: events(view)) == outcome(lambda: events(own))


def test_a_class_that_is_registered_is_saved_alike(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    class Registered(PreTrainedTokenizerFast):
        pass

    own = Registered(tokenizer_object=fresh("bert").backend_tokenizer)
    view = tokpar.as_hf(own)
    for kind in (Registered, type(view)):
        assert outcome(lambda k=kind: k.register_for_auto_class("NoSuchClass")) == Raised(
            (ValueError, "NoSuchClass is not a valid auto class.")
        )
    type(view).register_for_auto_class()
    assert type(view)._auto_class == "AutoTokenizer"
    own.register_for_auto_class()
    for tokenizer, name in ((own, "own"), (view, "view")):
        tokenizer.save_pretrained(tmp_path / name)
    files = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("own", "view")]
    assert files[0] == files[1]
    for name in files[0]:
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "view" / name).read_bytes()


# --------------------------------------------------------------------------------- through tokpar


@pytest.mark.each_value
@pytest.mark.parametrize("name", cases([*SMALL, *FULL], SMALL))
@pytest.mark.parametrize("method", ENCODING)
def test_texts_of_these_methods_go_through_tokpar(method: str, name: str) -> None:
    own, *accelerated = pair(name)
    if not hasattr(own, method):
        pytest.skip(f"this release of transformers has no {method}")
    chat = [{"role": "user", "content": "the man"}, {"role": "assistant", "content": " Yes.\n"}]
    template = {} if own.chat_template else {"chat_template": CHATML}
    call = {
        "apply_chat_template": Call((chat,), template),
        "encode_message_with_chat_template": Call((chat[1], chat[:1]), template),
        "pad": Call((draw.Encoded(["the man"]),), {"padding": False}),
    }.get(method, Call(("the man",)))
    for view in accelerated:
        before = view.tokpar_calls
        got, expected = answers(method, call, view, own)
        assert got == expected
        assert view.tokpar_calls > before


def test_settings_of_the_one_are_not_those_of_the_other() -> None:
    own = fresh("bert")
    view = tokpar.as_hf(own)
    own.pad_token, view.sep_token = "the", "man"
    setattr(own, EXTRA_TOKENS, ["of"])
    own.model_input_names.append("length")
    assert (view.pad_token, own.sep_token) == ("[PAD]", "[SEP]")
    assert getattr(view, EXTRA_TOKENS) == []
    assert "length" not in view.model_input_names
    again = copy.copy(view)
    assert (again.pad_token, again.sep_token) == ("[PAD]", "man")
