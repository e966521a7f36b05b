"""Machines and merges on disk, by what they were made from, so that only the first process reads a
vocabulary and compares its pieces with the engine's.

A file is no authority: it counts only if it is whole, and has the arrays that it should have. Where
it is kept: `tokpar.agreement.cache`."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tokpar.agreement.cache import digest, directory
from tokpar.kernel.machine import Machine
from tokpar.kernel.merges import Merges, Tokens
from tokpar.types import Facts

KIND = "pieces"
_FORMAT = "3"
LEAST_KEPT = 1 << 16
"""Bytes of a model from which on its tables are kept."""
_ARRAYS = {
    "symbol_of": np.uint8,
    "symbols": np.int64,
    "moves": np.uint32,
    "begins": np.int64,
    "idle": np.uint8,
    "table": np.uint64,
    "byte_ids": np.uint32,
    "data": np.uint8,
    "lengths": np.int64,
    "ids": np.uint32,
    "whole": np.bool_,
}


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes that tell one model from all others: how many they are, and their SHA-256."""

    length: int
    sha256: bytes

    @classmethod
    def of(cls, state: bytes) -> Source:
        return cls(len(state), hashlib.sha256(state).digest())


def key_of(facts: Facts, source: Source, size: int, engine: str) -> str | None:
    """A digest of all that tables are made from; None for a model so small that they are made
    sooner than found. `size`: tokens; `engine`: name and version."""
    if source.length < LEAST_KEPT:
        return None
    added = [token.content for token in facts.added_tokens if token.normalized]
    kinds = facts.scheme, facts.byte_level, facts.prefix_space, size
    stages = repr((facts.engine, facts.patterns, facts.normalizers, added, kinds))
    return digest([_FORMAT, engine, stages, source.sha256])


def read(key: str | None) -> tuple[Machine, Merges] | None:
    """What is kept under a key, if it may be believed."""
    folder = directory(KIND)
    if folder is None or key is None:
        return None
    try:
        content = (folder / f"{key}.npz").read_bytes()
        seal, arrays = content[:32], content[32:]
        if hashlib.sha256(key.encode() + arrays).digest() != seal:
            return None
        found = dict(np.load(io.BytesIO(arrays), allow_pickle=False))
    except (OSError, ValueError, EOFError):
        return None
    if {name: array.dtype for name, array in found.items()} != _ARRAYS:
        return None
    own = (found[name] for name in _ARRAYS)
    symbol_of, symbols, moves, begins, idle, *rest = own
    table, byte_ids, data, lengths, ids, whole = rest
    machine = Machine(symbol_of, int(symbols), moves, begins, idle)
    return machine, Merges(table, byte_ids, Tokens(data, lengths, ids), whole)


def write(key: str | None, machine: Machine, merges: Merges) -> None:
    """Keep the tables, the whole file at once or nothing."""
    folder = directory(KIND)
    if folder is None or key is None:
        return
    tokens = merges.tokens
    rest = merges.table, merges.byte_ids, tokens.data, tokens.lengths, tokens.ids, merges.whole
    target = io.BytesIO()
    np.savez(target, **dict(zip(_ARRAYS, (*machine.arrays, *rest), strict=True)))
    arrays = target.getvalue()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(key.encode() + arrays).digest() + arrays)
            os.replace(name, folder / f"{key}.npz")
        except OSError:
            os.unlink(name)
            raise


def forget(key: str | None) -> None:
    """Nothing is kept under this key any more."""
    folder = directory(KIND)
    if folder is not None and key is not None:
        with suppress(OSError):
            os.unlink(folder / f"{key}.npz")
