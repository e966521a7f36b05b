"""Which modules of tokpar import which, and the rooms that may import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

PACKAGE = ROOT / "tokpar"

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"data", "errors", "arrays"}),
    frozenset({"process", "types"}),
    frozenset({"contract", "formats", "patterns"}),
    frozenset({"decoding", "executors", "facts", "results"}),
    frozenset({"certificate", "cuts"}),
    frozenset({"compiled", "sessions"}),
    frozenset({"adapters", "pipeline"}),
    frozenset({"chunks", "methods"}),
    frozenset({"untrusted"}),
    frozenset({"registry"}),
    frozenset({"loading", "plugin"}),
    frozenset({"encoder"}),
    frozenset({"calls", "integrations"}),
    frozenset({"", "run"}),  # "" is tokpar/__init__.py
    frozenset({"cli"}),
    frozenset({"__main__"}),
)
"""The rooms by layers. Each room may import the rooms of the layers before it, and itself."""

NOT_BETWEEN = {
    ("executors", "patterns"),
    ("executors", "formats"),
    ("decoding", "patterns"),
    ("facts", "contract"),
    ("results", "formats"),
    ("results", "patterns"),
    ("cuts", "contract"),
    ("cuts", "executors"),
    ("cuts", "results"),
    ("sessions", "executors"),
    ("pipeline", "facts"),
    ("pipeline", "patterns"),
    ("pipeline", "decoding"),
    ("pipeline", "untrusted"),
    ("chunks", "compiled"),
    ("chunks", "adapters"),
    ("methods", "compiled"),
    ("methods", "adapters"),
}
"""Imports that the layers would allow and that no room may have: what they would tie together."""


@dataclass(frozen=True)
class Import:
    """One module that a module imports; `lazy` if only when a function runs."""

    module: str
    lazy: bool


def module_name(path: Path) -> str:
    """tokpar/cuts/finder.py -> "tokpar.cuts.finder"; a package's name for its __init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The module that `from ... import` reads, without dots in front."""
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def names_of(node: ast.AST, package: str) -> list[str]:
    """Modules that one import statement may read; `from a import b` gives "a.b"."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{absolute(node, package)}.{alias.name}" for alias in node.names]
    return []


def imports(tree: ast.AST, package: str, lazy: bool = False) -> Iterator[Import]:
    """All imports of a module, those inside functions marked lazy."""
    for node in ast.iter_child_nodes(tree):
        yield from (Import(name, lazy) for name in names_of(node, package))
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from imports(node, package, lazy or inside)


def room_of(module: str) -> str | None:
    """The room of tokpar that has a name: "tokpar.cuts.finder.f" -> "cuts"; None for other names.

    "tokpar.Encoder" is the package itself, "".
    """
    first, _, rest = module.partition(".")
    if first != "tokpar":
        return None
    name = rest.split(".")[0]
    known = (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()
    return name if known or name in set().union(*LAYERS) else ""


def layer(name: str) -> int:
    """Its number; StopIteration for a room without a layer."""
    return next(n for n, names in enumerate(LAYERS) if name in names)


def allowed(importer: str, imported: str) -> bool:
    """May one room import another?"""
    if importer == imported:
        return True
    if (importer, imported) in NOT_BETWEEN:
        return False
    return layer(importer) > layer(imported)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports_of(path: Path) -> Iterator[Import]:
    """All imports of a module of tokpar."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return imports(ast.parse(path.read_text(encoding="utf-8")), package)


def without_circles(importers: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What is left when each room that no remaining room imports is taken out, again and again: the
    rooms of circles, and the rooms that circles import. Empty if there is no circle."""
    left = {room: set(others) for room, others in importers.items()}
    while free := [room for room, others in left.items() if not others & left.keys()]:
        for room in free:
            del left[room]
    return left
