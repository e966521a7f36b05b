"""aider: `Model.token_count` of a file or a chat, which counts by litellm's encoding of tiktoken,
unchanged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("aider-chat==0.86.2",)
VERSIONS = ("aider-chat", "litellm", "tiktoken")


def rows() -> Iterator[Row]:
    import tokpar

    own = _model()
    # litellm gets its encoding when it is imported
    for name in [name for name in sys.modules if name.split(".")[0] in {"aider", "litellm"}]:
        del sys.modules[name]
    with tokpar.patch_tiktoken():
        ours = _model()
    for share, (call, wrapped) in enumerate({"a file": _file, "a chat": _chat}.items()):
        sides = (_counts(model, wrapped) for model in (own, ours))
        yield compare(f"token_count, {call}", *sides, documents(share=share))


def _model() -> Any:
    from aider.models import Model

    model = Model("gpt-4")
    model.token_count("It imports litellm now.")
    return model


def _counts(model: Any, wrapped: Callable[[str], Any]) -> Callable[[str], int]:
    return lambda text: int(model.token_count(wrapped(text)))


def _file(text: str) -> str:
    return text


def _chat(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
