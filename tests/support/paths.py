"""The folders of the checkout that tests read."""

from __future__ import annotations

from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import tokpar

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
VOCAB = TESTS / "vocab"
"""Parts of real vocabularies."""
DATA = Path(tokpar.__file__).parent / "data"
"""What the installed package brings: tables and the bundled tokenizer."""
DEFAULT = DATA / "default.json"


def own_entry_points() -> list[EntryPoint]:
    """The entry points of the plugins in the wheel of tokpar, as they are installed."""
    points = metadata.entry_points(group="tokpar")
    return [point for point in points if point.dist is not None and point.dist.name == "tokpar"]
