"""haystack: its recursive splitter by tokens, which gets its encoding from tiktoken, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("haystack-ai==3.4.1", "tiktoken")
VERSIONS = ("haystack-ai", "tiktoken")


def rows() -> Iterator[Row]:
    from haystack.components.preprocessors import RecursiveDocumentSplitter

    import tokpar

    def made() -> Any:
        splitter = RecursiveDocumentSplitter(
            split_length=512, split_overlap=0, split_unit="token", separators=["\n\n", "\n", " "]
        )
        splitter.warm_up()
        return splitter

    own = made()
    with tokpar.patch_tiktoken():
        ours = made()
    yield compare("RecursiveDocumentSplitter, token", _texts_of(own), _texts_of(ours), documents())


def _texts_of(splitter: Any) -> Callable[[str], list[str]]:
    from haystack import Document

    return lambda text: [
        each.content for each in splitter.run([Document(content=text)])["documents"]
    ]
