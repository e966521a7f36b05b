"""datasets: `map` over a column of texts in batches, with a transformers tokenizer, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("datasets==5.2.0", "transformers==5.24.0")
VERSIONS = ("datasets", "transformers")


def rows() -> Iterator[Row]:
    own, ours = own_and_ours()
    settings = {"truncation": True, "max_length": 128, "padding": "max_length"}
    calls = {
        "map, batched": (_mapped(own), _mapped(ours)),
        "map, truncated and padded": (_mapped(own, **settings), _mapped(ours, **settings)),
        "streaming": (_streamed(own), _streamed(ours)),
    }
    for share, (call, sides) in enumerate(calls.items()):
        texts = documents(2_000, 160, share)
        # a map costs datasets tenths of a second, however many texts it has
        yield compare(call, *sides, [texts[:10], texts[10:]])


def _mapped(tokenizer: Any, **settings: Any) -> Callable[[Sequence[str]], list[Any]]:
    from datasets import Dataset, disable_caching, disable_progress_bars

    disable_caching()
    disable_progress_bars()

    def encode(rows: dict[str, list[str]]) -> Any:
        return tokenizer(rows["text"], **settings)

    def run(texts: Sequence[str]) -> list[Any]:
        return list(Dataset.from_dict({"text": [*texts]}).map(encode, batched=True)["input_ids"])

    return run


def _streamed(tokenizer: Any) -> Callable[[Sequence[str]], list[Any]]:
    from datasets import Dataset

    def run(texts: Sequence[str]) -> list[Any]:
        rows = Dataset.from_dict({"text": [*texts]}).to_iterable_dataset()
        return [
            row["input_ids"]
            for row in rows.map(lambda rows: tokenizer(rows["text"]), batched=True, batch_size=8)
        ]

    return run
