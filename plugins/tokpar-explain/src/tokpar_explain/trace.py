"""Trace one encode: the last chunks and pieces that its merger got, and the serial ids.

Where the joined ids differ from the serial ids, the difference is assigned to the nearest seams."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, SpanArray, byte_starts, first_difference
from tokpar.contract.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.encoder import Encoder, why_never_cut
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.loading import DEFAULT_TOKENIZER
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.call_result import encode_in_one_call
from tokpar.pipeline.joining import JoinedText
from tokpar.pipeline.plan import Plan
from tokpar.pipeline.sizes import TOO_SHORT, sizes_for
from tokpar.process.cached_property import cached_property
from tokpar.registry.combining import StrategyName, build_parts
from tokpar.results.encoding import Encoding
from tokpar.types import Chunk, Piece, Seam, Split

LocatedIds = tuple[IdArray, SpanArray | None]
_Token = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DifferingRange:
    """A difference: joined[first:last] stands where serial[other_first:other_last] should stand.

    `start`, `stop`: the UTF-8 bytes that the tokens of both cover, -1 if not located. `seams`: the
    seams inside the difference, else the nearest one."""

    first: int
    last: int
    other_first: int
    other_last: int
    start: int
    stop: int
    seams: tuple[int, ...]


def differences(
    joined_tokens: LocatedIds,
    serial_tokens: LocatedIds,
    seams: Sequence[tuple[int, int]],
    exact: bool,
) -> tuple[DifferingRange, ...]:
    """All differences between the joined and the serial ids, ascending.

    `seams`: for each seam, the number of ids before it and its byte offset. Two tokens are the same
    if their ids and places are equal. Without `exact`, their places must only touch, because
    engines place the tokens of a chunk's first word in more than one way. Without places, there is
    one difference: all ids between the common prefix and the common suffix."""
    (ids, spans), (serial_ids, serial_spans) = joined_tokens, serial_tokens
    if spans is None or serial_spans is None:
        return (_middle(ids, serial_ids, [token for token, _ in seams]),)
    places = [offset for _, offset in seams]
    left, right = _tokens(ids, spans), _tokens(serial_ids, serial_spans)
    found = []
    for first, last, other_first, other_last in _unequal(left, right, exact):
        covered = [*left[first:last], *right[other_first:other_last]]
        start, stop = min(token[0] for token in covered), max(token[1] for token in covered)
        laid_to = _nearest(places, start, stop)
        found.append(DifferingRange(first, last, other_first, other_last, start, stop, laid_to))
    return tuple(found)


def _tokens(ids: IdArray, spans: SpanArray) -> list[_Token]:
    return list(zip(*spans.T.tolist(), ids.tolist(), strict=True))


def _unequal(
    left: Sequence[_Token], right: Sequence[_Token], exact: bool
) -> Iterator[tuple[int, int, int, int]]:
    """The ranges [i, j) and [k, l) of tokens that do not match.

    Of two tokens that differ, the one that lies first is skipped. So text that is doubled or
    missing makes a difference of its own."""
    i = k = first = other = 0
    while i < len(left) and k < len(right):
        if _same(left[i], right[k], exact):
            if (first, other) != (i, k):
                yield first, i, other, k
            i, k = i + 1, k + 1
            first, other = i, k
        elif left[i][:2] <= right[k][:2]:
            i += 1
        else:
            k += 1
    if first < len(left) or other < len(right):
        yield first, len(left), other, len(right)


def _same(one: _Token, other: _Token, exact: bool) -> bool:
    if exact:
        return one == other
    return one[2] == other[2] and one[0] <= other[1] and other[0] <= one[1]


def _middle(joined_ids: IdArray, serial_ids: IdArray, seams: Sequence[int]) -> DifferingRange:
    """The difference between the common prefix and the common suffix of the ids."""
    front = first_difference(joined_ids, serial_ids)
    back = first_difference(joined_ids[front:][::-1], serial_ids[front:][::-1])
    last, other_last = len(joined_ids) - back, len(serial_ids) - back
    return DifferingRange(front, last, front, other_last, -1, -1, _nearest(seams, front, last))


def _nearest(places: Sequence[int], start: int, stop: int) -> tuple[int, ...]:
    """The numbers of the places in [start, stop], else of the nearest place. `places` ascend."""
    first, last = bisect_left(places, start), bisect_right(places, stop)
    if first < last:
        return tuple(range(first, last))
    beside = [n for n in (first - 1, first) if 0 <= n < len(places)]
    return tuple(sorted(beside, key=lambda n: max(start - places[n], places[n] - stop))[:1])


Mask = NDArray[np.bool_]
IdRange = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Trace:
    """An encode of `text` and the serial ids, both before special tokens, truncation and padding.

    `pieces[k]` is the result of `chunks[k]` alone. `kept[k]` = (first, last): the result has these
    ids of the piece. Seam n lies between chunks n and n + 1. `options`: as the caller gave them."""

    text: str
    tokenizer: TokenizerAdapter
    strategy: str
    options: Mapping[str, Any]
    encoding: Encoding
    serial: IdArray
    chunks: tuple[Chunk, ...]
    pieces: tuple[Piece, ...]
    kept: tuple[IdRange, ...]

    @property
    def seams(self) -> Sequence[Seam]:
        return self.encoding.seams

    @cached_property
    def equal(self) -> bool:
        """True if the joined ids equal the serial ids."""
        return bool(np.array_equal(self.encoding.ids, self.serial))

    @property
    def ok(self) -> bool:
        """True if every seam is licensed and the ids equal the serial ids."""
        return self.equal and self.encoding.lossless

    @cached_property
    def starts(self) -> IntArray:
        """The UTF-8 byte offset of each code point, and of the end."""
        return byte_starts(self.text)

    @cached_property
    def lines(self) -> IntArray:
        """The code points at which lines begin. A line ends with "\\n"."""
        return np.array([0, *(end.end() for end in re.finditer("\n", self.text))], dtype=np.int64)

    @cached_property
    def tiles(self) -> bool:
        """True if the tokens are the bytes of the text, in order."""
        return facts_of(self.tokenizer).tiles

    def piece_spans(self, k: int) -> SpanArray | None:
        """Where the tokens of piece `k` lie, in UTF-8 bytes of the text; None if unknown."""
        spans = self.pieces[k].spans
        return None if spans is None else spans + self.starts[self.chunks[k].start]

    @cached_property
    def serial_spans(self) -> SpanArray | None:
        """Where the serial tokens lie, in UTF-8 bytes of the text; None if unknown. Each column is
        contiguous in memory, for fast searches."""
        spans = _locate_piece(Piece(self.serial), self.text, self.tokenizer).spans
        return None if spans is None else np.asfortranarray(spans)

    @cached_property
    def joined_spans(self) -> SpanArray | None:
        """Where the joined tokens lay when their chunks were encoded, in UTF-8 bytes of the text;
        None if unknown."""
        known = [
            spans[first:last]
            for k, (first, last) in enumerate(self.kept)
            if (spans := self.piece_spans(k)) is not None
        ]
        return np.concatenate(known) if len(known) == len(self.kept) else None

    @cached_property
    def differences(self) -> tuple[DifferingRange, ...]:
        """Where joined and serial ids differ, in order, each with its seams."""
        if self.equal:
            return ()
        return differences(
            (self.encoding.ids, self.joined_spans),
            (self.serial, self.serial_spans),
            [(seam.token, int(self.starts[seam.position])) for seam in self.seams],
            exact=self.tiles,
        )

    @cached_property
    def differing(self) -> Mapping[int, Sequence[DifferingRange]]:
        """The differences of each seam that has any."""
        found: dict[int, list[DifferingRange]] = {}
        for each in self.differences:
            for n in each.seams:
                found.setdefault(n, []).append(each)
        return found

    @cached_property
    def unequal(self) -> tuple[Mask, Mask]:
        """Masks of the joined ids and of the serial ids that are in a difference."""
        joined, serial = np.zeros(len(self.encoding.ids), bool), np.zeros(len(self.serial), bool)
        for each in self.differences:
            joined[each.first : each.last] = True
            serial[each.other_first : each.other_last] = True
        return joined, serial

    def ordered(self) -> list[int]:
        """The numbers of all seams: first those with differences, then others without a rule, then
        the rest."""
        return sorted(range(len(self.seams)), key=lambda n: (self.rank(n), n))

    def rank(self, n: int) -> int:
        """0: seam `n` has a difference. 1: no rule licenses it. 2: it is certified."""
        return 0 if n in self.differing else 1 if self.seams[n].rule is None else 2

    def place(self, position: int) -> tuple[int, int]:
        """The line and the column of a code point, counted from 1."""
        line = int(np.searchsorted(self.lines, position, side="right"))
        return line, position - int(self.lines[line - 1]) + 1

    def touched_chars(self, start: int, stop: int) -> tuple[int, int]:
        """The code points to which the bytes [start, stop) of the text belong."""
        first = int(self.starts.searchsorted(start, side="right")) - 1
        return first, max(first, int(self.starts.searchsorted(stop)))


def trace(
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: StrategyName = "auto",
    allow_approximate: bool = False,
    **options: Any,
) -> Trace:
    """Encode `text` as `tokpar.encode` does, in one thread, and encode it serially. Raises the same
    errors."""
    with Encoder(
        tokenizer, strategy=strategy, allow_approximate=allow_approximate, **options
    ) as encoder:  # the encoder checks names, options and consent
        adapter = encoder.tokenizer
    parts = build_parts(strategy, options, allow_approximate)
    uncut = why_never_cut(adapter) or TOO_SHORT
    plan = Plan(adapter, parts.splitter, SerialExecutor(), parts.merger, parts.name, uncut=uncut)
    long = [0] if not parts.tunable or len(text) >= sizes_for(adapter).smallest_split else []
    found: list[JoinedText] = []
    encoding = pipeline.encode_batch(
        [text], plan, long=long, postprocess=False, watch=found.append
    )[0]
    serial = encoding.ids
    chunks: Sequence[Chunk] = Split.whole(text, encoding.report.why).chunks
    pieces: Sequence[Piece] = (Piece(serial),)
    kept = [(0, len(serial))]
    if found:
        joined = found[0]
        chunks, pieces = joined.chunks, joined.pieces
        kept = list(zip(joined.first.tolist(), joined.last.tolist(), strict=True))
        serial = encode_in_one_call(text, adapter, encoding.report, postprocess=False).ids
    elif encoding.report.why == TOO_SHORT:
        why = f"{TOO_SHORT}; give a chunk size to see seams"
        report = replace(encoding.report, why=why)
        encoding = Encoding.of(encoding.ids, encoding.seams, report, encoding.origin)
    located = tuple(
        _locate_piece(piece, text[chunk.start : chunk.stop], adapter)
        for chunk, piece in zip(chunks, pieces, strict=True)
    )
    made = encoding, serial, tuple(chunks), located, tuple(kept)
    return Trace(text, adapter, parts.name, options, *made)


def _locate_piece(piece: Piece, part: str, tokenizer: TokenizerAdapter) -> Piece:
    if piece.spans is not None or not isinstance(tokenizer, Locates):
        return piece
    try:
        return replace(piece, spans=tokenizer.locate(piece.ids, part))
    except LookupError:
        return piece
