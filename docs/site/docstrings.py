"""Docstrings as Markdown reads them: doctests as code, "<s>" as text and not as a tag. Properties
of our own are shown as properties."""

from __future__ import annotations

import re
from typing import Any

import griffe

griffe.stdlib_decorators["tokpar.process.cached_property.cached_property"] = {"cached", "property"}
DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
CODE = re.compile(r"(^```(?:.*\n)*?```$|^    .*$|`[^`]+`)", re.MULTILINE)


def as_markdown(docstring: str) -> str:
    """Doctests, up to the next empty line, are fenced; "<" and "\\" outside code are escaped."""
    fenced = DOCTEST.sub(lambda match: f"\n```pycon\n{match[0]}\n```\n", docstring)
    prose_and_code = CODE.split(fenced)
    prose_and_code[::2] = [
        prose.replace("\\", r"\\").replace("<", "&lt;") for prose in prose_and_code[::2]
    ]
    return "".join(prose_and_code)


class Docstrings(griffe.Extension):
    """mkdocstrings reads tokpar through it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
