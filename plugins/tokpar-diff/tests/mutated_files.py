"""Files of tokenizers with one change, as a release of a model or of a library makes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.paths import DEFAULT

Change = Callable[[dict[str, Any]], object]
QWEN_2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The pattern of Qwen 2."""


def exchange_merges(first: int, second: int) -> Change:
    """Exchange two merges of a file."""

    def change(config: dict[str, Any]) -> None:
        merges = config["model"]["merges"]
        merges[first], merges[second] = merges[second], merges[first]

    return change


def set_flag(flag: str) -> Change:
    """Set a flag of the first added token."""
    return lambda config: config["added_tokens"][0].update({flag: True})


def set_normalizer(kind: str) -> Change:
    """Put a normalizer in the place of the file's own."""
    return lambda config: config.update(normalizer={"type": kind})


def set_pattern(pattern: str) -> Change:
    """Split by another pattern, then write bytes as letters."""
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    letters = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    parts = {"type": "Sequence", "pretokenizers": [split, letters | {"trim_offsets": True}]}
    return lambda config: config.update(pre_tokenizer=parts)


def write_file(path: Path, *changes: Change, source: Path = DEFAULT) -> Path:
    """Write a tokenizer.json with these changes. Returns its path."""
    config = json.loads(source.read_text("utf-8"))
    for change in changes:
        change(config)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def add_token(config: dict[str, Any]) -> None:
    """Add the special token <|end|> behind the vocabulary."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    size = len(config["model"]["vocab"])
    config["added_tokens"] = [{"id": size, "content": "<|end|>", "special": True, **flags}]


def mutated(folder: Path, *changes: Change, name: str = "model.json") -> Path:
    """Write the bundled tokenizer with an added token, NFC and Qwen's pattern, then changed."""
    base = (add_token, set_normalizer("NFC"), set_pattern(QWEN_2))
    return write_file(folder / name, *base, *changes)
