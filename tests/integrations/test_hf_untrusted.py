"""Untrusted text in calls and chats of `tokpar.as_hf`: as without where nothing is untrusted, and the
ids of the definition where something is."""

from __future__ import annotations

import copy
import functools
import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.support import hf_calls as draw
from tests.support.chat_templates import ROLE_TOKENS, THINKING, TOOLS, chats
from tests.support.hf_calls import SENSIBLE, Call, some_of
from tests.support.hf_values import outcome
from tests.support.model_files import SMALL
from tokpar.errors import OptionError

pytest.importorskip("transformers", "5.24", reason="transformers 5.24 is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

pytestmark = pytest.mark.compiled_at_once

CHATTING = ("qwen", "llama 3", "gemma")
HARMLESS = st.lists(st.sampled_from(["Hello", " ", "\n", "né", "<", "|>", "the end"])).map("".join)
CONTROL = {
    "qwen": ["<|im_start|>", "<|im_end|>"],
    "llama 3": ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>"],
    "gemma": ["<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>"],
}
"""Control tokens that the templates write, or that contents hold."""


@functools.cache
def pair(name: str) -> tuple[Any, Any]:
    own = SMALL[name]()
    return own, tokpar.as_hf(own)


def definition(own: Any, text: str, untrusted: Any) -> list[int]:
    """The ids of `text`, in which each control token of a trusted run is written as a name, by an
    engine that knows the names and matches no other control token."""
    control = [token.content for token in own.added_tokens_decoder.values() if token.special]
    data = json.loads(own.backend_tokenizer.to_str())
    engine = Tokenizer.from_str(json.dumps(data))
    engine.encode_special_tokens = True
    names = {content: chr(0xF0000 + k) for k, content in enumerate(control)}
    flags = {each["content"]: each for each in data["added_tokens"]}
    kinds = ("lstrip", "rstrip", "single_word", "normalized")
    engine.add_tokens(
        [AddedToken(n, **{k: flags[c][k] for k in kinds}, special=False) for c, n in names.items()]
    )
    back = {engine.token_to_id(name): own.convert_tokens_to_ids(c) for c, name in names.items()}
    search = re.compile("|".join(map(re.escape, sorted(control, key=len, reverse=True))))
    at, parts = 0, []
    for start, stop in [*untrusted, (len(text), len(text))]:
        parts += [search.sub(lambda found: names[found[0]], text[at:start]), text[start:stop]]
        at = stop
    return [back.get(i, i) for i in engine.encode("".join(parts), add_special_tokens=False).ids]


@pytest.mark.parametrize("name", SMALL)
@given(data=st.data())
def test_without_untrusted_text_a_call_is_what_it_was(name: str, data: st.DataObject) -> None:
    own, fast = pair(name)
    call = data.draw(draw.sensible_calls(own))
    (text,) = call.given
    spans: Any = [] if isinstance(text, str) else [[] for _ in text]
    again = Call(call.given, {**call.named, "untrusted": spans})
    assert outcome(lambda: again.on(fast, "__call__")) == outcome(lambda: call.on(own, "__call__"))


OPTIONS = SENSIBLE | {"return_offsets_mapping": st.just(True)}
OPTIONS.pop("add_special_tokens")


@pytest.mark.parametrize("name", CHATTING)
@given(data=st.data())
def test_a_chat_without_control_tokens_in_its_contents_is_what_it_was(
    name: str, data: st.DataObject
) -> None:
    own, fast = pair(name)
    said = data.draw(st.lists(HARMLESS, min_size=1, max_size=3))
    roles = ("user", "assistant")
    chat = [{"role": roles[k % 2], "content": text} for k, text in enumerate(said)]
    options = data.draw(some_of(OPTIONS))
    named = {key: options.pop(key) for key in ("padding", "truncation", "max_length") & options.keys()}
    if data.draw(st.booleans()):
        named["return_tensors"] = "np"
    options.pop("return_tensors", None)
    named |= {"tokenizer_kwargs": options, "add_generation_prompt": data.draw(st.booleans())}
    named["return_assistant_tokens_mask"] = name != "gemma" and data.draw(st.booleans())
    conversation = data.draw(st.sampled_from([chat, [chat], [chat, chat[:1]]]))

    def call(tokenizer: Any, **more: Any) -> object:
        own_named = copy.deepcopy(named)
        return outcome(lambda: columns(tokenizer.apply_chat_template(conversation, **own_named, **more)))

    expected = call(own)
    assert call(fast, untrusted=True) == expected
    assert call(fast, untrusted=["user"]) == expected


def columns(result: Any) -> Any:
    return dict(result.data)


@pytest.mark.parametrize("name", CHATTING)
@given(chat=chats(), prompt=st.booleans())
def test_contents_spell_no_control_token(name: str, chat: list[dict[str, Any]], prompt: bool) -> None:
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
