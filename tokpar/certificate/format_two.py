"""Format 2.0 of a ``tokenizer.json``, which tokenizers 1.x writes, in the words of format 1.0, as
far as the checker reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_VERSION = "2.0"
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}


def in_format_one(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the file in format 1.0; its post-processor stays as it is."""
    if config.get("version") != _VERSION:
        return config
    normalizers = _members(config.get("normalizer"), "normalizers")
    pieces = _members(config.get("pre_tokenizer"), "pretokenizers")
    if normalizers and normalizers[-1]["type"] == "MetaspaceNormalizer":
        row = _with_metaspace(normalizers[-1], pieces)
        if row is not None:
            normalizers, pieces = normalizers[:-1], row
    if config["model"].get("byte_level"):
        pieces = [*pieces, _BYTE_LEVEL]
    return {
        **config,
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": pieces},
    }


def _members(part: Mapping[str, Any] | None, name: str) -> list[Mapping[str, Any]]:
    if part is None:
        return []
    return list(part[name]) if part["type"] == "Sequence" else [part]


def _with_metaspace(
    normalizer: Mapping[str, Any], pieces: list[Mapping[str, Any]]
) -> list[Mapping[str, Any]] | None:
    """The pre-tokenizers with a Metaspace, whose marks 1.x puts by a normalizer; None for what
    format 1.0 cannot say."""
    mark = normalizer["replacement"]
    first = dict(pieces[0]) if pieces else {}
    splits = first == {
        "type": "Split",
        "pattern": {"String": mark},
        "behavior": "MergedWithNext",
        "invert": False,
    }
    scheme = normalizer["prepend"]
    metaspace = {
        "type": "Metaspace",
        "replacement": mark,
        "prepend_scheme": scheme,
        "split": splits,
    }
    row: list[Mapping[str, Any]] = [metaspace, *pieces[splits:]]
    if not normalizer["drop_whitespace"]:
        return row
    return [{"type": "WhitespaceSplit"}, *row] if splits and scheme == "always" else None
