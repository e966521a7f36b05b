"""The pages of the documentation and the code blocks on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

PLUGINS = [
    ROOT / "plugins" / f"tokpar-{name}"
    for name in ("bench", "diff", "explain", "model", "pure", "strategies", "train")
]
"""Plugins whose README is their page; tokpar-incremental runs its own."""
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *(plugin / "README.md" for plugin in PLUGINS),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block and the line of the page that it starts on."""

    kind: str
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start(2)))
        for match in BLOCK.finditer(text)
    ]
