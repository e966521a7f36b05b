"""The output of readers: blocks of consecutive documents, with the faults found among them."""

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
CONTROL = "control token"


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A document that cannot be used.

    `documents_before`: the number of good documents before it in the block. `kind`: one of the
    constants of this module. `message`: names the file, and the line or row."""

    documents_before: int
    kind: str
    message: str

    def error(self) -> FileFormatError:
        is_of_field = self.kind in (MISSING, NO_STRING)
        advice = "--field NAME takes another field, " if is_of_field else ""
        if self.kind == CONTROL:
            advice = "--untrusted text encodes it as text, "
        return FileFormatError(f"{self.message} ({advice}--errors skip leaves such documents out)")


@dataclass(frozen=True, slots=True)
class Block:
    """n consecutive documents, in the order of the input.

    `input`: the number of the input. `texts`: n texts. `sizes`: their UTF-8 bytes, shape (n,).
    `begins`: where each document begins, shape (n,), in the units of `Position.offset`. `end`:
    where the next block begins, in the same units. `names`: n document ids, or None. `faults`: the
    documents that cannot be used. `stored_bytes`: bytes of the input that were read for this
    block."""

    input: int
    texts: list[str]
    sizes: IntArray
    begins: IntArray
    end: int
    names: list[str] | None
    faults: Sequence[BadDocument]
    stored_bytes: int

    @property
    def text_bytes(self) -> int:
        return int(self.sizes.sum())
