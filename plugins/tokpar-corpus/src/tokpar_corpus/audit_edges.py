"""How documents begin and end: BOS, EOS and what else the tokenizer inserts around a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError
from tokpar_corpus.id_texts import IdTexts
from tokpar_corpus.shards import IdBlock, ShardSource

AUTO, NONE = "auto", "none"
_BEGINS = re.compile(r"<s>|\[CLS\]|.*(bos|begin|start.?of.?text|endoftext).*", re.IGNORECASE)
"""Names of tokens that begin a document, if only some shards have them."""


@dataclass(frozen=True, slots=True)
class DocumentEdges:
    """The ids that each document must begin with (`prefix`) and end with (`suffix`).

    `bare_front`, `bare_back`: the caller said that documents do not begin, or end, with a special
    token. `inferred_suffix`: the tokenizer's settings do not name the last id of `suffix`; most
    documents end with it. `notes`, `not_checked`: lines for the report."""

    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    bare_front: bool = False
    bare_back: bool = False
    inferred_suffix: bool = False
    notes: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


@dataclass
class EdgeCounts:
    """How many documents of a shard begin or end with each special token."""

    documents: int = 0
    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, block: IdBlock, special: NDArray[np.int64]) -> None:
        """The documents of one more block, without empty ones."""
        starts, stops = block.offsets[:-1], block.offsets[1:]
        some = stops > starts
        self.documents += int(some.sum())
        for counts, places in ((self.first, starts[some]), (self.last, stops[some] - 1)):
            ids = block.ids[places]
            ids = ids[np.isin(ids, special)]
            for id_, count in zip(*np.unique(ids, return_counts=True), strict=True):
                counts[int(id_)] = counts.get(int(id_), 0) + int(count)


def expected_edges(
    tokenizer: TokenizerAdapter,
    tokens: IdTexts,
    shards: Iterable[ShardSource],
    bos: str | int = AUTO,
    eos: str | int = AUTO,
) -> DocumentEdges:
    """What must stand around each document of the shards.

    `bos`, `eos`: "auto" is what the tokenizer's own call inserts, and an id with which most
    documents begin or end, or with which all documents of a shard begin; "none"; or a token, by its
    content or its id. Raises OptionError for a token that the tokenizer does not have."""
    inserted = inserted_ids(tokenizer)
    not_checked = []
    if inserted is None:
        not_checked.append("BOS and EOS of the tokenizer's settings, which it does not tell")
    prefix, suffix = (tuple(map(int, ids)) for ids in inserted or ((), ()))
    counts = [_counts(shard, tokens) for shard in shards] if AUTO in (bos, eos) else []
    notes, inferred = [], False
    if bos == AUTO:
        found = _infer_token([(c.documents, c.first) for c in counts], tokens, begins=True)
        if found is not None and found not in prefix[:1]:
            prefix = (found, *prefix)
            notes.append(_note_of("begin", found, tokens, counts))
    else:
        prefix = _ids_of_option(bos, tokens)
    if eos == AUTO:
        found = _infer_token([(c.documents, c.last) for c in counts], tokens, begins=False)
        if found is not None and found not in suffix[-1:]:
            suffix, inferred = (*suffix, found), True
            notes.append(_note_of("end", found, tokens, counts))
    else:
        suffix = _ids_of_option(eos, tokens)
    return DocumentEdges(
        prefix, suffix, bos == NONE, eos == NONE, inferred, tuple(notes), tuple(not_checked)
    )


def _counts(shard: ShardSource, tokens: IdTexts) -> EdgeCounts:
    counts = EdgeCounts()
    special = np.fromiter(tokens.special - {tokens.unknown}, np.int64)
    for block in shard.blocks() if len(special) else ():
        counts.add(block, special)
    return counts


def _infer_token(
    shards: list[tuple[int, dict[int, int]]], tokens: IdTexts, begins: bool
) -> int | None:
    """The special token at the edge of most documents; or of all documents of a shard, if its name
    says that it begins a document."""
    documents = sum(count for count, _ in shards)
    total: dict[int, int] = {}
    whole: set[int] = set()
    for count, each in shards:
        for id_, times in each.items():
            total[id_] = total.get(id_, 0) + times
            if times == count and _BEGINS.fullmatch(tokens.added_tokens[id_].content):
                whole.add(id_)
    if not total:
        return None
    most = max(total, key=lambda id_: total[id_])
    if 2 * total[most] > documents or (begins and most in whole):
        return most
    return None


def _note_of(verb: str, id_: int, tokens: IdTexts, counts: list[EdgeCounts]) -> str:
    side = "first" if verb == "begin" else "last"
    have = sum(getattr(each, side).get(id_, 0) for each in counts)
    documents = sum(each.documents for each in counts)
    return (
        f"{have:,} of {documents:,} documents {verb} with {tokens.show(id_)}, which the "
        "tokenizer's settings do not add: expected of each document"
    )


def _ids_of_option(token: str | int, tokens: IdTexts) -> tuple[int, ...]:
    return () if token == NONE else (token_named(token, tokens),)


def token_named(token: str | int, tokens: IdTexts) -> int:
    """The id of a token, given by its content or its id. Raises OptionError."""
    if isinstance(token, int) or token.isdecimal():
        if not tokens.is_token(int(token)):
            raise OptionError(f"the tokenizer has no token with id {int(token)}")
        return int(token)
    ids = [id_ for id_, added in tokens.added_tokens.items() if added.content == token]
    ids = ids or [id_ for id_, name in tokens.names.items() if name == token]
    if not ids:
        raise OptionError(f"the tokenizer has no token {token!r}: give another one, or its id")
    return ids[0]


@dataclass(frozen=True, slots=True, eq=False)
class Bodies:
    """The documents of a block without prefix and suffix: document k has the ids
    ids[starts[k] : stops[k]] of the block. `has_prefix`, `has_suffix`: True for documents that had
    the whole prefix, or the whole suffix."""

    starts: IntArray
    stops: IntArray
    has_prefix: NDArray[np.bool_]
    has_suffix: NDArray[np.bool_]


def bodies_of(block: IdBlock, edges: DocumentEdges) -> Bodies:
    """Takes prefix and suffix off the documents of a block; where only a part of them is there,
    this part."""
    starts, stops = block.offsets[:-1].copy(), block.offsets[1:].copy()
    has_prefix = np.ones(len(starts), np.bool_)
    has_suffix = np.ones(len(starts), np.bool_)
    last = max(len(block.ids) - 1, 0)
    if not len(block.ids):
        return Bodies(
            starts, stops, has_prefix & (not edges.prefix), has_suffix & (not edges.suffix)
        )
    for id_ in edges.prefix:
        there = (starts < stops) & (block.ids[np.minimum(starts, last)] == id_)
        has_prefix &= there
        starts += there
    for id_ in reversed(edges.suffix):
        there = (starts < stops) & (block.ids[np.maximum(stops - 1, 0)] == id_)
        has_suffix &= there
        stops -= there
    return Bodies(starts, stops, has_prefix, has_suffix)
