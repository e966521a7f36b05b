"""The checks of an audit that look at one block of documents at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tokpar_corpus.audit_against import Digests
from tokpar_corpus.audit_edges import Bodies, DocumentEdges, bodies_of
from tokpar_corpus.audit_report import SHOWN, FaultLog
from tokpar_corpus.audit_texts import ComparisonResult, TextAudit
from tokpar_corpus.id_texts import IdTexts
from tokpar_corpus.shards import IdBlock, ShardSource

RUN = 64
"""Equal ids in a row that are reported."""
MOST_BLOCKS = 4
"""The most blocks whose texts are compared at a time. Each takes about 60 MB, a long
document more."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """The running comparison of one block. `usable`: True for documents in which each id is a
    token. `first`: the number of the block's first document, counted over all shards."""

    block: IdBlock
    usable: Mask
    first: int
    running: Future[ComparisonResult]


@dataclass
class DocumentAudit:
    """Checks shards one after the other, and counts what a report needs.

    `blocks`: how many blocks have their texts compared at a time."""

    tokens: IdTexts
    edges: DocumentEdges
    texts: TextAudit | None
    digests: Digests
    blocks: int
    log: FaultLog = field(default_factory=FaultLog)
    notes: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    empties: int = 0
    unknown: int = 0
    rewritten_count: int = 0
    text_bytes: int = 0
    long_runs: int = 0

    def check(self, shard: ShardSource) -> Iterator[IdBlock]:
        """Runs all checks on a shard; yields each block that was checked."""
        for problem in shard.problems:
            self.log.add("index", shard.name, problem.document, problem.found, problem.expected)
        self.notes += [f"{shard.name}: {note}" for note in shard.notes]
        self._dtype(shard)
        with ThreadPoolExecutor(self.blocks) as pool:
            running: deque[_Comparison] = deque()
            for block in shard.blocks():
                running.append(self._begin(shard.name, block, pool))
                if len(running) > self.blocks:
                    yield self._end(shard.name, running.popleft())
            while running:
                yield self._end(shard.name, running.popleft())

    def _dtype(self, shard: ShardSource) -> None:
        if np.iinfo(shard.dtype).max < self.tokens.size - 1:
            most = f"up to {np.iinfo(shard.dtype).max:,}"
            found = f"ids of {shard.dtype}, {most}"
            self.log.add("dtype", shard.name, None, found, f"ids up to {self.tokens.size - 1:,}")

    def _begin(self, name: str, block: IdBlock, pool: ThreadPoolExecutor) -> _Comparison:
        """Has the texts of a block compared in another thread, and checks the rest here."""
        usable = self._range(name, block)
        bodies = bodies_of(block, self.edges)
        compared: Future[ComparisonResult] = Future()
        if self.texts is None:
            compared.set_result(ComparisonResult())
        else:
            compared = pool.submit(self.texts.compare, block, bodies, usable)
        self._edges(name, block, bodies)
        first = len(self.digests.whole)
        self._digests(name, block, bodies)
        return _Comparison(block, usable, first, compared)

    def _end(self, name: str, comparison: _Comparison) -> IdBlock:
        """Reports what the comparison found, and the runs that it does not explain."""
        block, usable = comparison.block, comparison.usable
        compared = comparison.running.result()
        for document, digest in compared.texts:
            self.digests.document_of[digest] = comparison.first + document
        for total in ("unknown", "rewritten_count", "text_bytes"):
            setattr(self, total, getattr(self, total) + getattr(compared, total))
        doubtful = set(np.flatnonzero(~usable).tolist()) | compared.not_compared
        for each in compared.found:
            doubtful.add(each.document)
            place = block.first + each.document
            self.log.add(each.kind, name, place, each.found, each.expected, each.place)
        self._runs(name, block, doubtful)
        return block

    def _range(self, name: str, block: IdBlock) -> Mask:
        """Reports ids that are no tokens; True for each document that has none."""
        usable = np.ones(len(block), np.bool_)
        ids, size = block.ids, self.tokens.size
        if not len(ids):
            return usable
        if size and ids.min() >= 0 and ids.max() < size and self.tokens.is_known[ids].all():
            return usable
        good = (ids >= 0) & (ids < size)
        good[good] = self.tokens.is_known[ids[good].astype(np.int64)]
        places = np.flatnonzero(~good)
        owners = np.searchsorted(block.offsets, places, side="right") - 1
        expected = f"an id below {size:,} that is a token"
        for document, first in zip(*np.unique(owners, return_index=True), strict=True):
            usable[document] = False
            place = int(places[first] - block.offsets[document])
            found = f"{ids[places[first]]}"
            self.log.add("range", name, block.first + int(document), found, expected, place)
        return usable

    def _edges(self, name: str, block: IdBlock, bodies: Bodies) -> None:
        some = np.diff(block.offsets) > 0
        wanted = ", ".join(map(self.tokens.show, self.edges.prefix))
        for k in np.flatnonzero(~bodies.has_prefix & (some | bool(self.edges.prefix))).tolist():
            found = self._token_at(block, k, 0)
            self.log.add("bos", name, block.first + k, f"begins with {found}", wanted, 0)
        needs_end = some if self.edges.inferred_suffix else np.ones(len(block), np.bool_)
        wanted = ", ".join(map(self.tokens.show, self.edges.suffix))
        for k in np.flatnonzero(~bodies.has_suffix & needs_end).tolist():
            found = self._token_at(block, k, -1)
            place = max(int(block.offsets[k + 1] - block.offsets[k]) - 1, 0)
            self.log.add("eos", name, block.first + k, f"ends with {found}", wanted, place)
        self._again(name, block, bodies)

    def _again(self, name: str, block: IdBlock, bodies: Bodies) -> None:
        """Reports a BOS or EOS that stands twice, or that must not be there."""
        inside = bodies.starts < bodies.stops
        if not inside.any():
            return
        firsts = block.ids[np.where(inside, bodies.starts, 0)]
        lasts = block.ids[np.where(inside, bodies.stops - 1, 0)]
        special = np.fromiter(self.tokens.special, np.int64)
        for check, ids, edge, bare, word in (
            ("bos", firsts, self.edges.prefix[:1], self.edges.bare_front, "begins"),
            ("eos", lasts, self.edges.suffix[-1:], self.edges.bare_back, "ends"),
        ):
            unwanted = special if bare else np.array(edge, np.int64)
            for k in np.flatnonzero(np.isin(ids, unwanted) & inside).tolist():
                shown = self.tokens.show(int(ids[k]))
                found = f"{word} with {shown}" if bare else f"{word} with {shown} twice"
                self.log.add(check, name, block.first + k, found, "none" if bare else "one")

    def _token_at(self, block: IdBlock, k: int, place: int) -> str:
        ids = block[k]
        return self.tokens.show(int(ids[place])) if len(ids) else "nothing, it is empty"

    def _digests(self, name: str, block: IdBlock, bodies: Bodies) -> None:
        for k in np.flatnonzero(bodies.starts == bodies.stops).tolist():
            self.empties += 1
            if len(self.empty) < SHOWN:
                self.empty.append(f"{name}: document {block.first + k}")
        self.digests.add_block(block.ids, bodies.starts, bodies.stops)

    def _runs(self, name: str, block: IdBlock, doubtful: set[int]) -> None:
        """Reports runs of one id, where the text of the ids does not explain them."""
        ids = block.ids
        if len(ids) < RUN:
            return
        begins = np.ones(len(ids) + 1, np.bool_)
        begins[1:-1] = ids[1:] != ids[:-1]
        begins[block.offsets] = True
        starts = np.flatnonzero(begins)
        long = np.flatnonzero(np.diff(starts) >= RUN)
        for k in long.tolist():
            start, count = int(starts[k]), int(starts[k + 1] - starts[k])
            document = int(np.searchsorted(block.offsets, start, side="right")) - 1
            id_ = int(ids[start])
            stands_alone = id_ in self.tokens.special or id_ == self.tokens.unknown
            if not (stands_alone or document in doubtful or self.texts is None):
                self.long_runs += 1
                continue
            at = start - int(block.offsets[document])
            found = f"{count:,} times {self.tokens.show(id_)}"
            self.log.add("runs", name, block.first + document, found, "text", at)
