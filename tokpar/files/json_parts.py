"""Small readers for the JSON parts of a ``tokenizer.json``. Each returns a valid value or raises
FileFormatError.

The error names the part. The function that opens the file adds its path."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from tokpar.errors import FileFormatError

Json = Mapping[str, Any]
Choice = TypeVar("Choice", bound=str)


def kind(part: object) -> str:
    """Returns the "type" of a part as a string; for a value that is no object, its `repr`."""
    return str(part.get("type")) if isinstance(part, Mapping) else repr(part)


def stages(part: Any, what: str, members: str) -> Iterator[Json]:
    """Yields the stages of a part: of a Sequence and all Sequences inside it, or the one stage that
    the part is. None has no stages. `members`: the key of the list in a Sequence."""
    if part is None:
        return
    if not isinstance(part, Mapping):
        raise FileFormatError(f"{what}: expected an object, got {part!r}")
    if kind(part) != "Sequence":
        yield part
        return
    if not isinstance(part.get(members), list):
        raise FileFormatError(f"{what} Sequence: expected a list of {members}")
    for member in part[members]:
        if member is None:
            raise FileFormatError(f"{what} Sequence: expected an object, got None")
        yield from stages(member, what, members)


def flag(part: Json, key: str, where: str, default: bool | None = None) -> bool:
    """Returns a setting that is true or false."""
    value = part.get(key, default)
    if not isinstance(value, bool):
        raise FileFormatError(f"{where}: expected true or false as {key}, got {value!r}")
    return value


def string(part: Json, key: str, where: str, default: str | None = None) -> str:
    """Returns a setting that is a string."""
    value = part.get(key, default)
    if not isinstance(value, str):
        raise FileFormatError(f"{where}: expected a string as {key}, got {value!r}")
    return value


def number(part: Json, key: str, where: str, default: int | None = None) -> int:
    """Returns a setting that is a count: an int from 0 on."""
    value = part.get(key, default)
    if type(value) is not int or value < 0:
        raise FileFormatError(f"{where}: expected a count as {key}, got {value!r}")
    return value


def character(part: Json, key: str, where: str) -> str:
    """Returns a setting that is one character."""
    value = string(part, key, where)
    if len(value) != 1:
        raise FileFormatError(f"{where}: expected one character as {key}, got {value!r}")
    return value


def choice(
    part: Json, key: str, choices: tuple[Choice, ...], where: str, default: Choice | None = None
) -> Choice:
    """Returns a setting that is one of the words `choices`."""
    value = part.get(key, default)
    for word in choices:
        if word == value:
            return word
    raise FileFormatError(f"{where}: {key} = {value!r} is not supported here, only {choices}")
