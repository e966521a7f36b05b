"""The plugin tokpar-strategies: published ways to encode a text in parallel, as published and made
exact.

Each module is imported when its strategy is first used."""

from __future__ import annotations

from functools import partial

from tokpar.plugin import ImportedLater, MergerKind, SplitterKind, Strategy, hookimpl

_PAPER = (("acceptance", "paper"),)
_OTHER_MERGE = "'3.3x Faster HuggingFace Tokenizers for Single Sequence', its merge replaced"
_AS_MIDPOINT = "as for auto; acceptance='paper' is the published midpoint filter, approximate"


def _later(module: str, name: str = "build") -> ImportedLater:
    return ImportedLater(f"tokpar_strategies.{module}", name)


@hookimpl
def tokpar_strategies() -> list[Strategy]:
    """Two strategies that are exact by default, and two that are approximate."""
    exact = partial(Strategy, lossless=True, conditions=_AS_MIDPOINT, approximate_if=_PAPER)
    return [
        exact("blocks", source=f"cache-block streaming of {_OTHER_MERGE}", build=_later("blocks")),
        Strategy(
            "delimiter",
            False,
            "the delimiter baseline of LoPT (arXiv 2511.04952)",
            "approximate: exact only where every cut happens to be certified",
            _later("delimiter"),
        ),
        Strategy(
            "overlap",
            False,
            "ParallelTokenizer (OpenLMLab); match='window': as optimised in LoPT (arXiv "
            "2511.04952)",
            "approximate: repeated ids give wrong merges",
            _later("overlap"),
        ),
        exact(
            "recursive",
            source=f"recursive binary split of {_OTHER_MERGE}",
            build=_later("recursive"),
        ),
    ]


@hookimpl
def tokpar_splitters() -> list[SplitterKind]:
    """The splitters of the strategies, by the same names."""
    return [
        SplitterKind("blocks", _later("blocks", "build_splitter")),
        SplitterKind("delimiter", _later("delimiter", "DelimiterSplitter")),
        SplitterKind("overlap", _later("overlap", "OverlapSplitter")),
        SplitterKind("recursive", _later("recursive", "build_splitter")),
    ]


@hookimpl
def tokpar_mergers() -> list[MergerKind]:
    """The published ways to join chunks."""
    return [
        MergerKind("concatenate", _later("delimiter", "ConcatenatingMerger")),
        MergerKind("midpoint", _later("blocks", "build_midpoint")),
        MergerKind("runs", _later("overlap", "RunMerger")),
    ]
