"""Readers for parts of a ``tokenizer.json`` that only tokenizers in Python run. Each returns a
valid value or raises FileFormatError that names the part."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tokpar import FileFormatError
from tokpar.formats.json_parts import Json, kind, stages
from tokpar_pure.patterns import AnyPattern, compile_pattern

Choice = TypeVar("Choice", bound=str)
Stage = TypeVar("Stage")


def interpret_stages(
    part: Any, what: str, members: str, readers: Mapping[str, Callable[[Json, str], Stage]]
) -> list[Stage]:
    """Returns the stages, each made by the reader of its kind. `what`: the part, for errors."""
    found = []
    for stage in stages(part, what, members):
        where = f"{what} {kind(stage)}"
        if kind(stage) not in readers:
            raise FileFormatError(f"{where} is not supported here")
        found.append(readers[kind(stage)](stage, where))
    return found


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


def pattern_of(part: Json, where: str) -> str | AnyPattern:
    """Returns the "pattern" of a part: a `str` to search for, or a compiled regex."""
    match part.get("pattern"):
        case {"String": str(wanted)} if wanted:
            return wanted
        case {"Regex": str(pattern)} if pattern:
            try:
                return compile_pattern(pattern, "oniguruma")
            except FileFormatError as error:
                raise FileFormatError(f"{where}: {error}") from None
    raise FileFormatError(f"{where}: pattern {part.get('pattern')!r} is no String or Regex")
