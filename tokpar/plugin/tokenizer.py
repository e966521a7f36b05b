"""All that tokenizers and executors need:
``from tokpar.plugin.tokenizer import TokenizerSource, hookimpl``."""

from __future__ import annotations

from tokpar.adapters.path_call import path_call
from tokpar.arrays import (
    IdArray,
    SpanArray,
    byte_starts,
    first_difference,
    has_surrogate,
    offsets_of,
)
from tokpar.contract.adapter import (
    DecodingParts,
    EngineTraits,
    Loader,
    Origin,
    inserted_ids,
    origin_of,
    own_call_of,
    traits_of,
)
from tokpar.contract.interfaces import (
    Decodes,
    EncodesMany,
    Executor,
    PostProcesses,
    TokenizerAdapter,
    facts_of,
)
from tokpar.contract.path_model import PathModel
from tokpar.executors.serial_executor import check_spans, encode_piece, encode_rows
from tokpar.formats.openai import KNOWN_ENCODINGS
from tokpar.formats.vocabulary import byte_alphabet, letters_of
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.process import disk_cache
from tokpar.process.cached_property import cached_property
from tokpar.process.interrupts import raise_foreign
from tokpar.registry.hooks import ExecutorKind, TokenizerSource, hookimpl
from tokpar.types import AddedToken, Facts, Piece, Scheme

__all__ = [
    "KNOWN_ENCODINGS",
    "AddedToken",
    "Decodes",
    "DecodingParts",
    "EncodesMany",
    "EngineTraits",
    "Executor",
    "ExecutorKind",
    "Facts",
    "IdArray",
    "Loader",
    "Origin",
    "PathModel",
    "Piece",
    "PostProcesses",
    "Scheme",
    "SpanArray",
    "TokenizerAdapter",
    "TokenizerSource",
    "byte_alphabet",
    "byte_starts",
    "cached_property",
    "check_spans",
    "disk_cache",
    "encode_piece",
    "encode_rows",
    "facts_of",
    "first_difference",
    "has_surrogate",
    "hookimpl",
    "inserted_ids",
    "letters_of",
    "offsets_of",
    "origin_of",
    "own_call_of",
    "path_call",
    "raise_foreign",
    "shipped_pattern",
    "traits_of",
]
