"""Engines of other packages for tokpar.

A plugin describes its engine by an `Engine`. The engine then encodes the `tokenizer.json` and
`.tiktoken` files for which it returns the ids of the file's own library."""

from tokpar_engines.engine import (
    Calls,
    Engine,
    EngineTokenizer,
    engine_source,
    load_engine,
    unhonoured,
)
from tokpar_engines.engine_files import JsonFile, RankFile

__all__ = [
    "Calls",
    "Engine",
    "EngineTokenizer",
    "JsonFile",
    "RankFile",
    "engine_source",
    "load_engine",
    "unhonoured",
]
