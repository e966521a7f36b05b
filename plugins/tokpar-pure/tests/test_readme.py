"""README.md of tokpar-pure names all that the package has."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import tokpar_pure
from tokpar_pure import decoders, normalizers, pretokenize

from tests.support.paths import ROOT

README = ROOT / "plugins" / "tokpar-pure" / "README.md"
INNER = {"merging"}
"""Modules that only serve others of the package: their classes are nobody's to call."""


def public_names() -> Iterator[str]:
    """Classes and readers (`read_...`) that the modules but the inner ones define."""
    for found in pkgutil.iter_modules(tokpar_pure.__path__):
        if found.name in INNER:
            continue
        module = importlib.import_module(f"tokpar_pure.{found.name}")
        for name, value in vars(module).items():
            counts = inspect.isclass(value) or name.startswith("read_")
            if counts and not name.startswith("_") and value.__module__ == module.__name__:
                yield name


def kinds_read() -> Iterator[str]:
    """Kinds of parts of a tokenizer.json that the readers know by name."""
    for module in (normalizers, pretokenize, decoders):
        yield from module._READERS


def test_the_readme_names_every_class_reader_and_kind() -> None:
    page = README.read_text(encoding="utf-8")
    code = " ".join(re.findall(r"^```python$.*?^```$|`[^`\n]+`", page, re.DOTALL | re.MULTILINE))
    wanted = {*public_names(), *kinds_read()}
    assert sorted(wanted - set(re.findall(r"\w+", code))) == []
