"""Audit shards: is this the tokenizer, are BOS and EOS there, is anything missing?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.corpus.audit_edges import AUTO, Bodies, Edges, bodies_of, expected_edges
from tokpar.corpus.audit_report import (
    AGAINST,
    CHECKS,
    AuditReport,
    FaultLog,
    ShardSummary,
)
from tokpar.corpus.audit_texts import TextAudit
from tokpar.corpus.id_texts import Tokens, tokens_of
from tokpar.corpus.shards import Block, ShardSource, find_shards, in_documents, open_shard
from tokpar.encoder import Encoder
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter
from tokpar.loading import load

RUN = 64
"""Equal ids in a row that are reported."""
Mask = NDArray[np.bool_]


def audit(
    shards: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    tokenizer: object,
    *,
    bos: str | int = AUTO,
    eos: str | int = AUTO,
    packed: bool = False,
    workers: int | None = None,
    on_block: Callable[[int], object] | None = None,
) -> AuditReport:
    """Returns what is wrong with shards of ids, whoever made them."""
    names = [shards] if isinstance(shards, (str, os.PathLike)) else list(shards)
    adapter = whole_tokenizer(tokenizer)
    tokens = tokens_of(adapter)
    opened = [open_shard(name) for name in find_shards(names)]
    if packed:
        opened = [in_documents(shard, _end(eos, tokens, adapter)) for shard in opened]
    edges = expected_edges(adapter, tokens, opened, bos, eos)
    with Encoder(plain_tokenizer(adapter), workers=workers) as encoder:
        texts = TextAudit(encoder.tokenizer, tokens, encoder)
        run = _Audit(tokens, edges, texts)
        for shard in opened:
            run.shard(shard, on_block)
    return run.report(adapter.name, opened)


def whole_tokenizer(source: object) -> TokenizerAdapter:
    """The adapter of a tokenizer, without its truncation and padding."""
    try:
        return load(source, truncation=False, padding=False)
    except OptionError:
        return load(source)


def plain_tokenizer(adapter: TokenizerAdapter) -> TokenizerAdapter:
    """The adapter that encodes the text between special tokens, for an engine that looks for them
    only if it is told to."""
    allowing: Callable[[frozenset[str]], TokenizerAdapter] | None
    allowing = getattr(adapter, "allowing", None)
    return adapter if allowing is None else allowing(frozenset())


def _end(eos: str | int, tokens: Tokens, adapter: TokenizerAdapter) -> int:
    from tokpar.corpus.audit_edges import _named

    if eos in (AUTO, "none"):
        raise OptionError("packed shards need eos, the token after which a document ends")
    return _named(eos, tokens)[0]


@dataclass
class _Audit:
    """The state of one audit."""

    tokens: Tokens
    edges: Edges
    texts: TextAudit
    log: FaultLog = field(default_factory=FaultLog)
    notes: list[str] = field(default_factory=list)
    digests: dict[bytes, int] = field(default_factory=dict)
    doubled: int = 0
    empty: list[str] = field(default_factory=list)
    empties: int = 0
    long_runs: int = 0

    def shard(self, shard: ShardSource, on_block: Callable[[int], object] | None) -> None:
        for problem in shard.problems:
            self.log.add("index", shard.name, problem.document, problem.found, problem.expected)
        self.notes += [f"{shard.name}: {note}" for note in shard.notes]
        self._dtype(shard)
        for block in shard.blocks():
            self._block(shard.name, block)
            if on_block is not None:
                on_block(block.ids.nbytes)

    def _dtype(self, shard: ShardSource) -> None:
        if shard.dtype.kind not in "iu":
            self.log.add("dtype", shard.name, None, f"ids of {shard.dtype}", "integers")
        elif np.iinfo(shard.dtype).max < self.tokens.size - 1:
            most = f"up to {np.iinfo(shard.dtype).max:,}"
            found = f"ids of {shard.dtype}, {most}"
            self.log.add("dtype", shard.name, None, found, f"ids up to {self.tokens.size - 1:,}")

    def _block(self, name: str, block: Block) -> None:
        usable = self._range(name, block)
        bodies = bodies_of(block, self.edges)
        self._edges(name, block, bodies)
        self._digests(name, block, bodies)
        doubtful: set[int] = set(np.flatnonzero(~usable).tolist())
        if self.tokens.kind is not None:
            found, skipped = self.texts.differences(block, bodies, usable)
            for each in found:
                self.log.add(
                    each.kind, name, block.first + each.document, each.found, each.expected, each.place
                )
            doubtful |= skipped | {each.document for each in found}
        self._runs(name, block, doubtful)

    def _range(self, name: str, block: Block) -> Mask:
        """Reports ids that are no tokens; True for each document that has none."""
        ids = block.ids
        inside = (ids >= 0) & (ids < self.tokens.size)
        good = inside & self.tokens.known[np.where(inside, ids, 0).astype(np.int64)] if self.tokens.size else inside
        usable = np.ones(len(block), np.bool_)
        if good.all():
            return usable
        for place in np.flatnonzero(~good).tolist():
            document = int(np.searchsorted(block.offsets, place, side="right")) - 1
            if not usable[document]:
                continue
            usable[document] = False
            expected = f"an id below {self.tokens.size:,} that is a token"
            at = place - int(block.offsets[document])
            self.log.add("range", name, block.first + document, f"{ids[place]}", expected, at)
        return usable

    def _edges(self, name: str, block: Block, bodies: Bodies) -> None:
        some = np.diff(block.offsets) > 0
        wanted = ", ".join(map(self.tokens.shown, self.edges.prefix))
        for k in np.flatnonzero(~bodies.has_prefix & (some | bool(self.edges.prefix))).tolist():
            found = self._at(block, k, 0)
            self.log.add("bos", name, block.first + k, f"begins with {found}", wanted, 0)
        needs_end = some if self.edges.inferred_suffix else np.ones(len(block), np.bool_)
        wanted = ", ".join(map(self.tokens.shown, self.edges.suffix))
        for k in np.flatnonzero(~bodies.has_suffix & needs_end).tolist():
            found = self._at(block, k, -1)
            place = max(int(block.offsets[k + 1] - block.offsets[k]) - 1, 0)
            self.log.add("eos", name, block.first + k, f"ends with {found}", wanted, place)
        self._again(name, block, bodies)

    def _again(self, name: str, block: Block, bodies: Bodies) -> None:
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
                shown = self.tokens.shown(int(ids[k]))
                found = f"{word} with {shown}" if bare else f"{word} with {shown} twice"
                self.log.add(check, name, block.first + k, found, "none" if bare else "one")

    def _at(self, block: Block, k: int, place: int) -> str:
        ids = block[k]
        return self.tokens.shown(int(ids[place])) if len(ids) else "nothing, it is empty"

    def _digests(self, name: str, block: Block, bodies: Bodies) -> None:
        ids = block.ids.astype(np.int64)
        spans = zip(bodies.starts.tolist(), bodies.stops.tolist(), strict=True)
        for k, (start, stop) in enumerate(spans):
            if start == stop:
                self.empties += 1
                if len(self.empty) < 10:
                    self.empty.append(f"{name}: document {block.first + k}")
                continue
            digest = hashlib.blake2b(ids[start:stop], digest_size=16).digest()
            times = self.digests[digest] = self.digests.get(digest, 0) + 1
            self.doubled += times > 1

    def _runs(self, name: str, block: Block, doubtful: set[int]) -> None:
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
            if not (stands_alone or document in doubtful or self.tokens.kind is None):
                self.long_runs += 1
                continue
            at = start - int(block.offsets[document])
            found = f"{count:,} times {self.tokens.shown(id_)}"
            self.log.add("runs", name, block.first + document, found, "text", at)

    def report(self, tokenizer: str, shards: list[ShardSource]) -> AuditReport:
        checks = [check for check in CHECKS if check not in AGAINST]
        if self.tokens.kind is None:
            checks = [check for check in checks if check not in ("ids", "utf8")]
        summaries = [
            ShardSummary(s.name, s.format, s.dtype.name, s.documents, s.tokens) for s in shards
        ]
        return AuditReport(
            tokenizer,
            tuple(summaries),
            self.log.results(tuple(checks)),
            self.texts.text_bytes,
            tuple([*self.notes, *self.edges.notes, *self._counted()]),
            tuple([*self.edges.not_checked, *self._unchecked()]),
        )

    def _counted(self) -> Iterator[str]:
        if self.empties:
            yield f"{self.empties:,} documents have no text: {'; '.join(self.empty)}"
        if self.doubled:
            yield f"{self.doubled:,} documents have the ids of an earlier one"
        if self.long_runs:
            yield f"{self.long_runs:,} runs of {RUN} equal ids and more, which are those of their text"

    def _unchecked(self) -> Iterator[str]:
        if self.tokens.kind is None:
            yield f"whether the ids are those of a text: {self.tokens.why_not}"
        if self.texts.unknown:
            yield f"ids of {self.texts.unknown:,} documents with the unknown token, which hides text"
        if self.texts.rewritten:
            yield (
                f"ids of {self.texts.rewritten:,} documents, because the tokenizer does not leave "
                "the text as it is that they spell"
            )
        if self.tokens.cut_at:
            yield (
                "whether a special token that is written in a text is one id: that depends on the "
                "call, and both ways were accepted"
            )
