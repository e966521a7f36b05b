"""datatrove: its counter of tokens over a pipeline's documents, by a `tokenizer.json`,
unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("datatrove[processing]==0.10.1",)
VERSIONS = ("datatrove", "tokenizers")


def rows() -> Iterator[Row]:
    from datatrove.pipeline.tokens import TokensCounter

    import tokpar

    def made() -> Any:
        step = TokensCounter(f"{directory()}/tokenizer.json", batch_size=100)
        assert step.tokenizer is not None  # it is loaded now, patched or not
        return step

    own = made()
    with tokpar.patch_tokenizers():
        ours = made()
    batches = [documents(2_000, 120)[k : k + 20] for k in range(0, 120, 20)]
    yield compare("TokensCounter", _counts(own), _counts(ours), batches)


def _counts(step: Any) -> Callable[[list[str]], list[int]]:
    from datatrove.data import Document

    def count(texts: list[str]) -> list[int]:
        rows = (Document(text, str(k)) for k, text in enumerate(texts))
        return [row.metadata["token_count"] for row in step.run(rows)]

    return count
