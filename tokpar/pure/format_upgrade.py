"""Format 2.0 of a ``tokenizer.json``, which tokenizers 1.x writes, in the words of format 1.0:
byte-level is a flag of the model, Metaspace a normalizer and a Split, a template lists ids. What
has no counterpart in 1.0 stays as it is, for the reader of 1.0 to refuse."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokpar.pure.vocabulary import byte_level_stage, letters_of

Json = Mapping[str, Any]

VERSION = "2.0"


def as_format_one(config: Json) -> dict[str, Any]:
    """A parsed file as format 1.0 would have it; one in another format than 2.0 as it is."""
    if config.get("version") != VERSION or not isinstance(config.get("model"), Mapping):
        return dict(config)
    model = dict(config["model"])
    normalizers = _flat(config.get("normalizer"), "normalizers")
    pieces = _flat(config.get("pre_tokenizer"), "pretokenizers")
    match normalizers:
        case [*before, {"type": "MetaspaceNormalizer"} as last]:
            read = _metaspace(last, pieces)
            if read is not None:
                normalizers, pieces = before, read
    if model.pop("byte_level", False):
        pieces = [*pieces, byte_level_stage(use_regex=False)]
        model["vocab"] = _with_added(model["vocab"], config.get("added_tokens") or ())
    return {
        **config,
        "version": "1.0",
        "normalizer": _join_stages(normalizers, "normalizers"),
        "pre_tokenizer": _join_stages(pieces, "pretokenizers"),
        "post_processor": _name_special_tokens(config.get("post_processor")),
        "model": model,
    }


def _with_added(vocab: Mapping[str, int], added_tokens: Iterable[Json]) -> dict[str, int]:
    """The vocabulary with its added tokens as they stand in a text; 1.x writes their bytes, too, in
    the letters of byte level, and then does not find them again."""
    renamed = {}
    for token in added_tokens:
        spelled = letters_of(token["content"].encode())
        if token["content"] not in vocab and vocab.get(spelled) == token["id"]:
            renamed[spelled] = token["content"]
    return {renamed.get(token, token): id_ for token, id_ in vocab.items()}


def _flat(part: Json | None, members: str) -> list[Any]:
    """The stages; 1.x writes no Sequence within another."""
    if isinstance(part, Mapping) and part.get("type") == "Sequence":
        return list(part[members])
    return [] if part is None else [part]


def _join_stages(stages: Sequence[Any], members: str) -> Any:
    if len(stages) == 1:
        return stages[0]
    return {"type": "Sequence", members: list(stages)} if stages else None


def _metaspace(normalizer: Json, pieces: list[Any]) -> list[Any] | None:
    """The row with a Metaspace in front, or WhitespaceSplit and Metaspace, where it drops white
    space; None for what 1.0 cannot say: then words would run together."""
    mark = normalizer["replacement"]
    how = {"pattern": {"String": mark}, "behavior": "MergedWithNext", "invert": False}
    split = pieces[:1] == [{"type": "Split", **how}]
    metaspace = {"replacement": mark, "prepend_scheme": normalizer["prepend"], "split": split}
    row = [{"type": "Metaspace", **metaspace}, *pieces[split:]]
    if not normalizer["drop_whitespace"]:
        return row
    return (
        [{"type": "WhitespaceSplit"}, *row] if split and normalizer["prepend"] == "always" else None
    )


def _name_special_tokens(post: Json | None) -> Any:
    """Returns a template with a name for each special token."""
    if post is None or post.get("type") != "TemplateProcessing":
        return post
    special: dict[str, Any] = {}
    rows = {key: [_entry(entry, special) for entry in post[key]] for key in ("single", "pair")}
    return {**post, **rows, "special_tokens": special}


def _entry(entry: Json, special: dict[str, Any]) -> dict[str, Any]:
    kind = entry.get("type_id", 0)
    if "seq" in entry:
        return {"Sequence": {"id": entry["seq"], "type_id": kind}}
    ids = list(entry["ids"])
    name = " ".join(map(str, ids))
    special[name] = {"id": name, "ids": ids, "tokens": [str(id_) for id_ in ids]}
    return {"SpecialToken": {"id": name, "type_id": kind}}
