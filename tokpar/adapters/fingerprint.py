"""A digest of everything that decides the ids of a tokenizer. Caches use the digest as a key."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def fingerprint_of(engine: str, version: str, parts: Mapping[str, Any]) -> str:
    """Returns the SHA-256, 64 hexadecimal digits, of an engine, its version and the parts it was
    built from.

    Equal parts give equal digests in every process. `parts` has JSON values, bytes or None.

    >>> fingerprint_of("tokenizers", "0.23.3", {"model": b"a"})[:8]
    '40ea5a31'
    """
    written = json.dumps(
        {"engine": engine, "version": version, "parts": dict(parts)},
        sort_keys=True,
        separators=(",", ":"),
        default=_digest,
    )
    return hashlib.sha256(written.encode()).hexdigest()


def _digest(part: object) -> str:
    if isinstance(part, bytes):
        return "sha256:" + hashlib.sha256(part).hexdigest()
    raise TypeError(f"a fingerprint is made of JSON and bytes, got {type(part).__name__}")
