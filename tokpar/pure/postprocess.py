"""Post-processing of the ids of a whole text: truncation, special tokens, padding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tokpar.errors import FileFormatError
from tokpar.pure.parts import Json, choice, kind, number, stages

Ids = list[int]
SIDES = ("Right", "Left")


@dataclass(frozen=True)
class PostProcess:
    """Truncates, adds special tokens, and pads, in this order.

    `limit`: keeps at most this many ids of the text: the first ones, or the last ones with
    `keeps_end`. `prefix`, `suffix`: ids of special tokens, added before and after.
    `pad`: the id that is appended, or prepended with `pads_start`, up to `length` ids and up to a
    multiple of `multiple`; None pads nothing."""

    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    limit: int | None = None
    keeps_end: bool = False
    pad: int | None = None
    length: int | None = None
    multiple: int = 1
    pads_start: bool = False

    def one(self, ids: Ids) -> Ids:
        """Returns the final ids of one text."""
        return self.batch([ids])[0]

    def batch(self, texts: Sequence[Ids]) -> list[Ids]:
        """Returns the final ids of each text of a batch. Without `length`, pads to the longest
        text of the batch."""
        whole = [[*self.prefix, *self._truncate(ids), *self.suffix] for ids in texts]
        if self.pad is None:
            return whole
        wanted = max(map(len, whole), default=0) if self.length is None else self.length
        wanted += -wanted % self.multiple
        filled = [(ids, [self.pad] * (wanted - len(ids))) for ids in whole]
        return [fill + ids if self.pads_start else ids + fill for ids, fill in filled]

    def _truncate(self, ids: Ids) -> Ids:
        if self.limit is None or len(ids) <= self.limit:
            return ids
        return ids[len(ids) - self.limit :] if self.keeps_end else ids[: self.limit]


def read_postprocess(
    config: Json, *, add_special_tokens: bool = True, truncation: bool = True, padding: bool = True
) -> PostProcess:
    """Returns the post-processing of a parsed ``tokenizer.json``: its post-processor, truncation
    and padding. Each of the three can be switched off.

    Raises FileFormatError that names a part that is not supported."""
    around = read_around(config.get("post_processor"))
    postprocess = PostProcess(*around) if add_special_tokens else PostProcess()
    parts = (("truncation", truncation, _with_truncation), ("padding", padding, _with_padding))
    for key, wanted, applied in parts:
        settings = config.get(key)
        if not wanted or settings is None:
            continue
        if not isinstance(settings, Mapping):
            raise FileFormatError(f"{key}: expected an object, got {settings!r}")
        postprocess = applied(postprocess, settings)
    return postprocess


def _with_truncation(postprocess: PostProcess, settings: Json) -> PostProcess:
    """Returns `postprocess` with the truncation of `settings`. Like the engine, it truncates
    nothing if the special tokens alone exceed the length."""
    where = "truncation"
    limit = (
        number(settings, "max_length", where) - len(postprocess.prefix) - len(postprocess.suffix)
    )
    choice(settings, "strategy", ("LongestFirst", "OnlyFirst"), where, default="LongestFirst")
    if limit < 0:
        return postprocess
    if 0 < limit <= number(settings, "stride", where, default=0):
        raise FileFormatError(f"{where}: its stride must be below {limit}, the ids it keeps")
    side = choice(settings, "direction", SIDES, where, default="Right")
    return replace(postprocess, limit=limit, keeps_end=side == "Left")


def _with_padding(postprocess: PostProcess, settings: Json) -> PostProcess:
    match settings.get("strategy"):
        case "BatchLongest":
            length = None
        case {"Fixed": int(count)} if count >= 0:
            length = count
        case other:
            raise FileFormatError(f"padding: strategy {other!r} is not supported here")
    multiple = "pad_to_multiple_of"
    return replace(
        postprocess,
        pad=number(settings, "pad_id", "padding"),
        length=length,
        multiple=number(settings, multiple, "padding") if settings.get(multiple) else 1,
        pads_start=choice(settings, "direction", SIDES, "padding", default="Right") == "Left",
    )


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
