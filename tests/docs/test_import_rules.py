"""Who may import whom, and what `import tokpar` costs and brings along."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.import_graph import PACKAGE, allowed, imports, module_name, modules, room_of
from tests.support.paths import ROOT, VOCAB

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


def run(code: str, *arguments: str) -> str:
    """What the code prints in a new interpreter; its error is this test's."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_tokpar_imports_little_beside_numpy() -> None:
    """What the import costs, without a clock."""
    loaded = run(BEYOND_NUMPY).split()
    own = [name for name in loaded if name.partition(".")[0] == "tokpar"]
    installed = [
        n for n in loaded if n.partition(".")[0] not in {"tokpar", *sys.stdlib_module_names}
    ]
    assert "tokpar.encoder" in own
    assert len(own) <= 28
    assert {name.partition(".")[0] for name in installed} <= {"pluggy", "numpy"}
    # pluggy alone brings 13, and "inspect" with its own; "logging" 4, which fork_locks needs first
    assert len(loaded) - len(own) <= 43


STORE_TABLES = """
import sys
import tokpar.adapters.hf_call
tokpar.adapters.hf_call.LEAST_KEPT = 0
tokpar.Encoder(sys.argv[1]).prepare()
"""
READ_ALL_TABLES = """
import tokpar.adapters.hf_call
tokpar.adapters.hf_call.LEAST_KEPT = 0
"""
LOADED_BY_AN_ENCODE = """
import sys
import tokpar
tokpar.encode("The quick brown fox, again. " * 400, sys.argv[1])
print(*(name for name in sys.modules if name.partition(".")[0] == "tokpar"))
"""
MOST_FILES, MOST_LINES = 72, 12_000


@pytest.mark.parametrize("name", ["deepseek_part", "metaspace_unigram"])
def test_an_encode_loads_few_of_our_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the tables of the compiled call on disk; another thread would make them."""
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setenv("TOKPAR_PLUGINS", "")  # those that are installed here
    run(STORE_TABLES, str(VOCAB / f"{name}.json"))
    loaded = run(READ_ALL_TABLES + LOADED_BY_AN_ENCODE, str(VOCAB / f"{name}.json")).split()
    paths = [PACKAGE.parent / each.replace(".", "/") for each in loaded]
    files = [p / "__init__.py" if p.is_dir() else p.with_suffix(".py") for p in paths]
    files = [path for path in files if path.is_file()]  # `_call` is written in C
    assert len(files) <= MOST_FILES
    assert sum(len(p.read_text("utf-8").splitlines()) for p in files) <= MOST_LINES
