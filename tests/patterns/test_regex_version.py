"""`regex.DEFAULT_VERSION` belongs to whoever runs the program: nothing of tokpar depends on it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest
import regex

from tests.support.paths import ROOT

FILES = sorted(
    [*(ROOT / "tokpar").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")],
)
COMPILING = {
    *("compile", "match", "fullmatch", "search", "finditer", "findall"),
    *("sub", "subf", "subn", "subfn", "split", "splititer", "template"),
}


def unversioned(tree: ast.AST) -> Iterator[int]:
    """Lines where the module `regex` makes a pattern and is not told the version; also where a
    function of it is used in a way that this cannot follow."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regex":
            yield node.lineno
        if isinstance(node, ast.Import):
            yield from (node.lineno for name in node.names if name.name == "regex" and name.asname)
        of_regex = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "regex"
        if of_regex and isinstance(node, ast.Attribute) and node.attr in COMPILING:
            call = called.get(id(node))
            arguments = [] if call is None else [*call.args, *(k.value for k in call.keywords)]
            if not any("VERSION0" in ast.unparse(argument) for argument in arguments):
                yield node.lineno


def test_every_pattern_is_compiled_with_the_version_given() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        for line in unversioned(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import regex\nregex.compile('a')",
        "import regex\nregex.finditer('a', 'b', regex.V1)",
        "import regex\nlist(map(regex.compile, ['a']))",
        "import regex as r",
        "from regex import compile",
    ],
)
def test_a_pattern_without_it_is_found(code: str) -> None:
    assert list(unversioned(ast.parse(code)))


IN_ANOTHER_PROCESS = """
import regex
regex.DEFAULT_VERSION = regex.VERSION1
assert not regex.fullmatch("[a||b]", "|")

from tokpar.patterns.charclass_members import match_chars, members
from tokpar_pure.patterns import compile_pattern

assert compile_pattern("[a||b]", "oniguruma").search("|")
assert (ord("|"), ord("|")) in members(["[a||b]"], "regex")["[a||b]"]
assert match_chars("[a||b]", "regex", "b|").tolist() == [True, True]
"""


def test_the_default_version_of_the_process_changes_nothing() -> None:
    assert regex.fullmatch("[a||b]", "|", regex.VERSION0)
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
