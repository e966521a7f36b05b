"""Which rooms of tokpar the packages of this project may import: plugins/wings.toml says it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

import tokpar.registry as registry_module
from tests.support.cli_runs import run
from tests.support.paths import ROOT
from tokpar import __version__, hooks
from tokpar.hooks import load_third_parties

PLUGINS = {path.name: path for path in sorted((ROOT / "plugins").glob("tokpar-*"))}
RULES: dict[str, Any] = tomllib.loads((ROOT / "plugins" / "wings.toml").read_text("utf-8"))
EVERY_WING: list[str] = RULES.pop("every_wing")
DOORS = {"tokpar", "tokpar.plugin"} | {
    f"tokpar.plugin.{door}" for door in ("split", "merge", "tokenizer")
}
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
    """A room is one module, or with ".*" all modules of a package: "tokpar.files.*"."""
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


# --------------------------------------------------------------------------- one version


@pytest.mark.parametrize("wing", RULES)
def test_a_wing_has_the_version_of_tokpar_and_asks_for_it(wing: str) -> None:
    project = tomllib.loads((PLUGINS[wing] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
    assert f"tokpar=={__version__}" in project["dependencies"]


def test_a_wing_is_installed_with_the_wings_that_it_needs() -> None:
    needed = {}
    for name in RULES:
        project = tomllib.loads((PLUGINS[name] / "pyproject.toml").read_text("utf-8"))["project"]
        others = [each.partition("=")[0] for each in project["dependencies"] if "tokpar-" in each]
        needed |= {name: tuple(others)} if others else {}
    assert needed == hooks.NEEDED


def point_of(version: str) -> EntryPoint:
    """The entry point of tokpar-explain in some version; its module must not be imported."""
    point = EntryPoint("explain", "a_module_that_does_not_exist", hooks.PROJECT)
    dist = SimpleNamespace(name="tokpar-explain", version=version)
    vars(point).update(dist=dist)
    return point


def test_a_wing_of_another_version_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)
    (plugin,) = load_third_parties([point_of("9.9")], "1.2")
    assert plugin.offers == ()
    assert plugin.problem == (
        "it has version 9.9 and tokpar 1.2, and only equal versions go together: "
        "pip install . ./plugins/tokpar-explain, in one checkout of tokpar"
    )
    registry = registry_module.Registry.load([point_of("9.9")])
    monkeypatch.setattr(registry_module, "_registry", [registry])
    error = run("explain", "a.txt").error
    assert error.startswith("plugin 'explain' of tokpar-explain: it has version 9.9 and tokpar ")
