"""The canonical form of a tokenizer: what its file says, stage by stage, in words of format 1.0.

The checker reads a tokenizer once, to this form. The facts by which rules judge, what is applied to
whole texts, and the proof of ids (level `model`) are all made of it. Files are from strangers: a
value of another type than expected is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tokpar.certificate.check_context import RefusedError, require
from tokpar.types import AddedToken, NormalizerStage

_Value = TypeVar("_Value")
Json = Mapping[str, Any]
Stages = tuple[NormalizerStage, ...]
MOST_ID = (1 << 32) - 1
FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
_DEEPEST = 20
_BYTE_LEVEL = NormalizerStage("ByteLevel", (("add_prefix_space", False), ("use_regex", False)))


@dataclass(frozen=True, eq=False)
class JsonForm:
    """A `tokenizer.json`. Sequences of stages are written out.

    `model`: its settings, vocabulary and merges; no merges where the file was too large to be
    written. `engine`: the regex engine that runs its patterns. `skips_special`: special tokens are
    not matched (`encode_special_tokens`). `lists_classes`: the engine tells the members of
    character classes, so that an unknown pattern can be judged. `line_one`: tokenizers 1.x runs it.
    `digest`: the sha256 of the file. `no_file`: why the ids may be others than this file's, or
    None."""

    added_tokens: tuple[AddedToken, ...]
    normalizers: Stages
    pre_tokenizers: Stages
    model: Json
    post_processor: Any = None
    truncation: Any = None
    padding: Any = None
    engine: str = "oniguruma"
    skips_special: bool = False
    lists_classes: bool = False
    line_one: bool = False
    digest: str = ""
    no_file: str | None = None
    cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was made of the form: names of control tokens, what proves ids at level `model`."""

    @property
    def kind(self) -> str:
        """The kind of model. Old files do not name it."""
        named = self.model.get("type")
        if named is not None:
            return str(named)
        if self.model.get("merges") is not None:
            return "BPE"
        return "WordPiece" if isinstance(self.model.get("vocab"), Mapping) else "Unigram"


@dataclass(frozen=True, eq=False)
class RankForm:
    """Byte-level BPE without other stages: tiktoken's, or a `Vocabulary` of tokpar.

    `merges`: (left, right) -> (priority, merged), all ids; None: the lowest id comes first.
    `specials`: all special tokens; `added_tokens`: the tokens that are matched in a text.
    `keeps_gaps`: text that no pattern matches is kept. `drops_prefixes`: chance decides which of
    two special tokens that begin alike is matched. `whole_piece`: a
    pre-token that is a token becomes this token."""

    engine: str
    patterns: tuple[str, ...]
    tokens: Mapping[bytes, int]
    added_tokens: tuple[AddedToken, ...]
    specials: Mapping[str, int]
    keeps_gaps: bool
    drops_prefixes: bool
    merges: Mapping[tuple[int, int], tuple[int, int]] | None = None
    whole_piece: bool = True
    cache: dict[str, Any] = field(default_factory=dict, repr=False)


def parse_json(data: str | bytes) -> Json:
    """Returns a JSON object. Refused if it is none, or if an object in it names a member twice."""
    try:
        config = json.loads(data, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise RefusedError("file", f"the tokenizer's file is no JSON: {error}") from None
    if not isinstance(config, Mapping):
        raise RefusedError("file", "the tokenizer's file is no JSON object")
    return config


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object names one member twice")
    return found


def form_of_json(config: Json, digest: str = "", **engine: Any) -> JsonForm:
    """Returns the form of a file in format 1.0 or 2.0. `engine`: fields of `JsonForm` that say who
    runs it. Refused if a part has another type than in a file of the library."""
    model = object_in(config, "model")
    normalizers = tuple(_stages(config.get("normalizer"), "normalizers"))
    pieces = tuple(_stages(config.get("pre_tokenizer"), "pretokenizers"))
    if config.get("version") == "2.0":
        normalizers, pieces = _in_format_one(normalizers, pieces, bool(model.get("byte_level")))
    added = tuple(map(_added_token, list_in(config, "added_tokens")))
    names = "post_processor", "truncation", "padding"
    applied: dict[str, Any] = {name: config.get(name) for name in names}
    return JsonForm(added, normalizers, pieces, model, **applied, digest=digest, **engine)


def _added_token(entry: object) -> AddedToken:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise RefusedError("added token", "an added token has no content")
    id_, flags = entry.get("id"), {name: flag_in(entry, name, False) for name in FLAGS}
    require(is_id(id_), "added token", f"added token {entry['content']!r} has id {id_!r}")
    assert isinstance(id_, int)
    return AddedToken(entry["content"], id_, **flags)


def _stages(part: object, members: str, depth: int = 0) -> Iterator[NormalizerStage]:
    """Yield the stages of a Sequence, of Sequences in it too, or the one stage."""
    if part is None:
        return
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        raise RefusedError("file", f"one of the {members} of the file has no type")
    require(depth < _DEEPEST, "file", f"{members} too deep")
    if part["type"] == "Sequence":
        for each in list_in(part, members):
            yield from _stages(each, members, depth + 1)
        return
    settings = ((name, _plain(value)) for name, value in part.items() if name != "type")
    yield NormalizerStage(part["type"], tuple(settings))


def _plain(value: object) -> object:
    if isinstance(value, Mapping) and set(value) == {"String"}:
        return value["String"]
    return value


def setting(stage: NormalizerStage, name: str, missing: object = None) -> object:
    """Returns a setting of a stage."""
    return next((value for key, value in stage.settings if key == name), missing)


def regex_of(stage: NormalizerStage) -> str | None:
    """Returns the regex of a stage, None if it has a plain string or no pattern."""
    pattern = setting(stage, "pattern")
    source = pattern.get("Regex") if isinstance(pattern, Mapping) else None
    return source if isinstance(source, str) else None


def _in_format_one(normalizers: Stages, pieces: Stages, byte_level: bool) -> tuple[Stages, Stages]:
    """Returns the stages of format 2.0, which tokenizers 1.x writes, in the words of format 1.0, as
    far as the checker reads them."""
    if normalizers and normalizers[-1].kind == "MetaspaceNormalizer":
        row = _with_metaspace(normalizers[-1], pieces)
        if row is not None:
            normalizers, pieces = normalizers[:-1], row
    return normalizers, (*pieces, _BYTE_LEVEL) if byte_level else pieces


def _with_metaspace(normalizer: NormalizerStage, pieces: Stages) -> Stages | None:
    """The pre-tokenizers with a Metaspace, whose marks 1.x puts by a normalizer; None for what
    format 1.0 cannot say."""
    mark, scheme = setting(normalizer, "replacement"), setting(normalizer, "prepend")
    marked = {"pattern": mark, "behavior": "MergedWithNext", "invert": False}
    splits = bool(pieces) and (pieces[0].kind, dict(pieces[0].settings)) == ("Split", marked)
    settings = ("replacement", mark), ("prepend_scheme", scheme), ("split", splits)
    row = (NormalizerStage("Metaspace", settings), *pieces[splits:])
    if not setting(normalizer, "drop_whitespace"):
        return row
    return (NormalizerStage("WhitespaceSplit"), *row) if splits and scheme == "always" else None


def object_in(data: Json, name: str) -> Json:
    """Returns the object `name` of an object. Refused if there is none."""
    found = data.get(name)
    if not isinstance(found, Mapping):
        raise RefusedError("file", f"{name!r} of the file is no object")
    return found


def list_in(data: Json, name: str) -> list[Any]:
    """Returns the list `name` of an object; [] if it is null or missing."""
    return [] if data.get(name) is None else of_type(list, "list", data[name], name)


def flag_in(data: Json | NormalizerStage, name: str, default: bool) -> bool:
    """Returns the flag `name` of an object or stage, or its default if it is null or missing."""
    found = setting(data, name) if isinstance(data, NormalizerStage) else data.get(name)
    return default if found is None else of_type(bool, "flag, true or false", found, name)


def of_type(kind: type[_Value], word: str, value: object, name: str) -> _Value:
    """Returns a value. Refused, as no `word`, if it is of another type."""
    if not isinstance(value, kind):
        raise RefusedError("file", f"{name!r} of the file is no {word}")
    return value


def is_id(value: object) -> bool:
    """True for a whole number of 32 bits."""
    return type(value) is int and 0 <= value <= MOST_ID
