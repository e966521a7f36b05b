"""Rewrites format 2.0 of a ``tokenizer.json``, which tokenizers 1.x writes, as format 1.0.

Format 2.0 differs in three ways: byte-level is a flag of the model, Metaspace is a normalizer and a
Split, and templates list ids. A part without a counterpart in format 1.0 is kept unchanged; the
reader of format 1.0 then refuses it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokpar.formats.vocabulary import byte_level_stage, letters_of

Json = Mapping[str, Any]

VERSION = "2.0"


def as_format_one(config: Json) -> dict[str, Any]:
    """Returns a parsed file in format 1.0. A file in any format but 2.0 is returned unchanged."""
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
    """Returns the vocabulary with added tokens spelled as in a text. tokenizers 1.x spells added
    tokens in the letters of byte-level, too, and then does not find them again."""
    renamed = {}
    for token in added_tokens:
        spelled = letters_of(token["content"].encode())
        if token["content"] not in vocab and vocab.get(spelled) == token["id"]:
            renamed[spelled] = token["content"]
    return {renamed.get(token, token): id_ for token, id_ in vocab.items()}


def _flat(part: Json | None, members: str) -> list[Any]:
    """Returns the list of stages. tokenizers 1.x never writes a Sequence inside a Sequence."""
    if isinstance(part, Mapping) and part.get("type") == "Sequence":
        return list(part[members])
    return [] if part is None else [part]


def _join_stages(stages: Sequence[Any], members: str) -> Any:
    if len(stages) == 1:
        return stages[0]
    return {"type": "Sequence", members: list(stages)} if stages else None


def _metaspace(normalizer: Json, pieces: list[Any]) -> list[Any] | None:
    """Returns the pre-tokenizers with a Metaspace in front, preceded by a WhitespaceSplit if the
    normalizer drops white space. Returns None if format 1.0 cannot express it: the words would run
    together."""
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
    """Returns a template that has a name for each special token, as format 1.0 needs it. Another
    post-processor is returned unchanged."""
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
