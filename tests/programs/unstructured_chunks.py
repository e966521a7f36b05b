"""unstructured: elements of a text in chunks of 512 tokens of tiktoken's encoding, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("unstructured==0.27.35", "tiktoken")
VERSIONS = ("unstructured", "tiktoken")


def rows() -> Iterator[Row]:
    import tokpar

    own, ours = _chunks(nullcontext()), _chunks(tokpar.patch_tiktoken())
    yield compare("chunk_elements, max_tokens", own, ours, documents())


def _chunks(patch: AbstractContextManager[Any]) -> Callable[[str], list[str]]:
    from unstructured.chunking.basic import chunk_elements
    from unstructured.documents.elements import Text

    def chunks(text: str) -> list[str]:
        elements = [Text(paragraph) for paragraph in text.split("\n\n") if paragraph.strip()]
        return [
            each.text for each in chunk_elements(elements, max_tokens=512, tokenizer="cl100k_base")
        ]

    with patch:
        chunks("It gets its encoding now.")
    return chunks
