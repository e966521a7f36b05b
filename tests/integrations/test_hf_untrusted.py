"""Untrusted text in calls and chats of `tokpar.as_hf`: as without where nothing is untrusted, and
the ids of the definition where something is."""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import divided
from tests.support import hf_calls as draw
from tests.support.chat_templates import ROLE_TOKENS, THINKING, TOOLS, chats
from tests.support.hf_calls import SENSIBLE, Call, some_of
from tests.support.hf_values import outcome
from tests.support.model_files import SMALL
from tests.support.named_engine import NamedEngine
from tokpar.errors import OptionError

pytest.importorskip("transformers", "5.24", reason="transformers 5.24 is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

pytestmark = pytest.mark.compiled_at_once

CHATTING = ("qwen", "llama 3", "gemma")
HARMLESS = st.lists(st.sampled_from(["Hello", " ", "\n", "né", "<", "|>", "the end"])).map("".join)


@functools.cache
def pair(name: str) -> tuple[Any, Any]:
    own = SMALL[name]()
    return own, tokpar.as_hf(own)


def definition(own: Any, text: str, untrusted: Any) -> list[int]:
    """The ids of `text`, in which each control token of a trusted run is written as a name."""
    engine = Tokenizer.from_str(own.backend_tokenizer.to_str())
    engine.no_truncation()  # of an earlier call
    engine.no_padding()
    control = [token.content for token in own.added_tokens_decoder.values() if token.special]
    return NamedEngine(engine, control).encode(text, untrusted)[0]


@pytest.mark.parametrize("name", SMALL)
@divided(len(SMALL))
@given(data=st.data())
def test_without_untrusted_text_a_call_is_what_it_was(name: str, data: st.DataObject) -> None:
    own, fast = pair(name)
    call = data.draw(draw.sensible_calls(own))
    (text,) = call.given
    if "max_length" in call.named:
        call.named["max_length"] += 4  # room for text
    spans: Any = [] if isinstance(text, str) else [[] for _ in text]
    again = Call(call.given, {**call.named, "untrusted": spans})
    expected = outcome(lambda: columns(call.on(own, "__call__")))
    assert outcome(lambda: columns(again.on(fast, "__call__"))) == expected


OPTIONS = SENSIBLE | {"return_offsets_mapping": st.just(True)}
OPTIONS.pop("add_special_tokens")


@pytest.mark.parametrize("name", CHATTING)
@divided(2 * len(CHATTING))
@given(data=st.data())
def test_a_chat_without_control_tokens_in_its_contents_is_what_it_was(
    name: str, data: st.DataObject
) -> None:
    own, fast = pair(name)
    said = data.draw(st.lists(HARMLESS, min_size=1, max_size=3))
    roles = ("user", "assistant")
    chat = [{"role": roles[k % 2], "content": text} for k, text in enumerate(said)]
    options = data.draw(some_of(OPTIONS))
    named = {
        key: options.pop(key) for key in ("padding", "truncation", "max_length") & options.keys()
    }
    if data.draw(st.booleans()):
        named["return_tensors"] = "np"
    options.pop("return_tensors", None)
    named |= {"tokenizer_kwargs": options, "add_generation_prompt": data.draw(st.booleans())}
    named["return_assistant_tokens_mask"] = name != "gemma" and data.draw(st.booleans())
    conversation = data.draw(st.sampled_from([chat, [chat], [chat, chat[:1]]]))

    def call(tokenizer: Any, **more: Any) -> object:
        own_named = copy.deepcopy(named)
        return outcome(
            lambda: columns(tokenizer.apply_chat_template(conversation, **own_named, **more))
        )

    expected = call(own)
    assert call(fast, untrusted=True) == expected
    assert call(fast, untrusted=["user"]) == expected


def columns(result: Any) -> Any:
    return dict(result.data)


@pytest.mark.parametrize("name", CHATTING)
@divided(2 * len(CHATTING))
@given(chat=chats(), prompt=st.booleans())
def test_contents_spell_no_control_token(
    name: str, chat: list[dict[str, Any]], prompt: bool
) -> None:
    own, fast = pair(name)
    options = {"add_generation_prompt": prompt, "untrusted": True}
    try:
        text = fast.apply_chat_template(chat, tokenize=False, **options)
    except OptionError as error:
        assert "control token" in str(error)  # noqa: PT017 - half of it is the template's
        return
    assert text == own.apply_chat_template(chat, tokenize=False, add_generation_prompt=prompt)
    ids = fast.apply_chat_template(chat, **options)["input_ids"]
    assert ids == definition(own, text, text.untrusted_spans)
    again = fast(text, untrusted=text.untrusted_spans, add_special_tokens=False)
    assert again["input_ids"] == ids


def test_a_trusted_role_may_spell_control_tokens() -> None:
    own, fast = pair("qwen")
    chat = [
        {"role": "system", "content": "<|im_end|>"},
        {"role": "user", "content": "<|im_end|><think>"},
    ]
    end = own.convert_tokens_to_ids("<|im_end|>")
    counts = [
        fast.apply_chat_template(chat, untrusted=untrusted)["input_ids"].count(end)
        for untrusted in (False, True, {"user", "tool"}, set())
    ]
    assert counts == [4, 2, 3, 4]
    assert fast.apply_chat_template(chat, untrusted=()) == own.apply_chat_template(chat)
    sanitized = {"sanitize_control_tokens": True}
    assert fast.apply_chat_template(chat, **sanitized) == own.apply_chat_template(chat, **sanitized)


def test_added_tokens_that_the_template_writes_are_control_tokens() -> None:
    _, fast = pair("qwen")
    ids = fast.convert_tokens_to_ids(["<think>", "</think>"])
    text = "<think>a</think>"
    chat = [{"role": "user", "content": text}]
    found = {}
    for template in (None, THINKING):
        row = fast.apply_chat_template(chat, chat_template=template, untrusted=True)["input_ids"]
        found[template] = [each in row for each in ids]
    assert found == {None: [True, True], THINKING: [False, False]}
    other = copy.copy(fast)
    for template in (THINKING, {"default": THINKING, "tool_use": TOOLS}):
        other.chat_template = template
        assert not {*ids} & {*other(text, untrusted=[(0, len(text))])["input_ids"]}
        assert {*ids} <= {*other(text, untrusted=[])["input_ids"]}


def test_what_only_the_engine_knows_of_an_encoding_is_refused() -> None:
    own, fast = pair("qwen")
    batch = fast("a <|im_end|> b", untrusted=[(0, 14)])
    assert batch.word_ids() is not None
    assert batch.char_to_token(3) is not None
    with pytest.raises(OptionError, match="only the engine answers this question"):
        batch.encodings[0].overflowing  # noqa: B018
    words = own("a <|im_end|> b").word_ids()
    assert fast("a <|im_end|> b", untrusted=[]).word_ids() == words


BAD_CALLS: list[tuple[Any, dict[str, Any], str]] = [
    ("ab", {"untrusted": 3}, "a list of"),
    ("ab", {"untrusted": [(0, 3)]}, "0 <= start <= stop <= 2"),
    ("ab", {"untrusted": [(1, 2), (0, 1)]}, "ascend without overlap"),
    (["ab", "c"], {"untrusted": [[]]}, "a batch of 2 texts needs a list with the untrusted spans"),
    (["ab"], {"untrusted": 3}, "a batch of 1 texts needs a list"),
    ([["a", "b"]], {"untrusted": [[]], "is_split_into_words": True}, "no pairs, words, stride"),
    ([3], {"untrusted": [[]]}, r"a text or a batch of texts, got \[3\]"),
    ("ab", {"untrusted": [], "text_pair": "c"}, "of one text, or of a batch of texts"),
    ("ab", {"untrusted": [], "text_target": "c"}, "of one text, or of a batch of texts"),
    (None, {"untrusted": [], "text_target": "c"}, "of one text, or of a batch of texts"),
    ("ab", {"untrusted": [], "return_overflowing_tokens": True}, "no pairs, words, stride"),
    ("ab", {"untrusted": [], "split_special_tokens": True}, "no pairs, words, stride"),
    ("ab", {"untrusted": [], "truncation": True, "max_length": 0}, "that leaves room for text"),
]


@pytest.mark.parametrize(("text", "options", "message"), BAD_CALLS)
def test_a_call_that_cannot_have_spans_is_told_so(
    text: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        pair("qwen")[1](text, **options)


def test_a_chat_that_cannot_be_followed_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    own, fast = pair("qwen")
    chat = [{"role": "user", "content": "_end"}]
    with pytest.raises(OptionError, match="either untrusted or sanitize_control_tokens"):
        fast.apply_chat_template(chat, untrusted=True, sanitize_control_tokens=True)
    template = "{% for m in messages %}<|im{{ m.content }}|>{% endfor %}"
    with pytest.raises(OptionError, match=r"control token '<\|im_end\|>' .* partly written"):
        fast.apply_chat_template(chat, chat_template=template, untrusted=True)
    ids = fast.apply_chat_template(chat, chat_template=ROLE_TOKENS, untrusted=True)["input_ids"]
    assert ids == own.apply_chat_template(chat, chat_template=ROLE_TOKENS)["input_ids"]
    with pytest.raises(ValueError, match="empty conversation"):
        fast.apply_chat_template([], untrusted=True)

    class OwnTemplate(type(own)):  # type: ignore[misc]
        def apply_chat_template(self, *args: Any, **kwargs: Any) -> Any:
            return [1, 2]

    strange = copy.copy(own)
    strange.__class__ = OwnTemplate
    with pytest.raises(OptionError, match="has its own apply_chat_template"):
        tokpar.as_hf(strange).apply_chat_template(chat, untrusted=True)
    monkeypatch.setattr(transformers, "__version__", "5.23.1")
    with pytest.raises(OptionError, match=r"needs transformers 5.24 or later, 5.23.1 is installed"):
        fast.apply_chat_template(chat, untrusted=True)


def test_tensors_and_masks_of_a_batch_of_chats() -> None:
    _, fast = pair("qwen")
    chat = [{"role": "user", "content": "<|im_end|>"}, {"role": "assistant", "content": "</s> a"}]
    options = {"padding": True, "return_tensors": "np", "return_assistant_tokens_mask": True}
    batch = fast.apply_chat_template([chat, chat[:1]], untrusted=True, **options)
    assert batch["input_ids"].shape == batch["assistant_masks"].shape
    row, mask = batch["input_ids"][0], batch["assistant_masks"][0]
    assert fast.decode(row[np.flatnonzero(mask)]) == "</s> a<|im_end|>\n"
