"""Small readers for the JSON parts of a ``tokenizer.json``: each gives a value or refuses it.

Their FileFormatError names the part, not the file; whoever opened the file adds its path."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from tokpar.errors import FileFormatError
from tokpar.pure.patterns import AnyPattern, compile_pattern

Json = Mapping[str, Any]
Choice = TypeVar("Choice", bound=str)
Stage = TypeVar("Stage")


def kind(part: object) -> str:
    """The type of a part, or the part itself where it has none."""
    return str(part.get("type")) if isinstance(part, Mapping) else repr(part)


def stages(part: Any, what: str, members: str) -> Iterator[Json]:
    """The stages of a Sequence, of Sequences in it too, or the one stage there is, or none."""
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
    """A setting that is true or false."""
    value = part.get(key, default)
    if not isinstance(value, bool):
        raise FileFormatError(f"{where}: expected true or false as {key}, got {value!r}")
    return value


def string(part: Json, key: str, where: str, default: str | None = None) -> str:
    """A setting that is a string."""
    value = part.get(key, default)
    if not isinstance(value, str):
        raise FileFormatError(f"{where}: expected a string as {key}, got {value!r}")
    return value


def number(part: Json, key: str, where: str, default: int | None = None) -> int:
    """A setting that counts something."""
    value = part.get(key, default)
    if type(value) is not int or value < 0:
        raise FileFormatError(f"{where}: expected a count as {key}, got {value!r}")
    return value


def character(part: Json, key: str, where: str) -> str:
    """A setting that is one character."""
    value = string(part, key, where)
    if len(value) != 1:
        raise FileFormatError(f"{where}: expected one character as {key}, got {value!r}")
    return value


def choice(
    part: Json, key: str, choices: tuple[Choice, ...], where: str, default: Choice | None = None
) -> Choice:
    """A setting that is one of the words `choices`."""
    value = part.get(key, default)
    for word in choices:
        if word == value:
            return word
    raise FileFormatError(f"{where}: {key} = {value!r} is not supported here, only {choices}")


def pattern_of(part: Json, where: str) -> str | AnyPattern:
    """The "pattern" of a part: a string that is looked for, or a regex."""
    match part.get("pattern"):
        case {"String": str(wanted)} if wanted:
            return wanted
        case {"Regex": str(pattern)} if pattern:
            try:
                return compile_pattern(pattern, "oniguruma")
            except FileFormatError as error:
                raise FileFormatError(f"{where}: {error}") from None
    raise FileFormatError(f"{where}: pattern {part.get('pattern')!r} is no String or Regex")
