"""The splitters and mergers of tokpar by name, to be combined; keyword parameters are options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from tokpar.interfaces import Merger, Splitter
from tokpar.limits import ON_FAILURE, require_choice, require_min_match
from tokpar.methods import blocks, lopt, recursive
from tokpar.methods.auto import AutoSplitter
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.methods.delimiter import ConcatenatingMerger, DelimiterSplitter
from tokpar.methods.overlap import OverlapSplitter
from tokpar.methods.serial import OneChunk
from tokpar.overlap.acceptance import by_match, by_midpoint, certified
from tokpar.overlap.common_runs import RunMerger
from tokpar.overlap.mergers import InsideMerger, OverlapMerger


def _lopt(*, chunk_chars: int | None = None, overlap_chars: int = lopt.OVERLAP_CHARS) -> Splitter:
    return lopt.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _blocks(*, chunk_chars: int = blocks.BLOCK_CHARS, overlap_chars: int | None = None) -> Splitter:
    return blocks.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _recursive(*, depth: int | None = None) -> Splitter:
    return recursive.build(depth=depth)[0]


SPLITTERS: Mapping[str, Callable[..., Splitter]] = {
    "auto": AutoSplitter,
    "blocks": _blocks,
    "cut": CutSplitter,
    "delimiter": DelimiterSplitter,
    "lopt": _lopt,
    "overlap": OverlapSplitter,
    "recursive": _recursive,
    "serial": OneChunk,
}


def _certified(
    *, min_match: int | Literal["longest"] = 0, on_failure: Literal["repair", "restart"] = "repair"
) -> Merger:
    require_min_match(min_match, least=0)
    require_choice("on_failure", on_failure, ON_FAILURE)
    return OverlapMerger(partial(certified, least=min_match), restart=on_failure == "restart")


def _match(*, min_match: int | Literal["longest"] = 2) -> Merger:
    require_min_match(min_match)
    return OverlapMerger(partial(by_match, least=min_match))


MERGERS: Mapping[str, Callable[..., Merger]] = {
    "certified": _certified,
    "concatenate": ConcatenatingMerger,
    "cut": CutMerger,
    "inside": InsideMerger,
    "match": _match,
    "midpoint": lambda: OverlapMerger(by_midpoint),
    "runs": RunMerger,
}
