"""Names files that hold no tokenizer that tokpar reads under their name, for error messages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HEAD = 4096
"""Bytes that tell a file's kind, but for JSON, which is read as a whole."""
_INSTEAD = "pass the tokenizer.json or the directory of its model"
_RANKS = re.compile(rb"(?:[A-Za-z0-9+/]+=* \d+\r?\n){3}")
_MERGES = re.compile(rb"#version|(?:(?!\S+ \d+\r?\n)\S+ \S+\r?\n){5}")
_PICKLE = re.compile(rb"\x80[\x02-\x05]")


def _is_safetensors(head: bytes) -> bool:
    return head[8:9] == b"{" and 0 < int.from_bytes(head[:8], "little") < 1 << 32


_KINDS: tuple[tuple[Callable[[bytes], object], str], ...] = (
    (
        lambda head: head.startswith(b"GGUF"),
        "a GGUF file has no normalizer, and only a name of llama.cpp for its pattern: pass the "
        "tokenizer.json, the directory or the repository of the model it was made from",
    ),
    (
        lambda head: head.startswith(b"version https://git-lfs"),
        "a pointer of Git LFS stands in place of the file: run git lfs pull",
    ),
    (_is_safetensors, f"a file of weights (safetensors): {_INSTEAD}"),
    (lambda head: head.startswith(b"PK\3\4"), f"a zip archive, as torch.save writes: {_INSTEAD}"),
    (
        _PICKLE.match,
        "a pickle runs code when it is read, and tokpar reads none: load it where you trust it, "
        "and pass the tokenizer object",
    ),
    (
        _RANKS.match,
        "a .tiktoken file (the tokenizer.model of Llama 3 is one) under another name: give it a "
        "name that ends in .tiktoken, and pass pat_str and special_tokens, which it does not hold",
    ),
    (
        _MERGES.match,
        "merges of BPE alone: pass the tokenizer.json, or what AutoTokenizer.from_pretrained makes "
        "of the directory with vocab.json and merges.txt",
    ),
)


def foreign_kind(path: Path) -> str | None:
    """Returns what a file is and what to pass instead, in words; None if it is of no known kind.
    A pipe is not read."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for matches, words in _KINDS:
        if matches(head):
            return words
    return _kind_of_json(path) if head.lstrip()[:1] in (b"{", b'"') else None


def and_its_kind(path: str | os.PathLike[str]) -> str:
    """Returns the kind of a file as the end of an error message, "" for an unknown kind."""
    kind = foreign_kind(Path(path))
    return "" if kind is None else f"; it looks like this: {kind}"


def _kind_of_json(path: Path) -> str | None:
    try:
        data: Any = json.loads(path.read_bytes())
        if isinstance(data, str):
            data = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    if data.get("class_name") == "Tokenizer":
        return (
            "a tokenizer of Keras, which numbers whole words: pass an object of your own around "
            "it, with name and encode(text)"
        )
    if data and all(type(id_) is int for id_ in data.values()):
        return (
            "a vocabulary of ids (vocab.json) without its merges: pass the tokenizer.json, or what "
            "AutoTokenizer.from_pretrained makes of the directory"
        )
    if {"config", "vocab"} <= data.keys():
        return "a tekken.json of Mistral: give it a name that holds tekken and ends in .json"
    if data.keys() & {"tokenizer_class", "model_type"}:
        return f"settings of transformers without a vocabulary: {_INSTEAD}"
    return None
