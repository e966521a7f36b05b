"""The field of a row that holds the text: which field is taken, and its value in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS = ("text", "content", "prompt", "body", "document", "code")
"""Names of the field that holds the text of a row; the first one that the row has is used."""
RULE = f"the first of {', '.join(FIELDS)}, or the only string among numbers"
"""Which field is taken if the caller names none."""


def choose_field(kinds: Mapping[str, str]) -> str | None:
    """Returns the field that holds the text, or None if the row does not tell.

    `kinds`: the fields of a row -> "str", "number", or the name of another type. A string that is
    no name of `FIELDS` is taken only beside numbers: beside a list or an object, which may hold the
    text, it may be the id of the document."""
    for name in FIELDS:
        if kinds.get(name) == "str":
            return name
    strings = [name for name, kind in kinds.items() if kind == "str"]
    others = set(kinds.values()) - {"str", "number"}
    return strings[0] if len(strings) == 1 and not others else None


def kind_of(value: Any) -> str:
    """Returns the kind of a value of JSON, as `choose_field` takes it."""
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def path_of(field: str) -> list[str]:
    """Returns the names that lead to a nested value: "data.text" -> ["data", "text"]."""
    return field.split(".")


def value_of(row: Mapping[str, Any], field: str) -> Any:
    """Returns the value of a field, or None. "data.text" is the field of this very name, or else
    the field "text" of the object "data"."""
    value = row.get(field)
    if value is None and "." in field:
        value = row
        for name in path_of(field):
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def shown_fields(kinds: Mapping[str, str], most: int = 8) -> str:
    """Returns the fields of a row for an error message: "'id' (int), 'messages' (list)"."""
    shown = [f"{name!r} ({kind})" for name, kind in list(kinds.items())[:most]]
    shown += ["..."] if len(kinds) > most else []
    return ", ".join(shown) or "none"
