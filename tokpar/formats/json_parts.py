"""Small readers for the JSON parts of a ``tokenizer.json``. Each returns a valid value or raises
FileFormatError.

The error names the part. The function that opens the file adds its path."""

from collections.abc import Iterator, Mapping
from typing import Any

from tokpar.errors import FileFormatError

Json = Mapping[str, Any]


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


def stage_names(part: Json, members: str) -> str:
    """Returns the types of the stages of a part, in words: "Digits", "a Sequence of NFC and
    Lowercase"."""
    names = " and ".join(kind(stage) for stage in stages(part, "part", members)) or "nothing"
    return f"a Sequence of {names}" if kind(part) == "Sequence" else names


InsertedIds = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids before a text, and the ids after it."""


def read_around(config: Json | None) -> InsertedIds:
    """Returns the ids that a "post_processor" puts before and after a text. Raises FileFormatError
    for a post-processor that does anything else."""
    every = stages(config, "post-processor", "processors")
    found = [stage for stage in every if kind(stage) != "ByteLevel"]
    if not found:
        return (), ()
    where = f"post-processor {' + '.join(map(kind, found))}"
    if len(found) > 1:
        raise FileFormatError(f"{where}: only one may insert tokens here")
    [stage] = found
    if kind(stage) in ("BertProcessing", "RobertaProcessing"):
        return _second(stage, "cls", where), _second(stage, "sep", where)
    if kind(stage) == "TemplateProcessing":
        return _template(stage, where)
    raise FileFormatError(f"{where} is not supported here")


def _second(stage: Json, key: str, where: str) -> tuple[int]:
    match stage.get(key):
        case [str(), int(id_)]:
            return (id_,)
    raise FileFormatError(f"{where}: expected a token and its id as {key}")


def _template(stage: Json, where: str) -> InsertedIds:
    pieces = stage.get("single")
    if not isinstance(pieces, list):
        raise FileFormatError(f"{where}: expected a list as single")
    before: list[int] = []
    after: list[int] | None = None
    for piece in pieces:
        match piece:
            case {"Sequence": {"id": "A"}} if after is None:
                after = []
            case {"SpecialToken": {"id": str(name)}}:
                (before if after is None else after).extend(_special_ids(stage, name, where))
            case other:
                raise FileFormatError(f"{where}: {other!r} is not supported in its template here")
    if after is None:
        raise FileFormatError(f"{where}: the text is not in its template")
    return tuple(before), tuple(after)


def _special_ids(stage: Json, name: str, where: str) -> list[int]:
    tokens = stage.get("special_tokens")
    match tokens.get(name) if isinstance(tokens, Mapping) else None:
        case {"ids": [*ids]} if all(type(id_) is int for id_ in ids):
            return ids
    raise FileFormatError(f"{where}: {name!r} is no special token of it")
