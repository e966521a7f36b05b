"""Compare the ids of each document with the ids that the tokenizer gives for its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tokpar import Encoder
from tokpar.arrays import IdArray, byte_length, first_difference
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import MismatchError
from tokpar_corpus.audit_against import digest_of
from tokpar_corpus.audit_edges import Bodies
from tokpar_corpus.control_documents import UntrustedEncoder
from tokpar_corpus.id_texts import IdTexts
from tokpar_corpus.respelling import Respelling
from tokpar_corpus.shards import IdBlock, RawIds

CONTEXT = 4
"""Ids of each side that a report shows."""


@dataclass(frozen=True, slots=True)
class DifferentDocument:
    """A document whose ids differ from the tokenizer's ids for its text.

    `document`: its number in the block. `place`: the number of the first wrong id in the document.
    `kind`: "ids" or "utf8"."""

    document: int
    place: int
    kind: str
    found: str
    expected: str


@dataclass
class ComparisonResult:
    """The result of comparing one block. Documents are numbers in the block.

    `found`: documents that differ. `not_compared`: documents that could not be compared. `unknown`:
    how many of them hold the unknown token, which hides text. `rewritten_count`: how many of them
    have a text that the tokenizer changes before it encodes the text. `text_bytes`: UTF-8 bytes
    that were encoded. `texts`: (document, digest of UTF-8 bytes) of each text for which the
    tokenizer gives exactly the ids of the whole document."""

    found: list[DifferentDocument] = field(default_factory=list)
    not_compared: set[int] = field(default_factory=set)
    unknown: int = 0
    rewritten_count: int = 0
    text_bytes: int = 0
    texts: list[tuple[int, bytes]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A part of a document between two tokens that the engine does not look for in a text:
    ids[start:stop] of the block."""

    document: int
    start: int
    stop: int


@dataclass
class TextAudit:
    """Encodes the texts that ids spell, and compares. Threads may share it.

    `with_digests`: fills `ComparisonResult.texts`."""

    tokenizer: TokenizerAdapter
    tokens: IdTexts
    spelling: Respelling
    encoder: Encoder | UntrustedEncoder
    with_digests: bool = False
    _is_cut: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self._is_cut = np.zeros(self.tokens.size, np.bool_)
        self._is_cut[list(self.tokens.cut_at)] = True

    def compare(
        self, block: IdBlock, bodies: Bodies, usable: NDArray[np.bool_]
    ) -> ComparisonResult:
        """Compares the documents of a block. `usable`: which documents hold tokens only."""
        result = ComparisonResult()
        texts, kept = self._texts(block, self._parts(block, bodies, usable), usable, result)
        rows = self.encoder.unprocessed_batch(texts, self.tokenizer).rows
        ids = [self._ids(block, part) for part in kept]
        flat = np.concatenate(ids) if ids else np.empty(0, np.uint32)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        if np.array_equal(lengths, np.diff(rows.offsets)) and np.array_equal(flat, rows.ids):
            equal = list(range(len(kept)))
        else:
            equal = [k for k in range(len(kept)) if np.array_equal(ids[k], rows[k])]
            for k in sorted(set(range(len(kept))).difference(equal)):
                self._differs(block, kept[k], ids[k], rows[k], texts[k], result)
        if self.with_digests:
            sizes = (bodies.stops - bodies.starts).tolist()
            for k in equal:
                if len(ids[k]) == sizes[kept[k].document]:
                    result.texts.append((kept[k].document, digest_of(texts[k].encode())))
        return result

    def _parts(self, block: IdBlock, bodies: Bodies, usable: NDArray[np.bool_]) -> list[_Part]:
        spans = zip(bodies.starts.tolist(), bodies.stops.tolist(), strict=True)
        whole = [_Part(k, a, b) for k, (a, b) in enumerate(spans) if usable[k] and a < b]
        if not self.tokens.cut_at:
            return whole
        ids = block.ids if usable.all() else np.clip(block.ids, 0, self.tokens.size - 1)
        cuts = np.flatnonzero(self._is_cut[ids])
        lows, highs = np.searchsorted(cuts, bodies.starts), np.searchsorted(cuts, bodies.stops)
        if (lows == highs).all():
            return whole
        cuts_inside = [
            cuts[a:b].tolist() for a, b in zip(lows.tolist(), highs.tolist(), strict=True)
        ]
        return [part for each in whole for part in _divide(each, cuts_inside[each.document])]

    def _texts(
        self,
        block: IdBlock,
        parts: list[_Part],
        usable: NDArray[np.bool_],
        result: ComparisonResult,
    ) -> tuple[list[str], list[_Part]]:
        """The text of each part that has one, and these parts."""
        texts: list[str] = []
        kept: list[_Part] = []
        spelled = self._spell(block, parts, usable)
        for k, part in enumerate(parts):
            try:
                text = str(spelled[k], "utf-8") if spelled else self._text(block, part)
            except UnicodeDecodeError as error:
                result.found.append(self._utf8_difference(block, part, error))
                continue
            result.text_bytes += len(spelled[k]) if spelled else byte_length(text or "")
            if text is None:
                result.not_compared.add(part.document)
            elif text or not spelled:
                texts.append(text)
                kept.append(part)
        result.unknown = len(result.not_compared)
        return texts, kept

    def _spell(
        self, block: IdBlock, parts: list[_Part], usable: NDArray[np.bool_]
    ) -> list[memoryview]:
        """The bytes of all parts at once, where each token has bytes of its own."""
        if self.spelling.kind != "bytes" or not parts:
            return []
        low, high = parts[0].start, max(part.stop for part in parts)
        ids = block.ids[low:high]
        if not usable.all():
            ids = np.clip(ids, 0, self.tokens.size - 1)
        data, edges = self.tokens.spell(ids)
        starts = edges[[part.start - low for part in parts]].tolist()
        stops = edges[[part.stop - low for part in parts]].tolist()
        return [data.data[a:b] for a, b in zip(starts, stops, strict=True)]

    def _text(self, block: IdBlock, part: _Part) -> str | None:
        return self.tokens.text_of(self.tokens.comparable(block.ids[part.start : part.stop]))

    def _ids(self, block: IdBlock, part: _Part) -> RawIds:
        return self.tokens.comparable(block.ids[part.start : part.stop])

    def _utf8_difference(
        self, block: IdBlock, part: _Part, error: UnicodeDecodeError
    ) -> DifferentDocument:
        ids = block.ids[part.start : part.stop]
        place = int(np.searchsorted(np.cumsum(self.tokens.lengths[ids]), error.start, side="right"))
        at_end = error.end >= len(error.object) and "unexpected end" in error.reason
        where = "the end of" if at_end else "inside"
        found = f"byte 0x{error.object[error.start]:02x} {where} the document ({error.reason})"
        start = part.start + place - int(block.offsets[part.document])
        return DifferentDocument(part.document, start, "utf8", found, "whole characters")

    def _differs(
        self,
        block: IdBlock,
        part: _Part,
        ids: RawIds,
        own_ids: IdArray,
        text: str,
        result: ComparisonResult,
    ) -> None:
        place = first_difference(ids, own_ids)
        if self._may_be_rewritten(text, own_ids, place):
            result.rewritten_count += part.document not in result.not_compared
            result.not_compared.add(part.document)
            return
        is_trusted = isinstance(self.encoder, Encoder)  # or the own call has a control token
        some = len(result.found) < CONTEXT
        if is_trusted and some and np.array_equal(self.tokenizer.encode(text), ids):
            raise MismatchError(
                "the tokenizer's own call gives other ids than tokpar's batch call for the text "
                f"{text[:200]!r}: please report it"
            )
        shown = [_show(self.tokens, some[place:]) for some in (ids, own_ids)]
        start = part.start - int(block.offsets[part.document])
        result.found.append(DifferentDocument(part.document, start + place, "ids", *shown))

    def _may_be_rewritten(self, text: str, own_ids: IdArray, place: int) -> bool:
        """True if the tokenizer may have changed the text that the ids spell before it encoded it,
        so that its ids say nothing of the ids of the document."""
        if not self.spelling.normalizes:
            return False
        if place < len(own_ids) and int(own_ids[place]) in self.tokens.added_tokens:
            return True  # a normalizer may have made the content of an added token
        if self.spelling.exact:
            return False
        known = own_ids[own_ids < self.tokens.size]
        try:
            return len(known) < len(own_ids) or self.tokens.text_of(own_ids) != text
        except UnicodeDecodeError:
            return True


def _divide(part: _Part, cuts_inside: list[int]) -> list[_Part]:
    """The parts between the tokens at the places `inside`."""
    edges = zip(
        [part.start, *(cut + 1 for cut in cuts_inside)], [*cuts_inside, part.stop], strict=True
    )
    return [_Part(part.document, a, b) for a, b in edges if a < b]


def _show(tokens: IdTexts, ids: Sequence[int] | RawIds) -> str:
    """The first ids, each with its token: "1734 'ab', 5 'c', ..."."""
    some = [tokens.show(int(id_)) for id_ in ids[:CONTEXT]]
    if not some:
        return "the end"
    return ", ".join([*some, "..."] if len(ids) > CONTEXT else some)
