"""Answers that were found before, one small file each, in a directory of the user's.

TOKPAR_CACHE       the directory, or empty for none
XDG_CACHE_HOME     holds it as `tokpar` where TOKPAR_CACHE is not set; else it is ~/.cache/tokpar

A directory that cannot be written, or a file that is not what it should be, is no error: then it is
as if nothing had been found."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

VARIABLE = "TOKPAR_CACHE"


def digest(parts: Iterable[bytes | str]) -> str:
    """A hash of the parts; each is hashed by itself, so that no two lists of parts run together."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def directory(kind: str = "agreement") -> Path | None:
    """Where the answers of one kind are kept; None for nowhere."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) / kind if chosen else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tokpar" / kind
    try:
        return Path.home() / ".cache" / "tokpar" / kind
    except RuntimeError:  # nobody's home
        return None


def recall(key: str) -> dict[str, int] | None:
    """The numbers that were kept under this key, or None."""
    folder = directory()
    if folder is None:
        return None
    try:
        kept = json.loads((folder / f"{key}.json").read_bytes())
    except (OSError, ValueError):
        return None
    match kept:
        case {"key": str(name), "found": dict(found)} if name == key:
            return found if all(type(number) is int for number in found.values()) else None
    return None


def remember(key: str, numbers: Mapping[str, int]) -> None:
    """Keep the numbers under this key: the whole file at once, or nothing."""
    folder = directory()
    if folder is not None:
        write(folder, key, {"key": key, "found": dict(numbers)})


def write(folder: Path, key: str, content: object) -> None:
    """Write the file of a key as JSON, at once or not at all."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(name, folder / f"{key}.json")
        except OSError:
            os.unlink(name)
            raise
