"""All that a plugin needs, in one import: ``from tokpar.plugin import hookimpl, TokenizerSource``.

Hooks and what they offer; the values that go from text to ids; what a part must be able to do; what
licenses a cut; help for executors and options. Imports no engine."""

from __future__ import annotations

from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    byte_starts,
    first_difference,
    has_surrogate,
    offsets_of,
    spans_from_lengths,
)
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.errors import (
    EngineError,
    FileFormatError,
    OptionError,
    PluginError,
    TokparError,
    UnknownNameError,
    WorkerError,
)
from tokpar.executors.serial_executor import check_spans, encode_piece, encode_rows
from tokpar.foreign_errors import raise_foreign
from tokpar.hooks import Command, ExecutorKind, MergerKind, SplitterKind, hookimpl
from tokpar.interfaces import (
    Executor,
    Merger,
    Splitter,
    Strategy,
    TokenizerAdapter,
    TokenizerSource,
    facts_of,
    traits_of,
)
from tokpar.limits import require_choice, require_count
from tokpar.overlap.chunks import chunks_between, join_at_cut, licensed, meet_at_cut
from tokpar.pure.openai import KNOWN_ENCODINGS
from tokpar.registry import registry
from tokpar.types import (
    AddedToken,
    Chunk,
    EngineTraits,
    Facts,
    Join,
    NormalizerStage,
    Origin,
    Piece,
    Rows,
    Rule,
    Scheme,
    Seam,
    Split,
    Theorem,
    Witness,
)

__all__ = [
    "KNOWN_ENCODINGS",
    "AddedToken",
    "Chunk",
    "Command",
    "CutFinder",
    "EngineError",
    "EngineTraits",
    "Executor",
    "ExecutorKind",
    "Facts",
    "FileFormatError",
    "IdArray",
    "IntArray",
    "Join",
    "Merger",
    "MergerKind",
    "NormalizerStage",
    "OptionError",
    "Origin",
    "Piece",
    "PluginError",
    "Rows",
    "Rule",
    "Scheme",
    "Seam",
    "SpanArray",
    "Split",
    "Splitter",
    "SplitterKind",
    "Strategy",
    "Theorem",
    "TokenizerAdapter",
    "TokenizerSource",
    "TokparError",
    "UnknownNameError",
    "Witness",
    "WorkerError",
    "byte_starts",
    "check_spans",
    "chunks_between",
    "encode_piece",
    "encode_rows",
    "facts_of",
    "finder_for",
    "first_difference",
    "has_surrogate",
    "hookimpl",
    "join_at_cut",
    "licensed",
    "meet_at_cut",
    "offsets_of",
    "raise_foreign",
    "registry",
    "require_choice",
    "require_count",
    "spans_from_lengths",
    "traits_of",
]
