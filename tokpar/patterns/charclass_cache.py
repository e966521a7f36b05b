"""A disk cache of the members of character classes, keyed by classes, engine and engine version.

A file is a hit only if it is for the same key, is whole, and the engine confirms every code point
at which a class begins or ends. On a miss the engine classifies all code points again."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.patterns.charclass_members import (
    CODE_POINTS,
    SURROGATES,
    is_plain,
    match_chars,
    members,
)
from tokpar.patterns.class_tables import Ranges
from tokpar.process.disk_cache import digest, read, write
from tokpar.process.interrupts import raise_foreign

KIND = "classes"
_FORMAT = "3"
_PACKAGES = {"fancy-regex": "tiktoken", "oniguruma": "tokenizers", "regex": "regex"}


def cached_members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
    """As `members`, from the disk cache on a hit."""
    wanted = sorted(set(sources))
    class_sources = [source for source in wanted if not is_plain(source)]
    installed = _version(engine)
    if installed is None or not class_sources:
        return members(wanted, engine)
    key = digest([_FORMAT, engine, installed, *class_sources])
    found = _read(key, class_sources, engine)
    if found is None:
        found = members(class_sources, engine)
        arrays = {f"[{k}]": np.array(found[each], np.int64) for k, each in enumerate(class_sources)}
        write(KIND, key, arrays)
    return members((source for source in wanted if is_plain(source)), engine) | found


def _version(engine: str) -> str | None:
    """The installed version of the package that contains the engine, or None."""
    try:
        return version(_PACKAGES[engine])
    except (KeyError, PackageNotFoundError):
        return None


def _read(key: str, class_sources: list[str], engine: str) -> dict[str, Ranges] | None:
    """The classes of a key if its file passes all checks, else None."""
    arrays = read(KIND, key)
    if arrays is None:
        return None
    found = [_ranges(array) for array in arrays.values()]
    if len(found) != len(class_sources) or None in found:
        return None
    classes = {source: each or () for source, each in zip(class_sources, found, strict=True)}
    try:
        right = all(_agrees(source, engine, each) for source, each in classes.items())
    except Exception as error:  # each engine has its own error types
        raise_foreign(error)
        return None
    return classes if right else None


def _ranges(array: NDArray[Any]) -> Ranges | None:
    """The ranges that a stored array has; None unless they are ascending, disjoint and without
    surrogates."""
    if array.dtype != np.int64 or len(array) % 2:
        return None
    low, high = array[::2], array[1::2]
    has_order = (
        (np.append(-1, high[:-1])[: len(low)] < low).all()
        and (low <= high).all()
        and (high < CODE_POINTS).all()
    )
    if not has_order or ((low <= SURROGATES[1]) & (high >= SURROGATES[0])).any():
        return None
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


def _agrees(source: str, engine: str, ranges: Ranges) -> bool:
    """True if the engine agrees with `ranges` on both sides of every edge."""
    near = {p for low, high in ranges for p in (low - 1, low, high, high + 1)} | {0x20, 0x61}
    points = sorted(
        p for p in near if 0 <= p < CODE_POINTS and not SURROGATES[0] <= p <= SURROGATES[1]
    )
    edges = np.array([0] + [p for low, high in ranges for p in (low, high + 1)])
    inside = np.searchsorted(edges, points, side="right") % 2 == 0
    return np.array_equal(match_chars(source, engine, "".join(map(chr, points))), inside)
