"""What readers hand on: some documents in a row, and the faults that were found among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.arrays import IntArray
from tokpar.errors import FileFormatError

BROKEN = "broken line"
MISSING = "missing field"
NO_STRING = "field of another type"
NO_UTF8 = "invalid UTF-8"
REFUSED = "refused by the tokenizer"
TOO_LONG = "too many tokens"


@dataclass(frozen=True, slots=True)
class Fault:
    """A document that cannot be used. `documents_before`: how many
    good documents of the block precede it.
    `message`: names the file, and the line or row."""

    documents_before: int
    kind: str
    message: str

    def error(self) -> FileFormatError:
        return FileFormatError(f"{self.message} (--errors skip leaves such documents out)")


@dataclass(frozen=True, slots=True)
class Block:
    """Documents in the order of the input.

    `texts`: n of them. `sizes`: UTF-8 bytes of each, (n,). `begins`: where each begins, (n,), and
    `end`: where the next block does, in the units of `Position.offset`. `names`: the document ids,
    n of them, or None. `stored_bytes`: of the input, read for this block."""

    input: int
    texts: list[str]
    sizes: IntArray
    begins: IntArray
    end: int
    names: list[str] | None
    faults: Sequence[Fault]
    stored_bytes: int

    @property
    def text_bytes(self) -> int:
        return int(self.sizes.sum())
