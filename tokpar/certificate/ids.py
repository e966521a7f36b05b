"""Checks of ids that need no serial encode, and the one that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokpar.certificate.report import Finding
from tokpar.errors import EngineError
from tokpar.interfaces import Decodes, EncodesWhole, Finishes, Locates, TokenizerAdapter
from tokpar.kernels import IdArray, byte_starts
from tokpar.types import Rows, Seam

MOST_PARTS = 8192
"""Parts of a text that are decoded one by one, if `places` looks at every seam."""
PROBE = 2**31
"""Ids from here on stand for "the text's own, number k" when a tokenizer's finishing is probed."""
_HIDDEN = "padding, truncation or an unknown post-processor hides the text's own ids"
_UNDECODABLE = (LookupError, ValueError, OverflowError, TypeError, EngineError)


@dataclass(frozen=True, slots=True)
class Core:
    """The text's own ids among the finished ones, or `note` on why they cannot be told."""

    ids: IdArray | None
    findings: tuple[Finding, ...] = ()
    note: str | None = None


def text_ids(ids: IdArray, text: str, tokenizer: TokenizerAdapter) -> Core:
    """Take away what `finish` inserts, and compare that with what it should insert."""
    if not isinstance(tokenizer, Finishes):
        return Core(ids)

    def finished(some: int) -> IdArray:
        return tokenizer.finish(Rows.of([_probe(some)]), [text])[0]

    try:
        inserted = len(finished(0))
        grows = len(finished(1)) == inserted + 1
        count = len(ids) - inserted
        final = finished(max(0, count))
        # One more id must show: at exactly the length that truncation keeps, more may be cut.
        more = len(finished(max(0, count) + 1))
    except LookupError:
        return Core(None, note=_HIDDEN)
    if grows and count < 0:
        message = f"expected at least the {inserted} ids that are inserted, got {len(ids)}"
        return Core(None, (Finding("inserted", message),))
    own = final >= PROBE
    shown = grows and (len(final), more) == (len(ids), len(ids) + 1)
    if not shown or not np.array_equal(final[own], _probe(count)):
        return Core(None, note=_HIDDEN)
    wrong = np.flatnonzero(~own & (final != ids))
    findings = tuple(
        Finding("inserted", f"id {k}: expected {final[k]} to be inserted, got {ids[k]}")
        for k in wrong[:1].tolist()
    )
    return Core(ids[own], findings)


def _probe(count: int) -> IdArray:
    return (PROBE + np.arange(count, dtype=np.int64)).astype(np.uint32)


def token_counts(seams: Sequence[Seam], count: int | None) -> Iterator[Finding]:
    """Counts of ids before each seam: joined, never falling, never above the ids there are."""
    last = 0
    for k, seam in enumerate(seams):
        if not last <= seam.token <= (seam.token if count is None else count):
            limit = "" if count is None else f" and {count}"
            message = f"expected between {last}{limit} ids before it, got {seam.token}"
            yield Finding("token", message, seam.position, k)
        last = max(last, seam.token)


def parts_decode(
    ids: IdArray, text: str, seams: Sequence[Seam], tokenizer: TokenizerAdapter
) -> Iterator[Finding]:
    """For tokens that tile the text: the ids between two seams are exactly the text between them.

    Where a decoder is not exact, tokenizing that part again must give its ids.
    """
    if not isinstance(tokenizer, Decodes):
        return
    numbers = _some(seams) if isinstance(tokenizer, Locates) else range(len(seams))
    apart = [seams[k] for k in numbers]
    for k, (start, stop, first, last) in enumerate(_parts(ids, text, apart)):
        part, own = text[start:stop], ids[first:last]
        if _decoded(own, tokenizer) != part and not _encodes(part, own, tokenizer):
            message = (
                f"expected ids {first} to {last} to be the text from {start} to {stop}, "
                "got ids of another text"
            )
            near = _seam_at(k, apart)
            yield Finding("ids", message, start, None if near is None else numbers[near])


def parts_encode(
    ids: IdArray, text: str, seams: Sequence[Seam], tokenizer: TokenizerAdapter
) -> Iterator[Finding]:
    """For other tokens: the text between two seams, tokenized again, gives the ids between them.
    The two sides of a K8 seam, which may divide a word, are taken together."""
    numbers = [k for k, seam in enumerate(seams) if seam.rule != "K8"]
    apart = [seams[k] for k in numbers]
    for k, (start, stop, first, last) in enumerate(_parts(ids, text, apart)):
        absorbed = k > 0 and apart[k - 1].theorem == "6.4"
        if not _encodes(text[start + absorbed : stop], ids[first:last], tokenizer):
            message = f"expected ids {first} to {last} from the text from {start} to {stop}"
            seam = numbers[k] if k < len(numbers) else len(seams) - 1
            yield Finding("ids", f"{message}, got others", start, seam)


def places(
    ids: IdArray, text: str, seams: Sequence[Seam], tokenizer: TokenizerAdapter
) -> Iterator[Finding]:
    """For tokens that tile the text: each seam's byte is where its token begins."""
    if not isinstance(tokenizer, Locates):
        return
    starts = byte_starts(text)
    try:
        spans = tokenizer.locate(ids, text)
    except _UNDECODABLE as error:
        yield Finding("ids", f"expected ids that tile the text, got {error}")
        return
    edges = np.append(spans[:, 0], starts[-1])
    if not np.array_equal(spans[:, 1], edges[1:]) or edges[0] != 0:
        yield Finding("ids", f"expected tokens that tile {starts[-1]} bytes, got gaps or overlaps")
        return
    at = np.array([(seam.token, seam.position) for seam in seams], dtype=np.int64).reshape(-1, 2)
    for k in np.flatnonzero(edges[at[:, 0]] != starts[at[:, 1]]).tolist():
        seam = seams[k]
        if True:
            message = (
                f"expected id {seam.token} to begin at byte {starts[seam.position]}, "
                f"got byte {edges[seam.token]}"
            )
            yield Finding("token", message, seam.position, k)


def serial_difference(
    ids: IdArray, text: str, seams: Sequence[Seam], tokenizer: TokenizerAdapter
) -> Finding | None:
    """The first difference to the tokenizer's own serial encode, and the seam nearest to it."""
    serial = _serial(text, tokenizer)
    common = min(len(ids), len(serial))
    unequal = np.flatnonzero(ids[:common] != serial[:common])
    if not len(unequal) and len(ids) == len(serial):
        return None
    first = int(unequal[0]) if len(unequal) else common
    expected, got = _id_at(serial, first), _id_at(ids, first)
    near = min(range(len(seams)), key=lambda k: abs(seams[k].token - first), default=None)
    where = "there is no seam" if near is None else f"nearest is seam {near}"
    message = f"id {first}: expected {expected} of the serial encode, got {got}; {where}"
    return Finding("serial", message, None if near is None else seams[near].position, near)


def _serial(text: str, tokenizer: TokenizerAdapter) -> IdArray:
    if isinstance(tokenizer, EncodesWhole):
        return tokenizer.encode_whole(text)
    ids = tokenizer.encode(text)
    return tokenizer.finish(Rows.of([ids]), [text])[0] if isinstance(tokenizer, Finishes) else ids


def _id_at(ids: IdArray, place: int) -> str:
    return f"id {ids[place]}" if place < len(ids) else f"the end after {len(ids)} ids"


def _parts(ids: IdArray, text: str, seams: Sequence[Seam]) -> Iterator[tuple[int, int, int, int]]:
    """(start, stop) in code points and (first, last) in ids of each part between seams."""
    edges = [(0, 0), *((seam.position, seam.token) for seam in seams), (len(text), len(ids))]
    for (start, first), (stop, last) in pairwise(edges):
        yield start, stop, first, last


def _some(seams: Sequence[Seam]) -> Sequence[int]:
    """Numbers of the seams between which ids are decoded: all, or of very many some. The others lie
    in longer parts that are decoded whole, and `places` has seen that a token begins at each."""
    return range(0, len(seams), max(1, len(seams) // MOST_PARTS))


def _seam_at(part: int, seams: Sequence[Seam]) -> int | None:
    """The seam a part is reported under: the one at its right, else at its left."""
    return min(part, len(seams) - 1) if seams else None


def _decoded(ids: IdArray, tokenizer: Decodes) -> str | None:
    try:
        return tokenizer.decode(ids.tolist())
    except _UNDECODABLE:
        return None


def _encodes(part: str, ids: IdArray, tokenizer: TokenizerAdapter) -> bool:
    return np.array_equal(tokenizer.encode(part), ids)
