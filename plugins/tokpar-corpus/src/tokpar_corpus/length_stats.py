"""Counts lengths of documents, tokens per byte and unknown tokens, for each shard and for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tokpar_corpus.id_texts import IdTexts, tokens_of
from tokpar_corpus.inputs import Paths, name_list
from tokpar_corpus.manifest import MANIFEST_NAME, Manifest
from tokpar_corpus.shards import ShardSource, find_shards, open_shard
from tokpar_corpus.tokenizer_source import load_for_corpus

QUANTILES = (1, 5, 25, 50, 75, 95, 99)
"""The percentages of `LengthStats.quantiles`."""


@dataclass(frozen=True, slots=True)
class LengthStats:
    """Counts of one shard, or of all shards.

    `name`: the shard, or "all". `sources`: the inputs of the shard, from a manifest in the same
    folder. `shortest`, `longest`: tokens of a document.
    `quantiles`: for each percentage p of `QUANTILES`, p per cent of the documents have at most this
    many tokens; 0 without documents.
    `text_bytes`: UTF-8 bytes that the tokens spell, without special tokens; None without a
    tokenizer, or if its tokens do not spell the text.
    `unknown`: the number of unknown tokens; None without a tokenizer, or if it cannot be counted.
    """

    name: str
    sources: tuple[str, ...]
    documents: int
    tokens: int
    shortest: int
    longest: int
    quantiles: tuple[int, ...]
    text_bytes: int | None
    unknown: int | None

    @property
    def tokens_per_byte(self) -> float | None:
        return None if not self.text_bytes else self.tokens / self.text_bytes

    @property
    def unknown_rate(self) -> float | None:
        """The share of unknown tokens among all tokens, or None."""
        return None if self.unknown is None or not self.tokens else self.unknown / self.tokens


@dataclass(frozen=True, slots=True)
class StatsReport:
    """The result of `tokpar_corpus.stats`."""

    shards: tuple[LengthStats, ...]
    total: LengthStats


@dataclass(frozen=True, slots=True, eq=False)
class _ShardCounts:
    name: str
    sources: tuple[str, ...]
    lengths: NDArray[np.int64]
    text_bytes: int | None
    unknown: int | None


def stats(shards: Paths, tokenizer: object = None) -> StatsReport:
    """Returns statistics of the lengths of documents in shards, in tokens.

    `shards`: as `audit` takes them. `tokenizer`: anything that `tokpar.load` takes; with a
    tokenizer, bytes of text and unknown tokens are counted, too. Needs 8 bytes of memory for each
    document. Raises the errors of `audit`."""
    tokens = None if tokenizer is None else tokens_of(load_for_corpus(tokenizer, None, {}).adapter)
    counts = [_count_shard(open_shard(name), tokens) for name in find_shards(name_list(shards))]
    return StatsReport(tuple(map(_stats, counts)), _stats(_unite_counts(counts)))


def _count_shard(shard: ShardSource, tokens: IdTexts | None) -> _ShardCounts:
    lengths = []
    uses = np.zeros(0 if tokens is None else tokens.size, np.int64)
    for block in shard.blocks():
        lengths.append(np.diff(block.offsets))
        inside = block.ids[(block.ids >= 0) & (block.ids < len(uses))]
        uses += np.bincount(inside.astype(np.int64), minlength=len(uses))
    text_bytes = unknown = None
    if tokens is not None:
        if tokens.unknown is not None:
            unknown = int(uses[tokens.unknown])
        if tokens.why_not is None:
            text_bytes = int((uses * _text_lengths(tokens)).sum())
            unknown = unknown or 0
    found = np.concatenate(lengths) if lengths else np.empty(0, np.int64)
    return _ShardCounts(shard.name, _sources(shard.name), found, text_bytes, unknown)


def _text_lengths(tokens: IdTexts) -> NDArray[np.int64]:
    """Returns the bytes of text of each id, shape (ids,): 0 for special tokens. The prefix of a
    token that continues a word ("##") does not count."""
    lengths = tokens.lengths.copy()
    lengths[list(tokens.special)] = 0
    if not isinstance(tokens.spelling, str) and tokens.spelling.kind == "words":
        prefix = tokens.spelling.prefix
        for id_, name in tokens.names.items():
            if prefix and name.startswith(prefix) and id_ not in tokens.added_tokens:
                lengths[id_] -= len(prefix.encode())
    return lengths


def _sources(shard: str) -> tuple[str, ...]:
    """Returns the names of the inputs of a shard, from a manifest in its folder; () without one."""
    path = Path(shard)
    manifest = path.parent / MANIFEST_NAME
    if not manifest.is_file():
        return ()
    found = Manifest.from_json(manifest.read_text(encoding="utf-8"))
    for each in found.shards:
        if path.name in [file.name for file in each.files]:
            last = each.end.input + (each.end.offset > 0 or each.end.input == each.begin.input)
            return tuple(item.name for item in found.inputs[each.begin.input : last])
    return ()


def _unite_counts(counts: Iterable[_ShardCounts]) -> _ShardCounts:
    some = list(counts)
    lengths = np.concatenate([np.empty(0, np.int64), *(each.lengths for each in some)])
    sources = tuple(dict.fromkeys(name for each in some for name in each.sources))
    text_bytes = [each.text_bytes for each in some if each.text_bytes is not None]
    unknown = [each.unknown for each in some if each.unknown is not None]
    return _ShardCounts(
        "all",
        sources,
        lengths,
        sum(text_bytes) if len(text_bytes) == len(some) else None,
        sum(unknown) if len(unknown) == len(some) else None,
    )


def _stats(counts: _ShardCounts) -> LengthStats:
    lengths = counts.lengths
    some = lengths if len(lengths) else np.zeros(1, np.int64)
    found = np.percentile(some, QUANTILES, method="inverted_cdf")
    return LengthStats(
        counts.name,
        counts.sources,
        len(lengths),
        int(lengths.sum()),
        int(some.min()),
        int(some.max()),
        tuple(map(int, found)),
        counts.text_bytes,
        counts.unknown,
    )
