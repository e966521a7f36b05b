"""Encodes the parts of a text between certified cuts, and adds up their ids, offsets and seams.

At a certified cut p that absorbs a code points, the ids of a text are the ids of text[:p], then the
ids of text[p + a:] (theorem 27). Streams, sessions, chunks, offsets and the pipeline concatenate
the ids of a text here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from tokpar.arrays import IdArray, IntArray, SpanArray, concatenate_ids, offsets_of
from tokpar.errors import EngineError
from tokpar.types import CERTIFIED_CUTS, Rows, Seam


class EncodesParts(Protocol):
    """Encodes parts of texts, before special tokens, truncation and padding; see `PartEncoder`."""

    def __call__(self, texts: Sequence[str]) -> Rows:
        """Returns one row for each text."""

    def one(self, text: str) -> IdArray:
        """Returns the ids of one text; uint32, (n,)."""

    def places(self, text: str) -> tuple[IdArray, SpanArray, IntArray] | None:
        """Returns the ids of one text, the offsets of its tokens in code points, and the number of
        the pre-token of each, by the compiled call; None if only the engine knows."""

    @property
    def is_compiled(self) -> bool:
        """True if the compiled call encodes them."""


class Part(NamedTuple):
    """The part [start, stop) of a text, code points, between two certified cuts.

    The tokenizer gets the part without its first `absorbed_chars` code points: the prefix that it
    puts before every text stands for them (theorem 6.4)."""

    start: int
    stop: int
    absorbed_chars: int = 0

    def slice_of(self, text: str) -> str:
        """Returns what the tokenizer gets."""
        return text[self.start + self.absorbed_chars : self.stop]


def parts_between(
    cuts: Iterable[Seam], stop: int, start: int = 0, absorbed_chars: int = 0
) -> Iterator[Part]:
    """Yields the parts of text[start:stop] between `cuts`, ascending. Raises ValueError for a seam
    that no rule licenses.

    `absorbed_chars`: what the cut at `start` absorbs."""
    for cut in cuts:
        if cut.rule not in CERTIFIED_CUTS:
            raise ValueError(f"a part of a text ends at a certified cut, got {cut}")
        yield Part(start, cut.position, absorbed_chars)
        start, absorbed_chars = cut.position, cut.absorbed
    yield Part(start, stop, absorbed_chars)


def encode_parts(
    text: str, parts: Sequence[Part], encode: EncodesParts, origin: int = 0
) -> tuple[list[str], Rows]:
    """Returns what the tokenizer got of each part of `text`, and its ids: each part is encoded by
    itself, in one call of `encode`.

    `origin`: where `text` begins in the whole text. Raises EngineError with positions of the whole
    text."""
    texts = [part.slice_of(text) for part in parts]
    try:
        rows = encode(texts)
    except EngineError as error:
        raise _placed(error, parts[min(error.row, len(parts) - 1)], origin) from error
    if len(rows) != len(parts):
        raise EngineError(f"got {len(rows)} rows of ids for {len(parts)} parts of a text")
    return texts, rows


def encode_part(text: str, part: Part, encode: EncodesParts, origin: int = 0) -> IdArray:
    """Returns the ids of one part of `text`, encoded by itself; see `encode_parts`."""
    try:
        return encode.one(part.slice_of(text))
    except EngineError as error:
        raise _placed(error, part, origin) from error


def _placed(error: EngineError, part: Part, origin: int) -> EngineError:
    """Returns the error of a part with positions of the whole text."""
    first = origin + part.start + part.absorbed_chars
    stop = first + error.stop if error.stop else origin + part.stop
    return type(error)(str(error), first + error.start, stop)


def concatenate(pieces: Sequence[IdArray]) -> IdArray:
    """Returns the ids of neighbouring pieces of one text, in order. Without pieces, no ids."""
    return concatenate_ids(pieces)


def add_up(pieces: Iterable[IdArray]) -> tuple[IdArray, IntArray]:
    """Returns all ids in order, and how many lie before each piece and in all of them."""
    kept = list(pieces)
    return concatenate_ids(kept), offsets_of(map(len, kept))


def place_seams(seams: Iterable[Seam], ids_before: IntArray) -> Iterator[Seam]:
    """Yields the seams with the number of ids before each. `ids_before`: how many ids lie before
    each part, and in all parts; int64, (parts + 1,)."""
    for seam, token in zip(seams, ids_before[1:-1].tolist(), strict=True):
        yield replace(seam, token=token)


def shift_spans(spans: SpanArray, first: int, absorbed_chars: int) -> SpanArray:
    """Returns the offsets of a part's tokens in the whole text.

    `spans`: from the start of what the tokenizer got, which begins at `first`. `absorbed_chars`:
    see `Part`. All in one unit: an absorbed space is one code point and one byte.

    The engine places the prefix on the character after it: the same character as the next token, if
    the prefix is a token of its own. In the whole text, the prefix is the absorbed space."""
    found = spans + first
    if absorbed_chars and len(found):
        found[0, 0] = first - absorbed_chars
        if len(found) > 1 and found[1, 0] == first:
            found[0, 1] = first
    return found
