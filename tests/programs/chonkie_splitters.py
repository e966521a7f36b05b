"""chonkie: its token, sentence and recursive chunkers with a tokenizer of tokenizers, and with
tiktoken's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("chonkie==1.7.0",)
VERSIONS = ("chonkie", "tokenizers", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken
    from chonkie import RecursiveChunker, SentenceChunker, TokenChunker
    from tokenizers import Tokenizer

    import tokpar

    file = f"{directory()}/tokenizer.json"
    encoding = tiktoken.get_encoding("cl100k_base")
    pairs = {
        "tokenizers": (Tokenizer.from_file(file), tokpar.as_tokenizers(Tokenizer.from_file(file))),
        "tiktoken": (encoding, tokpar.as_tiktoken(encoding)),
    }
    for kind, (own, ours) in pairs.items():
        for share, chunker in enumerate((TokenChunker, SentenceChunker, RecursiveChunker)):
            sides = (_texts_of(chunker(tokenizer, chunk_size=512)) for tokenizer in (own, ours))
            yield compare(f"{chunker.__name__}, {kind}", *sides, documents(share=share))


def _texts_of(chunker: Any) -> Callable[[str], list[tuple[str, int]]]:
    return lambda text: [(chunk.text, chunk.token_count) for chunk in chunker.chunk(text)]
