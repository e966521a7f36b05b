"""Reads SentencePiece ``.model`` files: a serialized ModelProto of sentencepiece_model.proto."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tokpar.plugin.tokenizer import PathModel

# Of sentencepiece_model.proto: TrainerSpec.ModelType and SentencePiece.Type.
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4
NORMAL, USER_DEFINED, UNUSED = 1, 4, 5
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3


@dataclass(frozen=True)
class Model:
    """How a model file turns texts into pieces. `pieces`: (text, type) by id."""

    kind: int
    pieces: tuple[tuple[str, int], ...]
    normalizer: str
    has_char_map: bool
    dummy_prefix: bool
    removes_spaces: bool
    escapes_spaces: bool
    space_is_suffix: bool


def read_model(data: bytes) -> Model:
    """The model in a serialized ModelProto. Raises ValueError for other bytes."""
    parts = list(fields(data))
    trainer, normalizer = _specs(parts)
    return Model(
        kind=trainer.get(3, UNIGRAM),
        pieces=tuple((name.decode("utf-8", "replace"), kind) for name, _, kind in _pieces(parts)),
        normalizer=normalizer.get(1, b"").decode("utf-8", "replace"),
        has_char_map=bool(normalizer.get(2)),
        dummy_prefix=bool(normalizer.get(3, True)),
        removes_spaces=bool(normalizer.get(4, True)),
        escapes_spaces=bool(normalizer.get(5, True)),
        space_is_suffix=bool(trainer.get(24, False)),
    )


def read_kind(data: bytes) -> int:
    """The kind of the model in a serialized ModelProto, without its pieces. Raises ValueError."""
    start = size = 0
    while start < len(data) and data[start] == _PIECE << 3 | 2:  # hundreds of thousands come first
        size, start = _varint(data, start + 1)
        start += size
    kind: int = _specs([*fields(data[start:])])[0].get(3, UNIGRAM)
    return kind


def read_path_model(data: bytes) -> PathModel:
    """What the compiled call needs of a model. Raises ValueError for other bytes."""
    parts = list(fields(data))
    trainer, normalizer = _specs(parts)
    return PathModel(
        pieces=[*_pieces(parts)],
        charsmap=normalizer.get(2, b""),
        byte_fallback=bool(trainer.get(35, False)),
        add_dummy_prefix=bool(normalizer.get(3, True)),
        remove_extra_whitespaces=bool(normalizer.get(4, True)),
        escape_whitespaces=bool(normalizer.get(5, True)),
        space_is_suffix=bool(trainer.get(24, False)),
        kind=trainer.get(3, UNIGRAM),
    )


def _specs(parts: list[tuple[int, Any]]) -> tuple[dict[int, Any], dict[int, Any]]:
    """The fields of TrainerSpec and of NormalizerSpec; one message may come in several parts."""
    specs: dict[int, dict[int, Any]] = {_TRAINER: {}, _NORMALIZER: {}}
    for number, value in parts:
        if number in specs:
            specs[number] |= fields(value)
    return specs[_TRAINER], specs[_NORMALIZER]


def _pieces(parts: list[tuple[int, Any]]) -> Iterator[tuple[bytes, float, int]]:
    """The bytes, score and type of each piece."""
    for number, value in parts:
        if number == _PIECE:
            found = dict(fields(value))
            (score,) = struct.unpack("<f", found.get(2, bytes(4)))
            yield found.get(1, b""), score, found.get(3, NORMAL)


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field of a protocol buffer message; a value is an int, or undecoded
    bytes.

    b"\\x08\\x05\\x12\\x01a" -> (1, 5), (2, b"a"). Raises ValueError for other bytes."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind, size = key & 7, 0
        if kind == 0:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == 2:
            size, place = _varint(message, place)
        size = {1: 8, 2: size, 5: 4}.get(kind, len(message))
        if place + size > len(message):
            raise ValueError(f"no protocol buffer: a field of kind {kind} at byte {place}")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """The number at a place, in groups of seven bits with the lowest group first; and the place
    behind it."""
    value = shift = 0
    for stop in range(place, min(place + 10, len(message))):
        byte = message[stop]
        value |= (byte & 127) << shift
        if byte < 128:
            return value, stop + 1
        shift += 7
    raise ValueError(f"no protocol buffer: the number at byte {place} has no end")
