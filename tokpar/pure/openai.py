"""Regexes and special tokens of tiktoken's own encodings, which ``.tiktoken`` files do not hold,
and `tiktoken_ext.openai_public` only in functions that download a vocabulary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class KnownEncoding:
    """What a tiktoken encoding has besides its ranks."""

    pattern: str
    special_tokens: Mapping[str, int]


def _read_encoding(entry: Mapping[str, Any]) -> KnownEncoding:
    """`reserved`: inclusive ranges of ids that have tokens named after them."""
    ids = (id_ for low, high in entry["reserved"] for id_ in range(low, high + 1))
    reserved = {f"<|reserved_{id_}|>": id_ for id_ in ids}
    return KnownEncoding(entry["pattern"], {**entry["special_tokens"], **reserved})


_STORED = (files("tokpar.pure") / "encodings.json").read_text(encoding="ascii")
KNOWN_ENCODINGS: Mapping[str, KnownEncoding] = {
    name: _read_encoding(entry) for name, entry in json.loads(_STORED).items()
}
"""The encodings of tiktoken, by name."""
