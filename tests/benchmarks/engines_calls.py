"""The calls of other engines for one text and for many, by package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokpar.arrays import IdArray


class Calls(NamedTuple):
    """One object's fastest calls whose results have the ids in arrays. `rows`: the arrays of a
    result of `many`."""

    one: Callable[[str], Any]
    many: Callable[[list[str]], Any]
    rows: Callable[[Any], Sequence[IdArray]]


def _flat(data: Any, offsets: Any) -> list[IdArray]:
    edges = np.asarray(offsets).astype(np.int64)
    return np.split(np.asarray(data), edges[1:-1])


def _fastokens(file: Path) -> Calls:
    """Of fastokens, and of snaptokens, which has the same calls."""
    own: Any = import_module("fastokens").Tokenizer.from_json_str(file.read_text("utf-8"))
    return _of_fastokens(own)


def _snaptokens(file: Path) -> Calls:
    return _of_fastokens(import_module("snaptokens").Tokenizer.from_file(str(file)))


def _of_fastokens(own: Any) -> Calls:
    def many(texts: list[str]) -> tuple[IdArray, IdArray]:
        ids, offsets = own.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)

    return Calls(lambda text: many([text])[0], many, lambda found: _flat(*found))


def _gigatoken(file: Path) -> Calls:
    own: Any = import_module("gigatoken").Tokenizer.from_json(file.read_text("utf-8"))

    def many(texts: list[str]) -> tuple[IdArray, IdArray]:
        layout = own.encode_batch(texts).layout
        return np.asarray(layout.content.data), np.asarray(layout.offsets)

    return Calls(lambda text: many([text])[0], many, lambda found: _flat(*found))


def _tokie(file: Path) -> Calls:
    own: Any = import_module("tokie").Tokenizer.from_json(str(file))
    own.no_truncation()
    own.no_padding()

    def many(texts: list[str]) -> Any:
        return own.encode_batch_flat(texts, add_special_tokens=False)

    def rows(found: Any) -> list[IdArray]:
        return np.split(found[0], np.cumsum(found[1].astype(np.int64))[:-1])

    return Calls(lambda text: many([text])[0], many, rows)


def _tuetoken(file: Path) -> Calls:
    own: Any = import_module("tuetoken").Tokenizer(str(file))

    def many(texts: list[str]) -> Any:
        return own.encode_ordinary_to_buffer(texts)

    return Calls(
        lambda text: np.frombuffer(own.encode_to_bytes(text), np.uint32),
        many,
        lambda found: _flat(found["data"], found["offsets"]),
    )


ENGINES: dict[str, Callable[[Path], Calls]] = {
    "fastokens": _fastokens,
    "gigatoken": _gigatoken,
    "snaptokens": _snaptokens,
    "tokie": _tokie,
    "tuetoken": _tuetoken,
}
