"""Post-processing of the ids of a whole text: truncation, special tokens, padding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tokpar import FileFormatError
from tokpar.formats.json_parts import Json, read_around
from tokpar_pure.parts import choice, number

Ids = list[int]
SIDES = ("Right", "Left")


@dataclass(frozen=True)
class PostProcessor:
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
) -> PostProcessor:
    """Returns the post-processing of a parsed ``tokenizer.json``: its post-processor, truncation
    and padding. Each of the three can be switched off.

    Raises FileFormatError that names a part that is not supported."""
    around = read_around(config.get("post_processor"))
    postprocess = PostProcessor(*around) if add_special_tokens else PostProcessor()
    parts = (("truncation", truncation, _with_truncation), ("padding", padding, _with_padding))
    for key, wanted, applied in parts:
        settings = config.get(key)
        if not wanted or settings is None:
            continue
        if not isinstance(settings, Mapping):
            raise FileFormatError(f"{key}: expected an object, got {settings!r}")
        postprocess = applied(postprocess, settings)
    return postprocess


def _with_truncation(postprocess: PostProcessor, settings: Json) -> PostProcessor:
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


def _with_padding(postprocess: PostProcessor, settings: Json) -> PostProcessor:
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
