"""Compare the documents of shards with the texts of the input.

The comparison uses digests of ids without BOS and EOS, about 600 bytes of memory for each document.
An input text that equals the text of a checked document has the ids of this document; all other
texts are encoded. Documents and texts without a partner are read a second time, and the report says
how they differ."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tokpar import Encoder
from tokpar.arrays import IdArray, IntArray, first_difference
from tokpar_corpus.audit_report import FaultLog
from tokpar_corpus.control_documents import UntrustedEncoder
from tokpar_corpus.shards import RawIds

HEAD = 8
"""Ids of the beginning by which a document that was cut or changed finds its text."""
MOST_PAIRS = 10_000
"""Documents without an equal that are compared with texts without an equal, id by id."""


class InputTexts(Protocol):
    """The texts of the input, in order; they can be read again."""

    def batches(self) -> Iterator[list[str]]: ...

    def place(self, row: int) -> str:
        """Where text `row`, from 0, is in the input: "a.jsonl:17"."""


def digest_of(data: bytes | memoryview) -> bytes:
    """A digest of bytes, 16 bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


@dataclass
class Digests:
    """The digests of documents in order, and `with_heads` the bytes of their first `HEAD` ids.

    `document_of`: by the digest of a text's UTF-8 bytes, a document with the ids that the tokenizer
    gives for this text. `empty`: documents without ids."""

    with_heads: bool = True
    whole: list[bytes] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    empty: set[int] = field(default_factory=set)
    document_of: dict[bytes, int] = field(default_factory=dict)

    def add_block(self, ids: RawIds | IdArray, starts: IntArray, stops: IntArray) -> None:
        """More documents: number k has ids[starts[k] : stops[k]]. The digests are the same for each
        dtype of `ids`."""
        data = np.ascontiguousarray(ids, "<u4").data.cast("B")
        for start, stop in zip((4 * starts).tolist(), (4 * stops).tolist(), strict=True):
            if start == stop:
                self.empty.add(len(self.whole))
            self.whole.append(digest_of(data[start:stop]))
            if self.with_heads:
                end = start + 4 * HEAD
                self.heads.append(bytes(data[start : min(end, stop)]))

    def add_copy(self, other: Digests, document: int) -> None:
        """One more document, with the ids of a document of `other`."""
        if document in other.empty:
            self.empty.add(len(self.whole))
        self.whole.append(other.whole[document])
        self.heads.append(other.heads[document])


@dataclass(frozen=True, slots=True)
class ShardDocuments:
    """The documents of all shards. `digests`: of all. `where`: the shard of a document, and its
    number there. `read`: yields the number and the ids of the documents asked for, in order."""

    digests: Digests
    where: Callable[[int], tuple[str, int]]
    read: Callable[[Collection[int]], Iterable[tuple[int, RawIds]]]


@dataclass
class Matching:
    """Which text each document has.

    `row_of`: for each document, the row of its text, or None. `row_of_double`: the row for each
    document whose text already belongs to another document. `missing`: rows without a document."""

    row_of: list[int | None]
    row_of_double: dict[int, int]
    missing: list[int]


def match_documents(shard: Digests, texts: Digests) -> Matching:
    """Pairs equal documents and texts, the first with the first."""
    first: dict[bytes, int] = {}  # the first text with this digest that has no document yet
    following = [-1] * len(texts.whole)  # the next text with the same digest
    for row in reversed(range(len(texts.whole))):
        following[row] = first.get(texts.whole[row], -1)
        first[texts.whole[row]] = row
    last: dict[bytes, int] = {}
    row_of: list[int | None] = []
    row_of_double: dict[int, int] = {}
    for document, digest in enumerate(shard.whole):
        row = first.get(digest, -1)
        row_of.append(row if row >= 0 else None)
        if row >= 0:
            first[digest] = following[row]
            last[digest] = row
        elif digest in last:
            row_of_double[document] = last[digest]
    taken = {row for row in row_of if row is not None}
    return Matching(row_of, row_of_double, [k for k in range(len(texts.whole)) if k not in taken])


def out_of_order(rows: Sequence[int]) -> set[int]:
    """The places of a sequence that are not in its longest ascending part: [0, 2, 1, 3] -> {1}."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for k, row in enumerate(rows):
        place = bisect_left(ends, row)
        before.append(at[place - 1] if place else -1)
        ends[place : place + 1] = [row]
        at[place : place + 1] = [k]
    kept = set()
    k = at[-1] if at else -1
    while k >= 0:
        kept.add(k)
        k = before[k]
    return set(range(len(rows))) - kept


def compare(
    documents: ShardDocuments,
    texts: InputTexts,
    encoder: Encoder | UntrustedEncoder,
    log: FaultLog,
    is_ordered: bool,
) -> list[str]:
    """Reports how the documents differ from the texts; returns notes.

    `is_ordered`: documents must be in the order of the texts."""
    known = Digests()
    for batch in texts.batches():
        _add_texts(known, batch, documents.digests, encoder)
    found = match_documents(documents.digests, known)
    pairs = _pairs(documents.digests, known, found)
    _report_pairs(documents, texts, encoder, log, pairs)
    taken = set(pairs.values())
    missing = [row for row in found.missing if row not in taken and row not in known.empty]
    for row in missing:
        where = texts.place(row) if log.room("missing") else ""
        log.add("missing", "the input", None, "no document", f"input row {row}, {where}")
    for document, row in found.row_of_double.items():
        first = f"input row {row} a second time"
        _report(documents, log, "doubled", document, first, "each text once")
    for document, matched_row in enumerate(found.row_of):
        unknown = matched_row is None and document not in found.row_of_double
        if unknown and document not in pairs and document not in documents.digests.empty:
            _report(documents, log, "extra", document, "no text of the input", "a text")
    if is_ordered:
        _report_order(documents, found, log)
    left_out = [row for row in found.missing if row in known.empty]
    if left_out:
        return [f"{len(left_out):,} texts of the input without ids have no document"]
    return []


def _report(
    documents: ShardDocuments,
    log: FaultLog,
    check: str,
    document: int,
    found: str,
    expected: str,
    place: int | None = None,
) -> None:
    shard, number = documents.where(document)
    log.add(check, shard, number, found, expected, place)


def _add_texts(
    text_digests: Digests, batch: list[str], shard: Digests, encoder: Encoder | UntrustedEncoder
) -> None:
    """Adds the texts of a batch. Encodes only the texts that no checked document spells."""
    documents = [shard.document_of.get(digest_of(text.encode())) for text in batch]
    others = [text for text, found in zip(batch, documents, strict=True) if found is None]
    rows = encoder.unprocessed_batch(others, encoder.tokenizer).rows
    encoded = Digests()
    encoded.add_block(rows.ids, rows.offsets[:-1], rows.offsets[1:])
    row = 0
    for document in documents:
        if document is not None:
            text_digests.add_copy(shard, document)
        else:
            text_digests.add_copy(encoded, row)
            row += 1


def _encode_all(texts: InputTexts, encoder: Encoder | UntrustedEncoder) -> Iterator[IdArray]:
    for batch in texts.batches():
        rows = encoder.unprocessed_batch(batch, encoder.tokenizer).rows
        yield from (rows[k] for k in range(len(rows)))


def _pairs(shard: Digests, texts: Digests, found: Matching) -> dict[int, int]:
    """Documents that may be a missing text, cut or changed: one that begins like the text, or that
    stands where the text should."""
    missing = set(found.missing)
    heads: dict[bytes, deque[int]] = {}
    for row in found.missing:
        heads.setdefault(texts.heads[row], deque()).append(row)
    pairs: dict[int, int] = {}
    before = -1
    for document, own in enumerate(found.row_of):
        if own is not None:
            before = own
            continue
        if document in found.row_of_double or len(pairs) >= MOST_PAIRS:
            continue
        alike = heads.get(shard.heads[document])
        while alike and alike[0] not in missing:
            alike.popleft()
        candidate = alike[0] if alike else before + 1
        if candidate in missing:
            missing.remove(candidate)
            pairs[document] = before = candidate
    return pairs


def _report_pairs(
    documents: ShardDocuments,
    texts: InputTexts,
    encoder: Encoder | UntrustedEncoder,
    log: FaultLog,
    pairs: dict[int, int],
) -> None:
    """Says of each pair whether the document is cut or changed."""
    rows = dict.fromkeys(pairs.values())
    wanted = {
        row: ids.copy()
        for row, ids in enumerate(_encode_all(texts, encoder) if pairs else ())
        if row in rows
    }
    for document, ids in documents.read(pairs):
        row = pairs[document]
        expected = wanted[row]
        place = first_difference(ids, expected)
        name = f"input row {row}"
        if log.room("changed") or log.room("truncated"):
            name += f", {texts.place(row)}"
        if place < min(len(ids), len(expected)):
            said = f"id {ids[place]} where {name} has {expected[place]}"
            _report(documents, log, "changed", document, said, "the ids of the text", place)
        elif len(ids) < len(expected):
            said = f"{len(ids):,} of the {len(expected):,} ids of {name}"
            _report(documents, log, "truncated", document, said, "all of them", len(ids))
        else:
            said = f"{len(ids):,} ids, the first {len(expected):,} are {name}"
            _report(documents, log, "changed", document, said, "no more", len(expected))


def _report_order(documents: ShardDocuments, found: Matching, log: FaultLog) -> None:
    pairs = [(k, row) for k, row in enumerate(found.row_of) if row is not None]
    strange = out_of_order([row for _, row in pairs])
    for k in sorted(strange):
        document, row = pairs[k]
        before = f"after input row {pairs[k - 1][1]}" if k else "at the beginning"
        _report(documents, log, "order", document, f"input row {row} {before}", "their order")
