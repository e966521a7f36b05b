"""The requests that a server of vLLM answers with and without tokpar: 12 prompts, each in 23
requests of its routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError

from tests.programs.documents import documents
from tests.programs.web_server import posted

MODEL = "small"
FEW = {"model": MODEL, "max_tokens": 2, "temperature": 0}
TOOL = {
    "type": "function",
    "function": {"name": "find", "parameters": {"type": "object", "properties": {}}},
}
TEMPLATE = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
DIFFERENT = frozenset(("id", "created", "created_at", "completed_at", "request_id", "metrics"))
"""Fields that differ between two servers, or two requests."""


def prompts() -> list[str]:
    """Returns the prompts: pages and code of four sizes, and texts that tokenizers find hard."""
    page, code = documents(6_000, 2)
    return [
        "A",
        "Hello there, what is a tokenizer?",
        page[:500],
        code[:500],
        page,
        code,
        "中文字符和标点。" * 150,
        "naïve café — 🫠👩‍👩‍👧‍👦 ﷽ \u0301\u200d" * 60,
        "<｜end▁of▁sentence｜> <|user|> spelled out " * 40,
        " \n\t \r\n   \n\n" * 120,
        "0123456789" * 200,
        "x" * 3_000,
    ]


def requests_of() -> list[tuple[str, dict[str, Any]]]:
    """Returns the path and the question of each request; the first is one that `compare` leaves
    out of its figures."""
    found = [request for prompt in prompts() for request in _requests(prompt)]
    return [found[0], *found]


def _requests(prompt: str) -> Iterator[tuple[str, dict[str, Any]]]:
    chat = [{"role": "user", "content": prompt}]
    longer = [*chat, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": prompt}]
    ids = {"return_token_ids": True}
    said = FEW | {"prompt": prompt}
    for more in (
        ids,
        {"prompt": [prompt, "and another", prompt[:100]]},
        {"echo": True},
        {"logprobs": 1},
        {"prompt_logprobs": 1} | ids,
        {"truncate_prompt_tokens": 20} | ids,
        {"add_special_tokens": False} | ids,
        {"stop": ["e", "\n"]},
    ):
        yield "/v1/completions", said | more
    asked = FEW | {"messages": chat}
    for more in (
        ids,
        {"messages": longer} | ids,
        {"add_generation_prompt": False} | ids,
        {"add_generation_prompt": False, "continue_final_message": True} | ids,
        {"chat_template": TEMPLATE} | ids,
        {"tools": [TOOL], "tool_choice": "none"} | ids,
        {"logprobs": True, "top_logprobs": 1},
        {"truncate_prompt_tokens": 20} | ids,
    ):
        yield "/v1/chat/completions", asked | more
    for more in ({"prompt": prompt}, {"messages": longer}):
        yield "/tokenize", {"model": MODEL} | more
    yield "/tokenize", {"model": MODEL, "prompt": prompt, "return_token_strs": True}
    yield "/v1/chat/completions/render", asked
    yield "/v1/completions/render", said
    yield "/v1/messages/count_tokens", {"model": MODEL, "messages": chat, "max_tokens": 2}
    yield "/detokenize", {"model": MODEL, "tokens": [len(prompt), 1_000, 30_000, 77]}


def answers_of(address: str) -> Callable[[tuple[str, dict[str, Any]]], Any]:
    """Returns what asks the server at an address, and returns its answer, or the text of its
    error."""

    def answer(request: tuple[str, dict[str, Any]]) -> Any:
        path, question = request
        try:
            return _compared(posted(address + path, question))
        except HTTPError as error:
            return error.code, _compared(json.loads(error.read() or b"null"))

    return answer


def _compared(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _compared(each) for k, each in value.items() if k not in DIFFERENT}
    return [*map(_compared, value)] if isinstance(value, list) else value
