"""The rooms of tokpar: how many there are, what each says of itself, what stands beside them."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support.import_graph import (
    PACKAGE,
    imports_of,
    module_name,
    modules,
    room_of,
    without_circles,
)
from tests.support.paths import ROOT

TOP = "__init__ __main__ arrays calls encoder errors loading run types"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
MOST_FOLDERS = 24
MANY = 10
"""So many rooms import a room that is imported by "any room"."""


@cache
def importers() -> dict[str, set[str]]:
    """Room -> the other rooms that import it, at the top of a module or when a function runs."""
    found: dict[str, set[str]] = {}
    for path in modules():
        own = room_of(module_name(path)) or "tokpar"
        for item in imports_of(path):
            room = room_of(item.module)
            if room is not None and (room or "tokpar") != own:
                found.setdefault(room or "tokpar", set()).add(own)
    return found


def folders() -> list[Path]:
    return [p for p in PACKAGE.rglob("*") if p.is_dir() and p.name != "__pycache__"]


def test_there_are_few_rooms_and_few_files_beside_them() -> None:
    assert len(folders()) <= MOST_FOLDERS, "a new room takes the place of another one"
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {*(f"{name}.py" for name in TOP.split()), "py.typed"}


def test_no_room_imports_itself_by_way_of_others() -> None:
    left = without_circles(importers())
    assert left == {}, f"these rooms import each other in a circle: {sorted(left)}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_who_imports_it_and_what_to_read_first(room: str) -> None:
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
    told = re.fullmatch(
        r"(?P<what>.+)\n\nImported by: (?P<who>[^\n]+)\.\nRead first: `(?P<first>[^`]+)`\.",
        ast.get_docstring(tree) or "",
        re.DOTALL,
    )
    assert told, f"tokpar/{room}/__init__.py ends its docstring with the two lines of each room"
    assert (PACKAGE / room / told["first"]).is_file()
    who, actual = told["who"], importers().get(room, set())
    if who == "any room":
        assert len(actual) >= MANY
    else:
        assert set(re.findall("`(.+?)`", who)) == actual


def class_names() -> dict[str, list[str]]:
    """Name of a class -> the modules of tokpar and of the plugins in its wheel that define it."""
    found: dict[str, list[str]] = {}
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    for folder in folders["targets"]["wheel"]["packages"]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    return found


def test_a_name_of_a_class_has_one_meaning() -> None:
    twice = {name: modules for name, modules in class_names().items() if len(modules) > 1}
    assert twice == {}, "each says in its name what it holds or does"


def test_the_page_of_the_design_names_each_room() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert [room for room in ROOMS if f"`{room}/`" not in page] == []
