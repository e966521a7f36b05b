"""Checks that an engine returns the same ids as the library that its vocabulary was made for.

The check runs when an adapter is loaded. Its result is cached on disk, so it runs once for each
vocabulary, settings and versions. It is a test on many texts, no proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from unicodedata import unidata_version

import numpy as np

from tokpar.plugin.tokenizer import TokenizerAdapter, disk_cache

EDITION = "4"
"""Part of the key of every cached result. Change it when the texts or the comparisons change."""
KIND = "agreement"
"""The results' directory within the cache directory of the user."""
TEXTS, APART = "texts", "apart"  # counts of texts with equal ids, of code points with other ids
UNICODE = "13"  # the Unicode version of the oldest supported Python

Slices = Callable[[TokenizerAdapter, str], list[str]]
"""Cuts a text into slices, each of which has the same ids alone as within the whole text. Returns
the text as one slice if it cannot be cut."""
Pair = tuple[TokenizerAdapter, TokenizerAdapter]


@dataclass(frozen=True)
class FileTexts:
    """Texts made from a tokenizer file.

    `texts`: returns the texts. `probing`: takes the texts, and returns an adapter and a reference
    of another file, with the same stages and a vocabulary whose ids show where text is split; or
    None if there is no such file."""

    texts: Callable[[], Sequence[str]] = tuple
    probing: Callable[[Sequence[str]], Pair | None] = lambda texts: None


def release(package: str) -> str:
    """Returns the name and version of an installed package: "tokenizers 0.23.3"."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # run from a source tree
        return f"{package} (version unknown)"


def require_agreement(
    adapter: TokenizerAdapter,
    reference: Callable[[], TokenizerAdapter],
    *,
    key: Iterable[bytes | str],
    engine: str,
    library: str,
    advice: str = "",
    slices: Slices = lambda _, text: [text],
    file_texts: FileTexts = FileTexts(),
) -> str:
    """Checks that the adapter and the reference return the same ids for many texts. Takes some
    seconds, unless the result is cached.

    Returns the result in words, for `Report.agreement`: "same ids as tokenizers 0.23.3 on 8,012
    texts". Raises EngineError with a small text whose ids differ. Code points that Unicode 13 does
    not assign raise no error; the result says how many of them have other ids.

    `reference`: returns an adapter of the same vocabulary and settings that uses the original
    library. It is not called on a cache hit.
    `key`: everything that ids depend on: the bytes of the file, the settings. `engine`, `library`:
    the releases of both packages, as `release` returns them. The cache key has all three.
    `advice`: a line for the error that says what a user can do.
    `slices`: cuts a text at cuts that are certified for the reference. The ids of the slices are
    compared with the ids of a long text that the engine may divide by itself.
    `file_texts`: texts made from the tokenizer file."""
    parts = (EDITION, release("tokpar"), engine, library, unidata_version)
    name = disk_cache.digest([*parts, *key])
    found = recall(name)
    if found is None or found.keys() != {TEXTS, APART}:
        from tokpar_engines.comparison import Comparison  # brings hypothesis along

        found = Comparison(adapter, reference(), engine, library, advice, slices).run(file_texts)
        remember(name, found)
    said = f"same ids as {library} on {found[TEXTS]:,} texts"
    if not found[APART]:
        return said
    points = f"{found[APART]:,} code point" + "s" * (found[APART] != 1)
    return f"{said}, but not for {points} that Unicode {UNICODE} lacks"


def recall(key: str) -> dict[str, int] | None:
    """Returns the numbers that are cached under this key, or None."""
    kept = disk_cache.read(KIND, key)
    if kept is None or any(array.dtype != np.int64 or len(array) != 1 for array in kept.values()):
        return None
    return {name: int(array[0]) for name, array in kept.items()}


def remember(key: str, numbers: Mapping[str, int]) -> None:
    """Caches the numbers under this key. Writes the whole file at once, or nothing."""
    arrays = {name: np.array([number], np.int64) for name, number in numbers.items()}
    disk_cache.write(KIND, key, arrays)
