"""The API reference has everything that is public, and everything on it has a docstring.

Pages and sources are only read, so neither mkdocs nor an optional package is needed.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from types import ModuleType

import pytest
from tokpar_conformance import api

import tokpar
from tests.support.pages import PAGES as EXAMPLES
from tests.support.pages import blocks
from tests.support.paths import ROOT
from tokpar import errors, plugin, types
from tokpar.contract import interfaces
from tokpar.plugin import merge, overlap, split, tokenizer
from tokpar.registry import hooks

API = ROOT / "docs" / "api"
PLUGINS = ("conformance", "corpus", "diff", "explain", "train", "engines")
SOURCES_OF_PACKAGES = (ROOT, *(ROOT / "plugins" / f"tokpar-{name}" / "src" for name in PLUGINS))
IMPORTED_PACKAGES = {"tokpar", *(f"tokpar_{name}" for name in PLUGINS)}
DIRECTIVE = re.compile(r"^::: ([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
ALIASES = {
    "tokpar.registry.hooks.hookimpl",
    "tokpar.arrays.IdArray",
    "tokpar.arrays.IntArray",
    "tokpar.arrays.SpanArray",
    "tokpar.methods.acceptance.Accept",
    "tokpar.types.Chunks",
    "tokpar.types.Joins",
    "tokpar.types.Pieces",
    "tokpar.types.Scheme",
    "tokpar.types.Witness",
}
"""Public names of values, which do not know where they are defined."""


@dataclass(frozen=True)
class Definition:
    """A public name where it is defined: "tokpar.encoder.encode", never "tokpar.encode"."""

    name: str
    docstring: str | None
    node: ast.stmt | ast.Module


@cache
def parsed(module: str) -> ast.Module | None:
    """The source of a module or package, or None if there is none of that name."""
    for source in SOURCES_OF_PACKAGES:
        path = source.joinpath(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return ast.parse(file.read_text(encoding="utf-8"))
    return None


def definition(name: str) -> Definition:
    """What a dotted name stands for, imports followed; of a function and a module of one name it
    is the function. KeyError if there is nothing."""
    module, _, attribute = name.rpartition(".")
    above = parsed(module) or ast.Module([], [])
    for found in definitions(module, above):
        if found.name == name:
            return found
    for node in imported_at_top(above):
        for alias in node.names:
            if (alias.asname or alias.name) == attribute:
                return definition(f"{node.module}.{alias.name}")
            if alias.name == "*":  # a package whose names another module lists
                return definition(f"{node.module}.{attribute}")
    if (tree := parsed(name)) is None:
        raise KeyError(name)
    return Definition(name, ast.get_docstring(tree), tree)


def imported_at_top(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """What a module imports, also for type checkers only: it may get those names when asked."""
    inner = (node.body for node in tree.body if isinstance(node, ast.If))
    for node in chain(tree.body, *inner):
        if isinstance(node, ast.ImportFrom):
            yield node


def definitions(module: str, tree: ast.Module) -> Iterator[Definition]:
    """Classes, functions and assigned names of a module; the string below an assignment is its
    docstring."""
    for node, after in zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield Definition(f"{module}.{node.name}", ast.get_docstring(node), node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            said = after.value if isinstance(after, ast.Expr) else None
            docstring = said.value if isinstance(said, ast.Constant) else None
            if isinstance(target, ast.Name):
                text = docstring if isinstance(docstring, str) else None
                yield Definition(f"{module}.{target.id}", text, node)


def shown(page: str) -> Iterator[Definition]:
    """What the directives of a page show: an object, or a module with its classes and functions."""
    for name, options in DIRECTIVE.findall(page):
        found = definition(name)
        yield found
        if isinstance(found.node, ast.Module) and "members: false" not in options:
            yield from (each for each in definitions(name, found.node) if in_modules(each))


def in_modules(found: Definition) -> bool:
    """Is it shown with its module? Of assigned names those with a docstring are."""
    private = found.name.rpartition(".")[2].startswith("_")
    assigned = isinstance(found.node, (ast.Assign, ast.AnnAssign))
    return not private and (bool(found.docstring) or not assigned)


def reference() -> list[Definition]:
    """Everything on the pages."""
    pages = [path.read_text(encoding="utf-8") + "\n" for path in sorted(API.glob("*.md"))]
    return [found for page in pages for found in shown(page)]


def defined_in(module: ModuleType) -> set[str]:
    """Public classes and functions that a module defines."""
    return {
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    }


def public() -> Iterator[str]:
    """Every name that must be on the pages, as its users would write it."""
    for package in (tokpar, plugin, split, merge, overlap, tokenizer, api):
        yield from (f"{package.__name__}.{name}" for name in package.__all__)
    for module in (interfaces, errors, types):
        yield from defined_in(module)
    for hook, (record, _) in hooks.OFFERS.items():
        yield f"tokpar.registry.hooks.{hook}"
        yield f"tokpar.registry.hooks.{record.__name__}"
    yield from ("tokpar.registry.tables.StrategyRecord", "tokpar.registry.tables.PluginRecord")
    yield "tokpar.train"
    yield "tokpar.integrations.tiktoken_subclass.TokparEncoding"
    yield from ALIASES


def test_every_public_name_is_in_the_api_reference() -> None:
    names = {found.name for found in reference()}
    assert sorted(name for name in public() if definition(name).name not in names) == []


def imported(source: str) -> Iterator[str]:
    """What an example imports of tokpar: "from tokpar.types import Chunk" -> tokpar.types.Chunk."""
    for node in ast.walk(ast.parse(source)):
        package = (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and package in IMPORTED_PACKAGES:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_the_examples_import_is_in_the_api_reference(page: Path) -> None:
    names = {found.name for found in reference()}
    wanted = {
        definition(name)
        for block in blocks(page)
        if block.kind == "python"
        for name in imported(block.body)
    }
    objects = {found.name for found in wanted if not isinstance(found.node, ast.Module)}
    assert sorted(objects - names) == []


def test_nothing_is_in_the_api_reference_twice() -> None:
    names = [found.name for found in reference()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_everything_in_the_api_reference_has_a_docstring() -> None:
    assert sorted(found.name for found in reference() if not found.docstring) == []


def test_the_index_names_every_page() -> None:
    index = (API / "index.md").read_text(encoding="utf-8")
    pages = {path.name for path in API.glob("*.md")}
    assert pages - {"index.md"} == set(re.findall(r"\]\((\w+\.md)\)", index))


def modules_with_doctests() -> list[str]:
    paths = sorted((ROOT / "tokpar").rglob("*.py"))
    with_doctests = [path for path in paths if re.search(r"^ *>>> ", path.read_text("utf-8"), re.M)]
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in with_doctests
    ]


@pytest.mark.parametrize("name", modules_with_doctests())
def test_the_examples_in_docstrings_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
