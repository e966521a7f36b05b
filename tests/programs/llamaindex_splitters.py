"""LlamaIndex: its sentence and token splitters with the tokenizer that it gets from tiktoken,
unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("llama-index-core==0.14.25",)
VERSIONS = ("llama-index-core", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken
    from llama_index.core.node_parser import SentenceSplitter, TokenTextSplitter

    import tokpar

    for share, splitter in enumerate((SentenceSplitter, TokenTextSplitter)):
        own = splitter(
            chunk_size=512, chunk_overlap=64, tokenizer=tiktoken.encoding_for_model("gpt-4").encode
        )
        with tokpar.patch_tiktoken():
            encode = tiktoken.encoding_for_model("gpt-4").encode
            ours = splitter(chunk_size=512, chunk_overlap=64, tokenizer=encode)
        yield compare(splitter.__name__, own.split_text, ours.split_text, documents(share=share))
