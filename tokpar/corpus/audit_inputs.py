"""The texts that shards were made of, read as `tokpar corpus build` reads them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BATCH_CHARS = 1 << 22


@dataclass
class FileTexts:
    """The texts of files of rows."""

    names: Sequence[str | os.PathLike[str]]
    text_field: str = "text"
    _places: list[tuple[str, int]] = field(default_factory=list)

    def batches(self) -> Iterator[list[str]]:
        """The texts in order, some at a time."""
        self._places = []
        batch: list[str] = []
        size = 0
        for name in self.names:
            with open(name, encoding="utf-8") as file:
                for number, line in enumerate(file, start=1):
                    if not line.strip():
                        continue
                    batch.append(json.loads(line)[self.text_field])
                    self._places.append((os.fspath(name), number))
                    size += len(batch[-1])
                    if size >= BATCH_CHARS:
                        yield batch
                        batch, size = [], 0
        if batch:
            yield batch

    def place(self, row: int) -> str:
        """The file and the line of a text."""
        name, number = self._places[row]
        return f"{name}:{number}"
