"""A cache of results on disk: one small file for each result, in a directory of the user.

TOKPAR_CACHE       the directory; empty: no cache
XDG_CACHE_HOME     without TOKPAR_CACHE, the directory is `tokpar` in here; without both, it is
                   ~/.cache/tokpar

A directory that cannot be written is no error, nor is a damaged file: both count as a miss."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tokpar.foreign_errors import ignored_os_errors

VARIABLE = "TOKPAR_CACHE"


def digest(parts: Iterable[bytes | str]) -> str:
    """Returns a hash of the parts. Each part is hashed alone first, so that two different lists of
    parts with the same concatenation have different hashes."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def directory(kind: str) -> Path | None:
    """Returns the directory for the results of one kind, or None without a cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) / kind if chosen else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tokpar" / kind
    try:
        return Path.home() / ".cache" / "tokpar" / kind
    except RuntimeError:  # the user has no home directory
        return None


def write(folder: Path, key: str, content: object) -> None:
    """Writes the file of a key as JSON: the whole file at once, or nothing. Ignores OSError."""
    with ignored_os_errors():
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(name, folder / f"{key}.json")
        except BaseException:
            os.unlink(name)
            raise
