"""Tokenizers as files of either format of `tokenizer.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paths import VOCAB

SAMPLES = VOCAB / "format_two.json"
NAMES = tuple(json.loads(SAMPLES.read_text(encoding="utf-8")))


@cache
def sample(name: str, version: str) -> dict[str, Any]:
    """A frozen file: "one" as it was given to tokenizers 1.0.0rc3, "two" as that wrote it."""
    found: dict[str, Any] = json.loads(SAMPLES.read_text(encoding="utf-8"))[name][version]
    return found


def written(directory: Path, config: dict[str, Any]) -> Path:
    path = directory / f"format_{config['version']}.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path
