"""Who may import whom, and what `import tokpar` costs and brings along."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.import_graph import PACKAGE, allowed, imports, module_name, modules, room_of
from tests.support.paths import ROOT
from tests.support.trips import (
    FIRST_ENCODES,
    loaded_by_a_first_encode,
    run_code,
    stored_trips,
)

PLUGGY = frozenset({"registry"})


def violations(module: str, source: str, package: str) -> list[str]:
    """What one module imports against the rules."""
    own = room_of(module) or ""
    found = []
    for item in imports(ast.parse(source), package):
        other = room_of(item.module)
        if other is not None and not allowed(own, other):
            found.append(f"{module} imports {item.module}")
        if item.module.split(".")[0] == "pluggy" and own not in PLUGGY:
            found.append(f"{module} imports pluggy")
    return found


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    assert violations(name, path.read_text(encoding="utf-8"), package) == []


def sources_of_modules() -> dict[str, str]:
    return {module_name(path): path.read_text(encoding="utf-8") for path in modules()}


def without_types(tree: ast.Module) -> ast.Module:
    """The module without its imports for type checkers."""
    kept = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
    ]
    return ast.Module(kept, [])


def circles(sources: Mapping[str, str]) -> set[str]:
    """The modules that import themselves by way of others, at the top or when a function runs."""
    imported: dict[str, set[str]] = {}
    for module, source in sources.items():
        names = {item.module for item in imports(without_types(ast.parse(source)), module)}
        parents = {name.rpartition(".")[0] for name in names}
        imported[module] = (names | parents) & sources.keys() - {module, "tokpar"}
    return {module for module in imported if module in reached(imported, module)}


def reached(imported: Mapping[str, set[str]], module: str) -> set[str]:
    """The modules that a module imports, by way of others too."""
    found: set[str] = set()
    ahead = {*imported[module]}
    while ahead:
        found |= ahead
        ahead = {name for each in ahead for name in imported.get(each, ())} - found
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert circles(sources_of_modules()) == set()


def test_what_a_newcomer_reads_first_is_short() -> None:
    first = ("pipeline/steps.py", "types.py", "contract/interfaces.py")
    assert sum(len((PACKAGE / name).read_text("utf-8").splitlines()) for name in first) <= 730


def test_the_certificate_imports_nothing_of_what_it_checks() -> None:
    values = ("types", "arrays", "errors", "contract.interfaces", "contract.adapter")
    values += ("process.cached_property",)
    values += ("results.seams", "patterns.pattern_parser", "patterns.pair_rows", "certificate")
    sources = [path for path in modules() if room_of(module_name(path)) == "certificate"]
    for path in sources:
        package = module_name(path) if path.name == "__init__.py" else module_name(path.parent)
        for item in imports(ast.parse(path.read_text(encoding="utf-8")), package):
            if room_of(item.module) is not None:
                assert item.module.startswith(tuple(f"tokpar.{each}" for each in values)), path


# --------------------------------------------------------------------------- import tokpar


BEYOND_NUMPY = """
import sys
import numpy
before = set(sys.modules)
import tokpar
print(*sorted(set(sys.modules) - before))
"""


def test_importing_tokpar_imports_little_beside_numpy() -> None:
    """What the import costs, without a clock."""
    loaded = run_code(BEYOND_NUMPY).split()
    own = [name for name in loaded if name.partition(".")[0] == "tokpar"]
    installed = [
        n for n in loaded if n.partition(".")[0] not in {"tokpar", *sys.stdlib_module_names}
    ]
    assert "tokpar.encoder" in own
    assert len(own) <= 28
    assert {name.partition(".")[0] for name in installed} <= {"pluggy", "numpy"}
    # pluggy alone brings 13, and "inspect" with its own; "logging" 4, which fork_locks needs first
    assert len(loaded) - len(own) <= 43


MOST_LINES = 12_000


@pytest.mark.parametrize("name", FIRST_ENCODES)
def test_an_encode_loads_few_of_our_files(name: str, tmp_path: Path) -> None:
    """With the tables of the compiled call on disk."""
    files = loaded_by_a_first_encode(name, tmp_path)
    assert {*files} - {*stored_trips()[f"first encode, {name}"]} == set()
    assert sum(len((ROOT / path).read_text("utf-8").splitlines()) for path in files) <= MOST_LINES
