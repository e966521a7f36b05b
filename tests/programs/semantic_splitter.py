"""semantic-text-splitter (Rust): chunks of 512 tokens by its own tokenizers, and by `Encoder.count`
as its callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("semantic-text-splitter==0.33.1",)
VERSIONS = ("semantic-text-splitter", "tokenizers")


def rows() -> Iterator[Row]:
    from semantic_text_splitter import TextSplitter
    from tokenizers import Tokenizer

    import tokpar

    file = f"{directory()}/tokenizer.json"
    own = TextSplitter.from_huggingface_tokenizer(Tokenizer.from_file(file), 512)
    counter = tokpar.Encoder(file).count
    ours = TextSplitter.from_callback(counter, 512)
    yield compare("a tokenizer of tokenizers", own.chunks, ours.chunks, documents(4_000))
    by_callback = TextSplitter.from_callback(_count_of(Tokenizer.from_file(file)), 512)
    yield compare(
        "the own tokenizer as a callback",
        by_callback.chunks,
        ours.chunks,
        documents(4_000, share=1),
    )


def _count_of(tokenizer: Any) -> Callable[[str], int]:
    return lambda text: len(tokenizer.encode(text).ids)
