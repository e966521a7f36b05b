"""Small faults in Python, by the operators of cosmic-ray, and in C, by a few patterns."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.rooms import ROOT, Room

WRITTEN = ROOT / "tests/data/written_faults.json"

OPERATORS = [
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Add", "FloorDiv_Mul", "BitAnd_BitOr", "BitOr_BitAnd",
        "LShift_RShift", "RShift_LShift")),
    "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr",
    "ReplaceOrWithAnd", "AddNot", "ReplaceUnaryOperator_Delete_Not", "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak", "ZeroIterationForLoop",
]  # fmt: skip
"""Of cosmic-ray. Its others change what no test should ask for (decorators, kinds of errors), or
make what Python refuses."""

IN_C: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (r" ([<>])(=?) ", lambda found: f" {found[1]} " if found[2] else f" {found[1]}= "),
    (r" ([!=])= ", lambda found: " != " if found[1] == "=" else " == "),
    (r" (&&|\|\|) ", lambda found: " || " if found[1] == "&&" else " && "),
    (r" [+-] 1\b|(?<=\bif \()!", lambda found: ""),
    (r"\b0x[0-9a-fA-F]{2,}", lambda found: hex(int(found[0], 16) ^ 1)),
    (r"(?<=[<>=] )\d+\b(?![.x])", lambda found: str(int(found[0]) + 1)),
    (r" & (?=[\w(~])", lambda found: " | "),
]
"""Comparisons, conditions, one more or less, masks, constants."""


class Fault(NamedTuple):
    """`text` in the place of a file of the checkout."""

    key: str
    file: str
    line: int
    what: str
    text: str


def code_lines(text: str) -> list[tuple[tuple[int, int], tuple[int, int], bool]]:
    """Returns the places (line, column in bytes) of the bodies of functions, and of what in them
    is no code that decides: annotations, errors, messages. Faults stand in the former only."""
    places = []
    for node in ast.walk(ast.parse(text)):
        is_of_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__repr__":
            places.append((node.body[0], node.body[-1], True))
        elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or is_of_types:
            places.append((node, node, False))
        types = (getattr(node, name, None) for name in ("annotation", "returns"))
        places += [(child, child, False) for child in types if child is not None]
    return [
        ((first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset), is_code)
        for first, last, is_code in places  # type: ignore[attr-defined]
    ]


@cache
def operator(name: str) -> Any:
    from cosmic_ray.operators.provider import OperatorProvider

    return OperatorProvider()[name]()


def spots_in_python(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the operator, the number of its occurrence and the line of each fault."""
    from cosmic_ray.ast import ast_nodes, get_ast

    places, lines = code_lines(text), text.splitlines()
    occurrences = Counter[str]()
    for node in ast_nodes(get_ast(text)):
        for name in OPERATORS:
            for start, _ in operator(name).mutation_positions(node):
                occurrences[name] += 1
                within = [is_code for first, last, is_code in places if first <= start < last]
                is_check = lines[start[0] - 1][: start[1]].endswith("strict=")  # of equal lengths
                if within and all(within) and not is_check:
                    yield name, occurrences[name] - 1, start[0]


def change_between(old: str, new: str, line: int) -> str:
    """Returns the changed lines, the old and the new one."""
    changed = [
        each
        for each in difflib.ndiff(old.splitlines(), new.splitlines())
        if each[:2] in ("- ", "+ ")
    ]
    return " -> ".join(" ".join(each[2:].split()) for each in changed)


def faults_in_python(file: Path) -> Iterator[tuple[str, Callable[[], tuple[int, str, str]]]]:
    """Yields a name for each fault in a file, and what makes line, change and text of it."""
    text = file.read_text("utf-8")
    lines = text.splitlines()
    seen = Counter[str]()
    for name, occurrence, line in spots_in_python(text):
        about = f"{name} {lines[line - 1].strip()}"
        seen[about] += 1

        def made(name: str = name, occurrence: int = occurrence, line: int = line) -> Any:
            from cosmic_ray.mutating import mutate_code

            new = mutate_code(text, operator(name), occurrence)
            return line, change_between(text, new, line), new

        yield f"{about} {seen[about]}", made


def faults_in_c(file: Path) -> Iterator[tuple[str, Callable[[], tuple[int, str, str]]]]:
    """The same, of a file in C."""
    text, seen = file.read_text("utf-8"), Counter[str]()
    no_code = re.compile(r'/\*.*?\*/|//[^\n]*|^ *#(?:[^\n]*\\\n)*[^\n]*|"[^"\n]*"', re.S | re.M)
    code = no_code.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for k, (pattern, replaced) in enumerate(IN_C):
        for found in re.finditer(pattern, code):
            start, stop = found.span()
            line = text.count("\n", 0, start) + 1
            about = f"{k} {found[0]} {text.splitlines()[line - 1].strip()}"
            seen[about] += 1

            def made(
                start: int = start, stop: int = stop, new: str = replaced(found), line: int = line
            ) -> Any:
                changed = text[:start] + new + text[stop:]
                return line, change_between(text, changed, line), changed

            yield f"{about} {seen[about]}", made


def drawn_faults(
    room: Room, seed: str, most: int, only: frozenset[str] | None = None
) -> list[Fault]:
    """Returns at most so many faults of a room, drawn by a hash of the line and the seed: a change
    elsewhere leaves a fault what it is. `only`: keys of the faults that are wanted instead."""
    draw = []
    for file in room.files():
        name = str(file.relative_to(ROOT))
        in_file = faults_in_python if file.suffix == ".py" else faults_in_c
        for about, made in in_file(file):
            key = hashlib.sha256(f"{name} {about}".encode()).hexdigest()[:8]
            draw.append((hashlib.sha256(f"{seed} {key}".encode()).digest(), key, name, made))
    draw.sort(key=lambda each: each[0])
    chosen = draw[:most] if only is None else [each for each in draw if each[1] in only]
    return [Fault(key, name, *made()) for _, key, name, made in chosen]


def written_faults(room: str) -> list[Fault]:
    """Returns the faults of a room that a person wrote, where no operator makes such ones."""
    found = []
    for name, file, old, new in json.loads(WRITTEN.read_text("utf-8")):
        if name != room:
            continue
        text = (ROOT / file).read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{file} has {text.count(old)} times {old!r}; mend {WRITTEN.name}")
        key = hashlib.sha256(f"{file} {old} {new}".encode()).hexdigest()[:8]
        line, changed = text.count("\n", 0, text.index(old)) + 1, text.replace(old, new)
        found.append(Fault(key, file, line, change_between(text, changed, line), changed))
    return found
