"""aider: `Model.token_count` of a file, which counts by litellm's encoding of tiktoken,
unchanged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
    yield compare("token_count of a file", own.token_count, ours.token_count, documents())


def _model() -> Any:
    from aider.models import Model

    model = Model("gpt-4")
    model.token_count("It imports litellm now.")
    return model
