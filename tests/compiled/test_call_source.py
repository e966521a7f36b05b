"""What the C of the kernel may not say, because compilers read it in different ways."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "tokpar" / "compiled"
SOURCES = [*sorted(FOLDER.glob("call*.[ch]")), FOLDER / "words.h"]
MOST_OF_INT = (1 << 31) - 1
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define (\w+)\(([^)]*)\)(.*)$", re.MULTILINE)
_ENUM = re.compile(r"\benum\s*\w*\s*\{([^}]*)\}")
_NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")


def unsure_macros(source: str) -> Iterator[str]:
    """Yields the macros that do not evaluate each of their arguments once."""
    for name, given, body in _MACRO.findall(_COMMENT.sub("", source).replace("\\\n", " ")):
        parameters = [each.strip() for each in given.split(",") if each.strip()]
        if any(len(re.findall(rf"\b{each}\b", body)) != 1 for each in parameters):
            yield f"{name}({given}){body}"


def enum_constants(source: str) -> dict[str, int]:
    """Returns the constants of all enums of a source, and their values."""
    values: dict[str, int] = {}
    for body in _ENUM.findall(_COMMENT.sub("", source)):
        value = -1
        for each in filter(None, (part.strip() for part in body.split(","))):
            name, _, written = each.partition("=")
            value = value_of(written, values) if written else value + 1
            values[name.strip()] = value
    return values


def value_of(written: str, values: dict[str, int]) -> int:
    """Returns the value of an expression of numbers, constants, + - * << >> and parentheses."""
    numbers = _NUMBER.sub(lambda found: str(int(found[1], 0)), written)
    names = re.sub(r"[A-Za-z_]\w*", lambda found: str(values[found[0]]), numbers)
    tree = ast.parse(names.strip(), mode="eval")
    allowed = ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop
    assert all(isinstance(node, allowed) for node in ast.walk(tree)), written
    return int(eval(compile(tree, "enum", "eval")))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_macro_evaluates_each_argument_once_for_every_compiler(path: Path) -> None:
    assert [*unsure_macros(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_constant_of_an_enum_is_beyond_an_int(path: Path) -> None:
    """Microsoft's compiler makes the int -1 of 0xFFFFFFFFu, which is less than every rank."""
    constants = enum_constants(path.read_text(encoding="utf-8"))
    assert {name: value for name, value in constants.items() if abs(value) > MOST_OF_INT} == {}


def test_what_is_looked_for_is_found() -> None:
    assert [*unsure_macros("#define FETCH(place) ((void)0)\n#define ONE(x) (x)")] == [
        "FETCH(place) ((void)0)"
    ]
    assert [*unsure_macros("#define SQUARE(x) \\\n ((x) * (x))")] != []
    written = "enum { A, B = 1 << 4, /* C, */ NONE = 0xFFFFFFFFu, D = (B << 2) - 1 };"
    assert enum_constants(written) == {"A": 0, "B": 16, "NONE": 2**32 - 1, "D": 63}
    assert len(SOURCES) > 14
    assert sum(len(enum_constants(path.read_text(encoding="utf-8"))) for path in SOURCES) > 60
