"""JSON from strangers: objects without repeated names, and values of the expected type only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tokpar.certificate.check_context import RefusedError, require

Json = Mapping[str, Any]
MOST_ID = (1 << 32) - 1


def parse_config(config: str | Json) -> Json:
    """Returns a JSON object, given as JSON or parsed. Refused if the JSON is malformed."""
    try:
        data = json.loads(config, object_pairs_hook=_object) if isinstance(config, str) else config
    except (ValueError, RecursionError) as error:
        raise RefusedError("file", f"the tokenizer's file is no JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise RefusedError("file", "the tokenizer's file is no JSON object")
    return data


def digest_of(config: str | Json) -> str:
    """Returns the sha256 of a JSON object. Refused if it cannot be written as JSON."""
    try:
        text = config if isinstance(config, str) else json.dumps(config)
    except (ValueError, TypeError, RecursionError) as error:
        raise RefusedError("file", f"the tokenizer's file is no JSON: {error}") from None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object names one member twice")
    return found


def object_in(data: Json, name: str) -> Json:
    """Returns the object `name` of an object. Refused if there is none."""
    found = data.get(name)
    if not isinstance(found, Mapping):
        raise RefusedError("file", f"{name!r} of the file is no object")
    return found


def list_in(data: Json, name: str) -> list[Any]:
    """Returns the list `name` of an object; [] if it is null or missing. Refused otherwise."""
    found = data.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise RefusedError("file", f"{name!r} of the file is no list")
    return found


def text_in(data: Json, name: str) -> str | None:
    """Returns the string `name` of an object; None if it is null or missing."""
    found = data.get(name)
    require(found is None or isinstance(found, str), "file", f"{name!r} of the file is no string")
    return found


def flag_in(data: Json, name: str, default: bool) -> bool:
    """Returns the flag `name` of an object, or its default if it is null or missing."""
    found = data.get(name)
    if found is None:
        return default
    if not isinstance(found, bool):
        raise RefusedError("file", f"{name!r} of the file is neither true nor false")
    return found


def is_id(value: object) -> bool:
    """True for a whole number of 32 bits."""
    return type(value) is int and 0 <= value <= MOST_ID
