"""docs/troubleshooting.md quotes messages that the sources have."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
QUOTED = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def text_of(node: ast.expr) -> str:
    """A literal as it is printed, with a line feed for what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) for part in parts)
        case ast.BinOp(left=left, right=right):
            return text_of(left) + text_of(right)
    return "\n"


@cache
def literals() -> list[str]:
    """All strings of the sources, of the plugins, too."""
    found = set()
    plugins = (ROOT / "plugins").glob("*/src/**/*.py")
    for path in (*(ROOT / "tokpar").rglob("*.py"), *plugins):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                found.add(text_of(node))
    return sorted(found, key=len)


def is_said(message: str) -> bool:
    """True if the parts between "..." stand in one string, in this order."""
    parts = [part.strip() for part in message.split("...") if part.strip(" :;,")]
    pattern = re.compile(".*?".join(map(re.escape, parts)), re.DOTALL)
    return any(pattern.search(text) for text in literals() if parts[0] in text)


def quoted() -> list[str]:
    return QUOTED.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("message", quoted())
def test_a_quoted_message_is_one_of_the_sources(message: str) -> None:
    assert is_said(message)


def test_there_are_messages_and_others_are_not_found() -> None:
    assert len(quoted()) > 40
    assert is_said("text must be a str, got ...")
    assert not is_said("text must be a list, got ...")
    assert not is_said("text must be ... or later")
