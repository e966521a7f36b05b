"""litellm: its counter of a chat's tokens, by tiktoken and by a custom tokenizer, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("litellm==1.110.2",)
VERSIONS = ("litellm", "tiktoken", "tokenizers")


def rows() -> Iterator[Row]:
    import litellm

    import tokpar

    file = (Path(directory()) / "tokenizer.json").read_text("utf-8")
    own = litellm.create_tokenizer(file)
    with tokpar.patch_tokenizers():
        ours = litellm.create_tokenizer(file)
    yield compare(
        "a custom tokenizer",
        _counts(custom_tokenizer=own),
        _counts(custom_tokenizer=ours),
        documents(),
    )


def _counts(**settings: Any) -> Callable[[str], int]:
    import litellm

    def count(text: str) -> int:
        return int(
            litellm.token_counter(
                model="", messages=[{"role": "user", "content": text}], **settings
            )
        )

    return count
