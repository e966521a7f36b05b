"""Reads a ``tekken.json`` of mistral-common as the `tiktoken.Encoding` with its ids.

Source: mistral_common/tokens/tokenizers/tekken.py of mistral-common 1.13.1. A `Tekkenizer` encodes
by tiktoken without any special token and adds the number of special tokens to each id. Here the
ranks begin at that number: BPE only compares ranks, so the merges are the same. The special tokens
have the ids below; with `special_token_policy=KEEP`, `Tekkenizer.decode` writes them out, too."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tiktoken

from tokpar.errors import FileFormatError

VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
"""The versions that mistral-common 1.13 knows."""
_NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
"""The special tokens of a file that lists none; a file after v7 has to list its own."""


def read_tekken(path: Path) -> tiktoken.Encoding:
    """Returns the encoding of a file, with the ids of `Tekkenizer.encode(text, False, False)` where
    no special token is allowed. Raises FileFormatError, FileNotFoundError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        config = data["config"]
        version, count = config["version"], config["default_num_special_tokens"]
        if version not in VERSIONS:
            raise ValueError(f"version {version!r} is none of {', '.join(VERSIONS)}")
        special_tokens = _special_tokens(data, version, count)
        return tiktoken.Encoding(
            path.name.replace(".json", ""),
            pat_str=config["pattern"],
            mergeable_ranks=_ranks(data["vocab"], count, config["default_vocab_size"] - count),
            special_tokens=special_tokens,
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise FileFormatError(
            f"{path} is not a tekken.json of mistral-common: {what} (a file of another kind "
            "needs a name without tekken)"
        ) from error


def _special_tokens(data: Mapping[str, Any], version: str, count: int) -> dict[str, int]:
    """Returns the id of each special token: those of the file, then fillers up to `count`."""
    entries = data.get("special_tokens")
    if entries is None and VERSIONS.index(version) > VERSIONS.index("v7"):
        raise ValueError(f"special_tokens are missing, which files of {version} list")
    names = list(_NAMES)
    if entries is not None:
        _require_ranks("special_tokens", entries)
        names = [token["token_str"] for token in entries]
    names += [f"<SPECIAL_{id_}>" for id_ in range(len(names), count)]
    ids = {name: id_ for id_, name in enumerate(names)}
    if not len(names) == len(ids) == count:
        raise ValueError(f"special_tokens: expected {count} different ones, got {len(ids)}")
    return ids


def _require_ranks(what: str, entries: Sequence[Mapping[str, Any]]) -> None:
    if any(entry["rank"] != rank for rank, entry in enumerate(entries)):
        raise ValueError(f"{what}: expected the ranks 0, 1, 2, ...")


def _ranks(vocab: Sequence[Mapping[str, Any]], first_id: int, size: int) -> dict[bytes, int]:
    """Returns the ids of the first `size` tokens of the vocabulary, from `first_id` on."""
    kept = vocab[:size]
    tokens = [b64decode(token["token_bytes"], validate=True) for token in kept]
    ids = {token: first_id + rank for rank, token in enumerate(tokens)}
    if tokens[:256] != [bytes([byte]) for byte in range(256)]:
        raise ValueError("vocab: expected the 256 bytes first")
    if not len(ids) == len(kept) == size:
        raise ValueError(f"vocab: expected {size} different tokens, got {len(ids)}")
    _require_ranks("vocab", kept)
    return ids
