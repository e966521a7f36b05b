"""The regexes and special tokens of tiktoken's own encodings.

``.tiktoken`` files do not have them. `tiktoken_ext.openai_public` has them only inside functions
that download a vocabulary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class KnownEncoding:
    """The settings of a tiktoken encoding that are not in its ``.tiktoken`` file."""

    pattern: str
    special_tokens: Mapping[str, int]


def _read_encoding(entry: Mapping[str, Any]) -> KnownEncoding:
    """Returns an encoding of ``encodings.json``. Its "reserved" lists inclusive ranges of ids; each
    of these ids has a special token that is named after the id."""
    ids = (id_ for low, high in entry["reserved"] for id_ in range(low, high + 1))
    reserved = {f"<|reserved_{id_}|>": id_ for id_ in ids}
    return KnownEncoding(entry["pattern"], {**entry["special_tokens"], **reserved})


_STORED = (files("tokpar") / "data" / "encodings.json").read_text(encoding="ascii")
KNOWN_ENCODINGS: Mapping[str, KnownEncoding] = {
    name: _read_encoding(entry) for name, entry in json.loads(_STORED).items()
}
"""The encodings of tiktoken, by name."""
