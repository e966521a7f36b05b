"""docs/commands.md is what the command line says of itself, and names every variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tokpar.registry.tables as registry_module
from tests.recipes.commands_page import PAGE, VARIABLES, page
from tests.support.paths import ROOT, own_entry_points
from tokpar.registry.tables import Registry

OF_THE_TESTS = {
    "TOKPAR_CORPORA",
    "TOKPAR_DEEP_EXAMPLES",
    "TOKPAR_DJANGO_SDIST",
    "TOKPAR_PROFILE",
    "TOKPAR_VOCAB",
}


@pytest.fixture(autouse=True)
def _plugins_of_tokpar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(own_entry_points())])


def unspaced(text: str) -> str:
    """Without white space: Python's releases break the lines of a usage in different places."""
    return "".join(text.split())


def test_the_page_is_what_the_commands_print() -> None:
    said = "run `python -m tests.recipes.commands_page`"
    assert unspaced(PAGE.read_text(encoding="utf-8")) == unspaced(page()), said


def sources() -> list[Path]:
    return [
        ROOT / "hatch_build.py",
        *(ROOT / "tokpar").rglob("*.py"),
        *(ROOT / "plugins").glob("*/src/**/*.py"),
    ]


def test_the_page_names_each_variable_that_the_sources_name() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources())
    named = set(re.findall(r"TOKPAR_[A-Z_]*[A-Z]", text))
    read = set(re.findall(r"environ(?:\.get\(|\[)\"(\w+)\"", text)) - {"TERM", "COLUMNS"}
    assert {"TOKPAR_CACHE", "TOKPAR_PLUGINS"} <= named
    assert "NO_COLOR" in read
    made_of_parts = {"TOKPAR_VLLM", "TOKPAR_SGLANG"}  # of the name of a server
    assert (named | read | made_of_parts) - OF_THE_TESTS <= set(VARIABLES)
    assert {name for name in VARIABLES if name not in text} <= made_of_parts
