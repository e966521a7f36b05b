"""The tables of the compiled call for a model of SentencePiece (proofs/compiled-call.md)."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.compiled.call_tables import Arrays
from tokpar.compiled.character_tables import MARK
from tokpar.compiled.merges import GateError
from tokpar.contract.path_model import (
    BYTE,
    CHAR,
    NORMAL,
    UNIGRAM,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    PathModel,
)
from tokpar.facts.charsmap import Charsmap
from tokpar.process import kernel_modules

NO_PIECE = 2**32 - 1
FIXED = 2**32 - 2
"""The rank of a user-defined piece, which is merged with nothing."""
MOST_PIECES = 1 << 22
BY_PATH = 5
"""The first of the settings of tables with which a text is encoded by one path over all of it."""
UNKNOWN_PENALTY = np.float32(10.0)
"""What an unknown character scores less than the least of all normal pieces."""
_MARK, _LEAF, _PAD = MARK.encode(), 1 << 31, bytes(8)


def path_arrays(model: PathModel) -> Arrays:
    """Returns the tables as call_path.h reads them. Raises GateError for a model that the call does
    not have."""
    assert kernel_modules.CALL is not None
    names, types = _read_names(model), np.array([kind for _, _, kind in model.pieces], np.int64)
    unknown = np.flatnonzero(types == UNKNOWN)
    if len(unknown) != 1 or len(names) > MOST_PIECES:
        raise GateError("it has no unknown piece, or more pieces than the call has room for")
    spelled = [_spelled(name, model.escape_whitespaces) for name in names]
    is_found = (types == NORMAL) | (types == USER_DEFINED)
    symbols = [
        name if kind == USER_DEFINED else b"" for name, kind in zip(names, types, strict=True)
    ]
    if not np.isfinite([score for _, score, _ in model.pieces]).all():
        raise GateError("the score of a piece is no number")
    merges = model.kind != UNIGRAM
    if merges:
        _require_mergeable(model)
    cells, first = _cells([name if f else b"" for name, f in zip(spelled, is_found, strict=True)])
    units, replacements = _parts(model.charsmap)
    adds, suffix = model.add_dummy_prefix, model.space_is_suffix
    numbers = [int(unknown[0]), model.byte_fallback, adds and not suffix, adds and suffix]
    numbers += [model.remove_extra_whitespaces, model.escape_whitespaces, has_words(model), merges]
    return {
        **_NO_WORDS,
        "path_settings": np.array(numbers, dtype=np.int64),
        "path_cells": cells,
        "path_first": first,
        "path_symbols": _cells(symbols)[0] if any(symbols) else np.zeros(0, dtype=np.uint32),
        "path_scores": _scores(model, types),
        "path_ranks": _ranks(model, types) if merges else np.zeros(0, dtype=np.uint32),
        "path_bytes": _byte_ids(model, names),
        "path_keys": units,
        "path_key_texts": np.frombuffer(replacements + _PAD, dtype=np.uint8),
        "path_begins": _beginnings(units, symbols),
    }


def has_words(model: PathModel) -> bool:
    """True if every path meets at each U+2581 (theorem 65): each space is one, and no piece that a
    text may have holds one behind its first character. Of merged symbols: behind another
    character, so that none reaches over a U+2581 behind a character other than U+2581."""
    return model.escape_whitespaces and not any(
        _MARK in (name[1:] if model.kind == UNIGRAM else _without_marks(name))
        for name, _, kind in model.pieces
        if kind in (NORMAL, USER_DEFINED)
    )


def _without_marks(name: bytes) -> bytes:
    while name.startswith(_MARK):
        name = name.removeprefix(_MARK)
    return name


def _require_mergeable(model: PathModel) -> None:
    """Raises GateError if the library does more than to merge symbols, or gives a symbol the id of
    a piece of another type."""
    for name, _, kind in model.pieces:
        if kind == UNUSED:
            raise GateError(f"its piece {name[:50]!r} is unused: it is divided as it was merged")
        if kind not in (NORMAL, USER_DEFINED) and len(name.decode()) == 1:
            raise GateError(f"its piece {name[:50]!r} is a character, and none of a text")


def _ranks(model: PathModel, types: IntArray) -> NDArray[np.uint32]:
    """Returns the rank of each piece: 0 for the greatest score."""
    ranks = np.full(len(types), NO_PIECE, dtype=np.uint32)
    ranks[types == USER_DEFINED] = FIXED
    if model.kind != CHAR:
        scores = np.array([score for _, score, _ in model.pieces], dtype=np.float32)
        _, order = np.unique(-scores[types == NORMAL], return_inverse=True)
        ranks[types == NORMAL] = order
    return ranks


_NO_WORDS: Arrays = {
    "settings": np.array([BY_PATH, 0, 0, 0, 0, 0, 0], dtype=np.int64),
    "words": np.zeros(8, dtype=np.uint64),
    "keys": np.zeros(64, dtype=np.uint8),
    "more": np.zeros(64, dtype=np.uint32),
}


def _read_names(model: PathModel) -> list[bytes]:
    """Returns the pieces by id. Raises GateError for one that the library reads in another way."""
    names = [name for name, _, _ in model.pieces]
    for name in names:
        try:
            name.decode()
        except UnicodeDecodeError:
            raise GateError(f"its piece {name[:50]!r} is no UTF-8") from None
        if b"\0" in name:
            raise GateError(f"its piece {name[:50]!r} holds a zero byte")
    return names


def _spelled(name: bytes, escapes: bool) -> bytes:
    """Returns a piece with " " for U+2581 where spaces are escaped, and no bytes for a piece with a
    space then: no normalized text has one."""
    if not escapes:
        return name
    return b"" if b" " in name else name.replace(_MARK, b" ")


def _cells(names: Sequence[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    assert kernel_modules.CALL is not None
    ends: IntArray = np.cumsum(np.fromiter(map(len, names), np.int64, len(names)), dtype=np.int64)
    cells, first = kernel_modules.CALL.unigram_cells(b"".join(names), ends)
    return np.frombuffer(cells, dtype=np.uint32), np.frombuffer(first, dtype=np.uint32)


def _scores(model: PathModel, types: IntArray) -> NDArray[np.float32]:
    """Returns the score of each piece, and of an unknown character, in the library's arithmetic."""
    scores = np.array([score for _, score, _ in model.pieces], dtype=np.float32)
    sizes = np.array([len(name) for name, _, _ in model.pieces], dtype=np.int64)
    is_symbol = types == USER_DEFINED
    scores[is_symbol] = (0.1 * (sizes[is_symbol] - 1)).astype(np.float32)
    normal = scores[types == NORMAL]
    least = np.fmin.reduce(normal, initial=np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        return np.append(scores, np.float32(least - UNKNOWN_PENALTY))


def _byte_ids(model: PathModel, names: Sequence[bytes]) -> NDArray[np.uint32]:
    """Returns the id of the piece of each byte; NO_PIECE without fallback to bytes."""
    ids = {name: id_ for id_, name in enumerate(names) if model.pieces[id_][2] == BYTE}
    found = [ids.get(b"<0x%02X>" % byte, NO_PIECE) for byte in range(256)]
    if model.byte_fallback and NO_PIECE in found:
        raise GateError("it falls back to bytes, and some byte is no piece")
    return np.array(found, dtype=np.uint32)


def _parts(charsmap: bytes) -> tuple[NDArray[np.uint32], bytes]:
    """Returns the double array of the replacements, and the replacements."""
    if not charsmap:
        return np.zeros(0, dtype=np.uint32), b""
    units, replacements = Charsmap(base64.b64encode(charsmap).decode()).parts
    try:
        replacements.decode()
    except UnicodeDecodeError:
        raise GateError("a replacement of its normalizer is no UTF-8") from None
    if not units:
        raise GateError("the table of its normalizer cannot be read")
    return np.array(units, dtype=np.uint32), replacements


def _beginnings(units: NDArray[np.uint32], symbols: Sequence[bytes]) -> NDArray[np.uint8]:
    """Returns a bit for each two bytes: a key or a user-defined piece may begin with them, or is
    the first byte alone."""
    found = np.zeros((256, 256), dtype=np.bool_)
    for symbol in filter(None, symbols):
        found[symbol[0], symbol[1] if len(symbol) > 1 else slice(None)] = True
    if len(units):
        for byte, node, is_key in _children(units, _offset(int(units[0]))):
            if is_key:
                found[byte] = True
            for second, _, _ in _children(units, node):
                found[byte, second] = True
    return np.packbits(found.reshape(-1), bitorder="little")


def _children(units: NDArray[np.uint32], node: int) -> list[tuple[int, int, bool]]:
    """Returns (byte, node behind it, whether a key ends there) of each child of a node."""
    places = node ^ np.arange(256)
    places = places[places < len(units)]
    children = units[places]
    is_child = children & np.uint32(_LEAF | 255) == (places ^ node).astype(np.uint32)
    rows = zip(places[is_child].tolist(), children[is_child].tolist(), strict=True)
    return [(at ^ node, at ^ _offset(unit), bool(unit >> 8 & 1)) for at, unit in rows]


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 512) >> 6)
