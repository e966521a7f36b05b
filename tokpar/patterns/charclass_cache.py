"""A disk cache of the members of character classes, keyed by classes, engine and engine version.

A cache file is not trusted. A file is a hit only if it is for the same key, is complete, and the
engine confirms every code point at which a class begins or ends. On a miss the engine classifies
all code points again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from tokpar.disk_cache import digest, directory, write
from tokpar.foreign_errors import raise_foreign
from tokpar.patterns.charclass_members import (
    CODE_POINTS,
    SURROGATES,
    is_plain,
    match_chars,
    members,
)
from tokpar.patterns.class_tables import Ranges

KIND = "classes"
_FORMAT = "1"
_PACKAGES = {"fancy-regex": "tiktoken", "oniguruma": "tokenizers", "regex": "regex"}


def cached_members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
    """As `members`, from the disk cache on a hit."""
    wanted = sorted(set(sources))
    class_sources = [source for source in wanted if not is_plain(source)]
    folder = directory(KIND)
    installed = _version(engine)
    if folder is None or installed is None or not class_sources:
        return members(wanted, engine)
    key = digest([_FORMAT, engine, installed, *class_sources])
    found = _read((folder / f"{key}.json"), key, class_sources, engine)
    if found is None:
        found = members(class_sources, engine)
        text = _to_json(found)
        write(folder, key, {"key": key, "hash": digest([text]), "classes": text})
    return members((source for source in wanted if is_plain(source)), engine) | found


def _version(engine: str) -> str | None:
    """The installed version of the package that contains the engine, or None."""
    try:
        return version(_PACKAGES[engine])
    except (KeyError, PackageNotFoundError):
        return None


def _to_json(classes: Mapping[str, Ranges]) -> str:
    return json.dumps(
        {source: classes[source] for source in sorted(classes)}, separators=(",", ":")
    )


def _read(
    path: object, key: str, class_sources: list[str], engine: str
) -> dict[str, Ranges] | None:
    """The classes in a cache file if the file passes all checks, else None."""
    try:
        with open(str(path), encoding="utf-8") as file:
            kept = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise_foreign(error)
        return None
    match kept:
        case {"key": str(name), "hash": str(seal), "classes": str(text)} if name == key:
            if digest([text]) != seal:
                return None
            found = _parse(text)
            if found is None or sorted(found) != class_sources:
                return None
            try:
                right = all(_agrees(source, engine, found[source]) for source in class_sources)
            except Exception as error:  # each engine has its own error types
                raise_foreign(error)
                return None
            return found if right else None
    return None


def _parse(text: str) -> dict[str, Ranges] | None:
    """Parse the text of a cache file into classes, or return None.

    Ranges must be ascending, disjoint and without surrogates."""
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
    """True if the engine agrees with `ranges` on both sides of every edge."""
    near = {p for low, high in ranges for p in (low - 1, low, high, high + 1)} | {0x20, 0x61}
    points = sorted(
        p for p in near if 0 <= p < CODE_POINTS and not SURROGATES[0] <= p <= SURROGATES[1]
    )
    edges = np.array([0] + [p for low, high in ranges for p in (low, high + 1)])
    inside = np.searchsorted(edges, points, side="right") % 2 == 0
    return np.array_equal(match_chars(source, engine, "".join(map(chr, points))), inside)
