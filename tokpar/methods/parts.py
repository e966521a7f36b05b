"""The splitters and mergers of tokpar by name, to be combined; keyword parameters are options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from tokpar.interfaces import Merger, Splitter
from tokpar.methods import auto, blocks, cut, delimiter, lopt, overlap, recursive
from tokpar.methods.acceptance import LeastMatch, by_match, by_midpoint, certified
from tokpar.methods.inside import InsideMerger
from tokpar.methods.merging import OverlapMerger
from tokpar.methods.options import require_choice, require_count
from tokpar.methods.serial import OneChunk


def _cut(*, chunk_chars: int | None = None) -> Splitter:
    return cut.build(chunk_chars=chunk_chars)[0]


def _auto(*, chunk_chars: int | None = None) -> Splitter:
    return auto.build(chunk_chars=chunk_chars)[0]


def _lopt(*, chunk_chars: int | None = None, overlap_chars: int = lopt.OVERLAP_CHARS) -> Splitter:
    return lopt.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _blocks(*, chunk_chars: int = blocks.BLOCK_CHARS, overlap_chars: int | None = None) -> Splitter:
    return blocks.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _recursive(*, depth: int | None = None) -> Splitter:
    return recursive.build(depth=depth)[0]


def _overlap(*, chunk_chars: int = 40960, overlap_chars: int = 512) -> Splitter:
    return overlap.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _delimiter(
    *,
    chunk_chars: int | None = None,
    delimiter: str = " ",
    side: Literal["after", "before"] = "before",
) -> Splitter:
    return _build_delimiter(chunk_chars=chunk_chars, delimiter=delimiter, side=side)[0]


_build_delimiter = delimiter.build

SPLITTERS: Mapping[str, Callable[..., Splitter]] = {
    "auto": _auto,
    "blocks": _blocks,
    "cut": _cut,
    "delimiter": _delimiter,
    "lopt": _lopt,
    "overlap": _overlap,
    "recursive": _recursive,
    "serial": OneChunk,
}


def _certified(
    *,
    min_match: int | Literal["longest"] = 0,
    on_failure: Literal["repair", "restart"] = "repair",
) -> Merger:
    _require_match(min_match, least=0)
    require_choice("on_failure", on_failure, ("repair", "restart"))
    return OverlapMerger(partial(certified, least=min_match), restart=on_failure == "restart")


def _match(*, min_match: int | Literal["longest"] = 2) -> Merger:
    _require_match(min_match)
    return OverlapMerger(partial(by_match, least=min_match))


def _midpoint() -> Merger:
    return OverlapMerger(by_midpoint)


def _runs(*, match: Literal["longest", "window"] = "longest") -> Merger:
    return overlap.build(match=match)[1]


def _require_match(value: LeastMatch, least: int = 1) -> None:
    if value != "longest":
        require_count("min_match", value, least)


MERGERS: Mapping[str, Callable[..., Merger]] = {
    "certified": _certified,
    "concatenate": delimiter.ConcatenatingMerger,
    "cut": cut.CutMerger,
    "inside": InsideMerger,
    "match": _match,
    "midpoint": _midpoint,
    "runs": _runs,
}
