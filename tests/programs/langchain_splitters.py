"""LangChain: its splitters that count by tiktoken or by a tokenizer of transformers, unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from tests.programs.documents import documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("langchain-text-splitters==1.1.3", "transformers==5.24.0")
VERSIONS = ("langchain-text-splitters", "transformers", "tiktoken")


def rows() -> Iterator[Row]:
    from langchain_text_splitters import (
        CharacterTextSplitter,
        RecursiveCharacterTextSplitter,
        TokenTextSplitter,
    )

    import tokpar

    for share, splitter in enumerate((RecursiveCharacterTextSplitter, CharacterTextSplitter)):
        settings = {"chunk_size": 512, "chunk_overlap": 0}
        own = splitter.from_tiktoken_encoder("cl100k_base", **settings)
        with tokpar.patch_tiktoken():
            ours = splitter.from_tiktoken_encoder("cl100k_base", **settings)
        yield compare(
            f"{splitter.__name__}, tiktoken",
            own.split_text,
            ours.split_text,
            documents(share=share),
        )
    own = TokenTextSplitter("cl100k_base", chunk_size=512, chunk_overlap=0)
    with tokpar.patch_tiktoken():
        ours = TokenTextSplitter("cl100k_base", chunk_size=512, chunk_overlap=0)
    yield compare("TokenTextSplitter", own.split_text, ours.split_text, documents(share=2))
    own, ours = (
        RecursiveCharacterTextSplitter.from_huggingface_tokenizer(
            tokenizer, chunk_size=512, chunk_overlap=0
        )
        for tokenizer in own_and_ours()
    )
    yield compare(
        "RecursiveCharacterTextSplitter, transformers", own.split_text, ours.split_text, documents()
    )
