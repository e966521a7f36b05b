"""Readers for parts of a ``tokenizer.json`` that only tokenizers in Python run. Each returns a
valid value or raises FileFormatError that names the part."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tokpar.errors import FileFormatError
from tokpar.files.json_parts import Json, kind, stages
from tokpar_pure.patterns import AnyPattern, compile_pattern

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
