"""The rendering that knows which characters a chat template wrote, beside transformers' own."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import chat_templates as draw
from tests.support.chat_templates import CHATML, ROLE_TOKENS, TEMPLATES, THINKING, TOOLS
from tests.support.model_files import SMALL
from tokpar.adapters.hf_trust import template_control
from tokpar.errors import OptionError

pytest.importorskip("transformers", "5.24", reason="transformers 5.24 is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

from tokpar.integrations import chat_provenance, chat_template_marks

if TYPE_CHECKING:
    from tokpar.integrations.chat_provenance import ChatText

QWEN = SMALL["qwen"]()
LOOK_UP = {"name": "look_up", "description": "Finds <|im_end|>, {{ x }}.", "parameters": {"b": 1}}
CALL = {"type": "function", "function": {"name": "f", "arguments": {"city": "<|im_end|>"}}}


def tokenizer_of(template: str) -> Any:
    """A tokenizer with control tokens of all the templates, special ones and others."""
    own = copy.copy(QWEN)
    own.chat_template = template
    return own


def rendered(template: str, chat: Any, untrusted: Any = True, **options: Any) -> ChatText:
    """The chat's text with spans, after transformers' own."""
    own = tokenizer_of(template)
    plain = own.apply_chat_template(chat, tokenize=False, **options)
    call = inspect.signature(own.apply_chat_template).bind(chat, **options)
    call.apply_defaults()
    made = chat_provenance.chats_of_call(own, untrusted, call)
    (text,) = made.texts([plain])
    assert text == plain
    return text


def untrusted_texts(text: ChatText) -> list[str]:
    return [text[start:stop] for start, stop in text.untrusted_spans]


def trusted_text(text: ChatText) -> str:
    """`text` with a · in the place of each untrusted span."""
    at, made = 0, []
    for start, stop in text.untrusted_spans:
        made.append(text[at:start])
        at = stop
    return "·".join([*made, text[at:]])


@pytest.mark.parametrize("name", TEMPLATES)
@given(chat=draw.chats(), prompt=st.booleans(), thinking=st.booleans())
def test_no_character_of_a_content_counts_as_written_by_the_template(
    name: str, chat: list[dict[str, Any]], prompt: bool, thinking: bool
) -> None:
    options = {"add_generation_prompt": prompt, "enable_thinking": thinking}
    text = rendered(TEMPLATES[name], chat, **options)
    private = [{**message, "content": draw.shadow(message["content"])} for message in chat]
    oracle = rendered(TEMPLATES[name], private, **options)
    untrusted = {k for start, stop in oracle.untrusted_spans for k in range(start, stop)}
    assert {k for k, character in enumerate(oracle) if draw.is_shadow(character)} <= untrusted
    if draw.without_shadow(oracle) == text:
        assert oracle.untrusted_spans == text.untrusted_spans
    else:
        assert name == "tools"  # it looks for "<|" in texts


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_the_template_writes_is_trusted_to_the_last_character(name: str) -> None:
    chat = [{"role": "user", "content": "ÄÖ"}, {"role": "assistant", "content": "ÜÖ"}]
    text = rendered(TEMPLATES[name], [*chat, {"role": "user", "content": "Ä"}])
    assert untrusted_texts(text) == ["ÄÖ", "ÜÖ", "Ä"]


def test_a_history_of_thoughts_is_split_as_the_template_splits_it() -> None:
    chat = [
        {"role": "user", "content": "<think>"},
        {"role": "assistant", "content": "<think>\nlong</think>\n\nso"},
    ]
    text = rendered(THINKING, chat)
    assert trusted_text(text) == (
        "<|im_start|>user\n·<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n·\n</think>\n\n·<|im_end|>\n"
    )
    assert untrusted_texts(text) == ["<think>", "long", "so"]


def test_tools_documents_arguments_and_reasoning_are_untrusted() -> None:
    document = {"title": "<tools>", "text": "<|im_start|>"}
    chat = [
        {"role": "user", "content": [{"type": "text", "text": "<|im_end|>"}]},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
    ]
    tools = [{"type": "function", "function": LOOK_UP}]
    text = rendered(TOOLS, chat, untrusted={"user"}, tools=tools, documents=[document])
    assert trusted_text(text).startswith("<|im_start|>system\n<tools>\n·\n")
    assert text.count("<|im_end|>") == 7
    assert trusted_text(text).count("<|im_end|>") == 4
    thought = {"role": "assistant", "content": "c", "reasoning_content": "</think>"}
    chat = [{"role": "user", "content": "q"}, thought]
    assert untrusted_texts(rendered(THINKING, chat, untrusted={"user"})) == ["q", "</think>"]


def test_contents_of_roles_that_are_not_named_are_trusted() -> None:
    chat = [
        {"role": "system", "content": [{"type": "text", "text": "<|im_start|>"}]},
        {"role": "user", "content": "<|im_end|>"},
        {"role": "critic", "content": "c"},
    ]
    text = rendered(TOOLS, chat, untrusted={"user", "tool"})
    assert untrusted_texts(text) == ["<|im_end|>", "critic", "c"]
    assert untrusted_texts(rendered(TOOLS, chat, untrusted=[])) == ["critic", "c"]


def test_a_role_is_written_by_the_template_if_it_names_that_role() -> None:
    named = "{% for m in messages %}{% if m.role == 'critic' %}a{% endif %}{{ m.role }}{% endfor %}"
    assert rendered(named, [{"role": "critic", "content": ""}]).untrusted_spans == ()
    assert rendered(named, [{"role": "poet", "content": ""}]).untrusted_spans == ((0, 4),)


@pytest.mark.parametrize(
    ("template", "chat", "message"),
    [
        (ROLE_TOKENS, ["<|", "im_end", "|>"], "comes from no single string"),
        ("<|im_{% for m in messages %}{{ m.content }}|>{% endfor %}", ["end"], "partly written"),
        ("{{ messages[0].content }}_end|>", ["<|im"], "partly written"),
        ("{{ messages[0].content|lower }}", ["<|IM_END|>"], "comes from no single string"),
        ("{{ ('<|im_end|>' ~ messages[0].content)|center(20) }}", ["q"], "no single string"),
    ],
)
def test_a_control_token_of_which_nobody_can_say_whose_it_is_is_named(
    template: str, chat: list[str], message: str
) -> None:
    template = template.replace("'<|' ~ m['role'] ~ '|>' ~ m['content'] ~ '<|end|>'", "m.content")
    said = [{"role": "user", "content": text} for text in chat]
    with pytest.raises(OptionError, match=rf"'<\|im_end\|>' at \d+ .*{message}"):
        rendered(template, said)


def test_a_control_token_before_text_that_makes_it_a_longer_one_is_the_templates() -> None:
    own = copy.deepcopy(tokenizer_of("<a>{{ messages[0].content }}"))
    own.add_tokens(["<a>", "<a>b"], special_tokens=True)
    call = inspect.signature(own.apply_chat_template).bind([{"role": "user", "content": "b"}])
    call.apply_defaults()
    assert chat_provenance.chats_of_call(own, True, call).texts(["<a>b"])[0].untrusted_spans == (
        (3, 4),
    )


@pytest.mark.parametrize("step", ["{{ range(10 ** 5)|random }}", "{{ strftime_now('%f') }}"])
def test_a_step_that_gives_another_text_each_time_is_named(step: str) -> None:
    template = f"<|im_start|>\n{{{{ messages[0].content }}}}\n{step * 4}"
    with pytest.raises(OptionError, match=r"cannot tell .*: at \d+ it gives '.*' and a moment"):
        rendered(template, [{"role": "user", "content": "q"}])


def test_a_step_that_fails_with_marks_only_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no marks here")

    monkeypatch.setattr(chat_template_marks.MarkedText, "upper", fail)
    with pytest.raises(OptionError, match=r"cannot tell which text .*: no marks here"):
        rendered("{{ messages[0].content.upper() }}", [{"role": "user", "content": "q"}])


@pytest.mark.parametrize(
    ("untrusted", "message"),
    [
        ("user", "True or a set of roles as {'user', 'tool'}, got 'user'"),
        ({3}, "set of roles"),
        (1, "set of roles"),
        ({"usr"}, "'usr', a role that the chat template does not know; it knows assistant"),
    ],
)
def test_what_is_no_set_of_roles_is_told_so(untrusted: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        rendered(CHATML, [{"role": "user", "content": "q"}], untrusted)


@pytest.mark.each_value
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("model", ["qwen", "gemma", "llama 3"])
@pytest.mark.parametrize("named", [None, [], ["<think>", "no token"]])
def test_control_tokens_are_those_of_transformers(
    name: str, model: str, named: list[str] | None
) -> None:
    own = SMALL[model]()
    own.chat_control_tokens = named
    expected = own._get_control_tokens(TEMPLATES[name])
    assert template_control(own, TEMPLATES[name]) == {*expected}
    own.chat_template = {"default": TEMPLATES[name], "tool_use": TOOLS}
    assert template_control(own) == {*expected, *own._get_control_tokens(TOOLS)}
