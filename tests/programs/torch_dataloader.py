"""torch: a `DataLoader` with a worker that is forked or spawned, over two epochs, whose data set
holds the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("torch==2.13.0", "transformers==5.24.0")
VERSIONS = ("torch", "transformers")
EPOCHS = 2


@dataclass(frozen=True)
class Encoded:
    """A data set in the manner of torch: the ids of each text, truncated."""

    texts: Sequence[str]
    tokenizer: Any

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: int) -> list[int]:
        ids = self.tokenizer(self.texts[number], truncation=True, max_length=4_096)["input_ids"]
        return list(ids)


def rows() -> Iterator[Row]:
    own, ours = own_and_ours()
    texts = documents(2_000, 480)
    batches = [texts[k : k + 80] for k in range(0, 240, 80)]
    yield _row(own, ours, "fork", batches, 3)
    # a spawned worker imports torch and transformers, which is in the seconds of both sides
    yield _row(own, ours, "spawn", [texts[:20], texts[20:]], 1)


def _row(own: Any, ours: Any, way: str, batches: Sequence[Sequence[str]], rounds: int) -> Row:
    sides = (_epochs(tokenizer, way) for tokenizer in (own, ours))
    return compare(f"DataLoader, {way}, {EPOCHS} epochs", *sides, batches, None, rounds)


def _epochs(tokenizer: Any, way: str) -> Callable[[Sequence[str]], list[list[list[int]]]]:
    from torch.utils.data import DataLoader

    def epochs(texts: Sequence[str]) -> list[list[list[int]]]:
        loader = DataLoader(
            Encoded(texts, tokenizer),
            batch_size=8,
            num_workers=1,
            multiprocessing_context=way,
            persistent_workers=True,
            collate_fn=list,
        )
        return [[row for batch in loader for row in batch] for _ in range(EPOCHS)]

    return epochs
