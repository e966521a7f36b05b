"""The pages of the documentation and the code blocks on them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.support.paths import ROOT

WINGS = [ROOT / "plugins" / f"tokpar-{name}" for name in ("bench", "diff", "explain", "train")]
"""Packages whose README is their page; tokpar-incremental runs its own."""
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *(wing / "README.md" for wing in WINGS),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INNER = {"merging"}
"""Modules of tokpar/pure that only serve others of it: their classes are nobody's to call."""


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


def public_names(package: ModuleType) -> Iterator[str]:
    """Classes and readers (`read_...`) that a package's modules but the inner ones define, no
    underscore in front."""
    for found in pkgutil.iter_modules(package.__path__):
        if found.name in INNER:
            continue
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for name, value in vars(module).items():
            counts = inspect.isclass(value) or name.startswith("read_")
            if counts and not name.startswith("_") and value.__module__ == module.__name__:
                yield name
