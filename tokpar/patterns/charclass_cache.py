"""The members of classes, kept on disk by what was asked and of which version of which engine.

A file is no authority. It counts only if it is about the same question, if it is whole, and if the
engine says the same of every code point at which a class begins or ends; else all is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from tokpar.parity.result_cache import digest, directory, write
from tokpar.patterns.charclass_members import CODE_POINTS, SURROGATES, is_plain, matched, members
from tokpar.patterns.class_tables import Ranges

KIND = "classes"
_FORMAT = "1"
_PACKAGES = {"fancy-regex": "tiktoken", "oniguruma": "tokenizers", "regex": "regex"}


def kept_members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
    """As `members`, from the disk if it is there."""
    wanted = sorted(set(sources))
    asked = [source for source in wanted if not is_plain(source)]
    folder = directory(KIND)
    installed = _version(engine)
    if folder is None or installed is None or not asked:
        return members(wanted, engine)
    key = digest([_FORMAT, engine, installed, *asked])
    found = _read((folder / f"{key}.json"), key, asked, engine)
    if found is None:
        found = members(asked, engine)
        text = _written(found)
        write(folder, key, {"key": key, "hash": digest([text]), "classes": text})
    return members((source for source in wanted if is_plain(source)), engine) | found


def _version(engine: str) -> str | None:
    """The installed version of the package that carries the engine."""
    try:
        return version(_PACKAGES[engine])
    except (KeyError, PackageNotFoundError):
        return None


def _written(found: Mapping[str, Ranges]) -> str:
    return json.dumps({source: found[source] for source in sorted(found)}, separators=(",", ":"))


def _read(path: object, key: str, asked: list[str], engine: str) -> dict[str, Ranges] | None:
    """What a file says, if it may be believed."""
    try:
        with open(str(path), encoding="utf-8") as file:
            kept = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    match kept:
        case {"key": str(name), "hash": str(seal), "classes": str(text)} if name == key:
            if digest([text]) != seal:
                return None
            found = _parsed(text)
            if found is None or sorted(found) != asked:
                return None
            try:
                right = all(_agrees(source, engine, found[source]) for source in asked)
            except Exception:  # each engine has errors of its own
                return None
            return found if right else None
    return None


def _parsed(text: str) -> dict[str, Ranges] | None:
    """Classes whose ranges are ascending and apart, and hold no surrogate; else None."""
    try:
        found = {
            str(source): tuple((int(low), int(high)) for low, high in spans)
            for source, spans in json.loads(text).items()
        }
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    for spans in found.values():
        before = -1
        for low, high in spans:
            apart = high < SURROGATES[0] or low > SURROGATES[1]
            if not before < low <= high < CODE_POINTS or not apart:
                return None
            before = high
    return found


def _agrees(source: str, engine: str, ranges: Ranges) -> bool:
    """The engine says the same at both sides of every edge of these ranges."""
    near = {p for low, high in ranges for p in (low - 1, low, high, high + 1)} | {0x20, 0x61}
    points = sorted(
        p for p in near if 0 <= p < CODE_POINTS and not SURROGATES[0] <= p <= SURROGATES[1]
    )
    edges = np.array([0] + [p for low, high in ranges for p in (low, high + 1)])
    inside = np.searchsorted(edges, points, side="right") % 2 == 0
    return np.array_equal(matched(source, engine, "".join(map(chr, points))), inside)
