"""docling: its hybrid chunker over a document of paragraphs, with its tokenizer class for
transformers and for tiktoken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("docling-core[chunking,chunking-openai]==2.104.0", "transformers==5.24.0")
VERSIONS = ("docling-core", "transformers", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken
    from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
    from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
    from docling_core.transforms.chunker.tokenizer.openai import OpenAITokenizer

    import tokpar

    class Counter(BaseTokenizer):
        encoder: Any

        def count_tokens(self, text: str) -> int:
            return int(self.encoder.count(text))

        def get_max_tokens(self) -> int:
            return 512

        def get_tokenizer(self) -> Any:
            return self.encoder.count

    own, ours = own_and_ours()
    texts = documents()
    of_own = _chunks_of(HuggingFaceTokenizer(tokenizer=own, max_tokens=512))
    yield compare(
        "a transformers tokenizer",
        of_own,
        _chunks_of(HuggingFaceTokenizer(tokenizer=ours, max_tokens=512)),
        texts,
    )
    counter = Counter(encoder=tokpar.Encoder(tokpar.load(ours, add_special_tokens=False)))
    yield compare("Encoder.count for the tokenizer", of_own, _chunks_of(counter), texts)
    encoding = tiktoken.get_encoding("cl100k_base")
    pair = (
        OpenAITokenizer(tokenizer=each, max_tokens=512)
        for each in (encoding, tokpar.as_tiktoken(encoding))
    )
    yield compare("tiktoken", *map(_chunks_of, pair), documents())


def _chunks_of(tokenizer: Any) -> Callable[[str], list[str]]:
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.labels import DocItemLabel

    chunker = HybridChunker(tokenizer=tokenizer)

    def chunks(text: str) -> list[str]:
        document = DoclingDocument(name="page")
        for paragraph in text.split("\n\n"):
            document.add_text(label=DocItemLabel.PARAGRAPH, text=paragraph)
        return [chunk.text for chunk in chunker.chunk(document)]

    return chunks
