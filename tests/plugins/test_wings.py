"""Which rooms of tokpar our own plugins may import, as plugins/wings.toml says it, and what loading
them costs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.paths import ROOT, own_entry_points

PLUGINS = {path.name: path for path in sorted((ROOT / "plugins").glob("tokpar-*"))}
RULES: dict[str, Any] = tomllib.loads((ROOT / "plugins" / "wings.toml").read_text("utf-8"))
EVERY_WING: list[str] = RULES.pop("every_wing")
DOORS = {"tokpar", "tokpar.plugin"} | {
    f"tokpar.plugin.{door}" for door in ("split", "merge", "overlap", "tokenizer")
}
OWN_MODULES = {"tokpar-strategies"} | RULES.keys() - {"tokpar-model", "tokpar-vllm"}
"""The plugins in the wheel that have hooks."""
KIT = {"tokpar_conformance"}
"""The conformance kit, which is for authors, too."""


def imported_modules(source: str) -> Iterator[str]:
    """The modules that a module of ours imports at its top or in a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            for alias in node.names:
                inner = ROOT.joinpath(*f"{node.module}.{alias.name}".split("."))
                is_module = inner.is_dir() or inner.with_suffix(".py").is_file()
                yield f"{node.module}.{alias.name}" if is_module else str(node.module)


def imports_of(plugin: str) -> set[str]:
    """The modules of this project, other than its own, that a plugin imports."""
    own = plugin.replace("-", "_")
    sources = [path.read_text("utf-8") for path in (PLUGINS[plugin] / "src").rglob("*.py")]
    found = {module for source in sources for module in imported_modules(source)}
    return {m for m in found if re.match(r"tokpar(_|\.|$)", m) and m.partition(".")[0] != own}


def is_in(module: str, room: str) -> bool:
    """A room is one module, or with ".*" all modules of a package: "tokpar.formats.*"."""
    return module == room or (room.endswith(".*") and module.startswith(room[:-1]))


def refused(imported: set[str], rooms: list[str]) -> set[str]:
    """The imports that the rules do not allow."""
    allowed = [*EVERY_WING, *rooms]
    return {m for m in imported - DOORS if not any(is_in(m, room) for room in allowed)}


@pytest.mark.parametrize("wing", RULES)
def test_a_wing_imports_the_rooms_that_its_rule_names(wing: str) -> None:
    imported, rooms = imports_of(wing), RULES[wing]["rooms"]
    assert refused(imported, rooms) == set()
    assert [room for room in rooms if not any(is_in(m, room) for m in imported)] == []


@pytest.mark.parametrize("plugin", sorted(PLUGINS.keys() - RULES.keys()))
def test_the_plugin_of_an_author_imports_doors_only(plugin: str) -> None:
    """As authors outside of this project do; our engines share one package besides."""
    assert imports_of(plugin) - DOORS - KIT <= {"tokpar_engines"}


STRATEGIES = PLUGINS["tokpar-strategies"] / "src" / "tokpar_strategies"


def test_a_strategy_of_the_literature_is_one_file_that_an_author_may_copy() -> None:
    """`recursive` gives long texts to `blocks`, as published; no other file imports another."""
    own = {
        path.stem: set(imported_modules(path.read_text("utf-8")))
        for path in STRATEGIES.iterdir()
        if path.suffix == ".py"
    }
    assert own.keys() == {"__init__", "blocks", "delimiter", "overlap", "recursive"}
    between = {name: {m for m in found if m.startswith("tokpar_")} for name, found in own.items()}
    assert {name: found for name, found in between.items() if found} == {
        "recursive": {"tokpar_strategies.blocks"}
    }


@pytest.mark.parametrize("wing", sorted(OWN_MODULES))
def test_what_each_process_imports_of_a_plugin_is_one_light_door(wing: str) -> None:
    """The modules of its parts are imported when the parts are used."""
    module = PLUGINS[wing] / "src" / wing.replace("-", "_") / "__init__.py"
    tree = ast.parse(module.read_text("utf-8"))
    at_the_top = ast.Module([node for node in tree.body if not isinstance(node, ast.If)], [])
    names = {
        name
        for node in at_the_top.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_modules(ast.unparse(node))
    }
    assert {name for name in names if name.startswith("tokpar")} == {"tokpar.plugin"}


LOADED = """
import sys
from tokpar.registry.tables import registry
assert not [each for each in registry().plugins() if each.problem]
print(*(name for name in sys.modules if name.startswith("tokpar")))
"""


def test_loading_the_plugins_of_tokpar_imports_neither_cuts_nor_executors_nor_their_parts() -> None:
    environment = os.environ | {"TOKPAR_PLUGINS": ""}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True
    )
    names = set(done.stdout.split())
    own = {point.module for point in own_entry_points()}
    assert own <= names
    assert {name for name in names if name.startswith("tokpar_")} == own
    rooms = ("cuts", "patterns", "facts", "methods", "pipeline.", "adapters", "formats")
    light = {"tokpar.pipeline.plan", "tokpar.pipeline.sizes"}
    heavy = tuple(f"tokpar.{room}" for room in rooms)
    assert {name for name in names if name.startswith(heavy)} <= light
    assert {n for n in names if n.startswith("tokpar.executors.")} <= {
        "tokpar.executors.serial_executor"
    }
