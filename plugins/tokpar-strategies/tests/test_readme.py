"""README.md of tokpar-strategies: its examples run."""

from __future__ import annotations

from typing import Any

from tests.support.pages import blocks
from tests.support.paths import ROOT


def test_the_examples_of_the_readme_run_in_order() -> None:
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "plugins" / "tokpar-strategies" / "README.md"):
        exec(block.body, names)
