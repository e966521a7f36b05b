"""What is applied once to all ids of a text: truncation, special tokens around it, padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tokpar.errors import FileFormatError
from tokpar.pure.parts import Json, chosen, kind, number, stages

Ids = list[int]
SIDES = ("Right", "Left")


@dataclass(frozen=True)
class Finish:
    """`limit`: how many ids of the text are kept at most, the first ones, or with `keeps_end` the
    last ones. Then `prefix` and `suffix`; then `pad` as often as it takes to reach `length` ids,
    and a multiple of `multiple`."""

    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    limit: int | None = None
    keeps_end: bool = False
    pad: int | None = None
    length: int | None = None
    multiple: int = 1
    pads_start: bool = False

    def one(self, ids: Ids) -> Ids:
        """Final ids of a text that is encoded alone."""
        return self.batch([ids])[0]

    def batch(self, texts: Sequence[Ids]) -> list[Ids]:
        """Final ids of texts that are encoded together: where there is no `length`, they are padded
        to the longest."""
        whole = [[*self.prefix, *self._kept(ids), *self.suffix] for ids in texts]
        if self.pad is None:
            return whole
        wanted = max(map(len, whole), default=0) if self.length is None else self.length
        wanted += -wanted % self.multiple
        return [self._padded(ids, self.pad, wanted) for ids in whole]

    def _kept(self, ids: Ids) -> Ids:
        if self.limit is None or len(ids) <= self.limit:
            return ids
        return ids[len(ids) - self.limit :] if self.keeps_end else ids[: self.limit]

    def _padded(self, ids: Ids, pad: int, wanted: int) -> Ids:
        filling = [pad] * (wanted - len(ids))
        return filling + ids if self.pads_start else ids + filling


def read_finish(
    config: Json, *, add_special_tokens: bool = True, truncation: bool = True, padding: bool = True
) -> Finish:
    """From a whole ``tokenizer.json``: what its post-processor, its truncation and its padding do,
    as far as asked for. FileFormatError names the part that is not supported."""
    around = _around(config.get("post_processor"))
    finish = Finish(*around) if add_special_tokens else Finish()
    if truncation and (settings := _settings(config, "truncation")) is not None:
        finish = _with_truncation(finish, settings)
    if padding and (settings := _settings(config, "padding")) is not None:
        finish = _with_padding(finish, settings)
    return finish


def _settings(config: Json, key: str) -> Json | None:
    settings = config.get(key)
    if settings is not None and not isinstance(settings, Mapping):
        raise FileFormatError(f"{key}: expected an object, got {settings!r}")
    return settings


def _with_truncation(finish: Finish, settings: Json) -> Finish:
    """The engine cuts nothing if there is no room for the special tokens."""
    longest = number(settings, "max_length", "truncation")
    strategies = ("LongestFirst", "OnlyFirst")
    chosen(settings, "strategy", strategies, "truncation", default="LongestFirst")
    limit = longest - len(finish.prefix) - len(finish.suffix)
    if limit < 0:
        return finish
    if 0 < limit <= number(settings, "stride", "truncation", default=0):
        raise FileFormatError(f"truncation: its stride must be below {limit}, the ids it keeps")
    side = chosen(settings, "direction", SIDES, "truncation", default="Right")
    return replace(finish, limit=limit, keeps_end=side == "Left")


def _with_padding(finish: Finish, settings: Json) -> Finish:
    match settings.get("strategy"):
        case "BatchLongest":
            length = None
        case {"Fixed": int(count)} if count >= 0:
            length = count
        case other:
            raise FileFormatError(f"padding: strategy {other!r} is not supported here")
    multiple = settings.get("pad_to_multiple_of")
    return replace(
        finish,
        pad=number(settings, "pad_id", "padding"),
        length=length,
        multiple=(number(settings, "pad_to_multiple_of", "padding") if multiple else 0) or 1,
        pads_start=chosen(settings, "direction", SIDES, "padding", default="Right") == "Left",
    )


Around = tuple[tuple[int, ...], tuple[int, ...]]


def _around(config: Json | None) -> Around:
    """Ids put before and after a text."""
    every = stages(config, "post-processor", "processors")
    found = [stage for stage in every if kind(stage) != "ByteLevel"]
    if not found:
        return (), ()
    if len(found) > 1:
        shown = " + ".join(map(kind, found))
        raise FileFormatError(f"post-processor {shown}: only one may insert tokens here")
    [stage] = found
    if kind(stage) in ("BertProcessing", "RobertaProcessing"):
        return (_second(stage, "cls"),), (_second(stage, "sep"),)
    if kind(stage) == "TemplateProcessing":
        return _template(stage, "post-processor TemplateProcessing")
    raise FileFormatError(f"post-processor {kind(stage)} is not supported here")


def _second(stage: Json, key: str) -> int:
    match stage.get(key):
        case [str(), int(id_)]:
            return id_
    raise FileFormatError(f"post-processor {kind(stage)}: expected a token and its id as {key}")


def _template(stage: Json, where: str) -> Around:
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
                raise FileFormatError(f"{where}: {other!r} is not supported here")
    if after is None:
        raise FileFormatError(f"{where}: the text is not in its template")
    return tuple(before), tuple(after)


def _special_ids(stage: Json, name: str, where: str) -> list[int]:
    tokens = stage.get("special_tokens")
    match tokens.get(name) if isinstance(tokens, Mapping) else None:
        case {"ids": [*ids]} if all(type(id_) is int for id_ in ids):
            return ids
    raise FileFormatError(f"{where}: {name!r} is no special token of it")
