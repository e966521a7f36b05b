"""unstructured: elements of a text in chunks of 512 tokens of tiktoken's encoding, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("unstructured==0.27.35", "tiktoken")
VERSIONS = ("unstructured", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken

    import tokpar

    own = tiktoken.get_encoding("cl100k_base")
    sides = map(_chunks, (own, tokpar.as_tiktoken(own)))
    yield compare("chunk_elements, max_tokens", *sides, documents())


def _chunks(encoding: Any) -> Callable[[str], list[str]]:
    """Returns what asks tiktoken for its encoding at each call, as in a program that
    `patch_tiktoken` has patched."""
    import tiktoken
    from unstructured.chunking.basic import chunk_elements
    from unstructured.documents.elements import Text

    def chunks(text: str) -> list[str]:
        elements = [Text(paragraph) for paragraph in text.split("\n\n") if paragraph.strip()]
        with mock.patch.object(tiktoken, "get_encoding", return_value=encoding):
            made = chunk_elements(elements, max_tokens=512, tokenizer="cl100k_base")
        return [each.text for each in made]

    return chunks
