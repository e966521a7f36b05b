"""The functions of the kernel, compiled, and those of its source, uncompiled: their oracle."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from tests.support import kernel_words, not_cython
from tokpar.process import kernel_modules

TWINS = pytest.mark.parametrize("name", ["plain", "compiled"])


class Plain:
    """The functions of a source file, uncompiled, which want memoryviews."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if not callable(found):
            return found
        return lambda *given: found(*map(_viewed, given))


def _viewed(each: Any) -> Any:
    array: Any = each
    return memoryview(array) if isinstance(each, np.ndarray) else each


@cache
def plain(part: str) -> Plain:
    """The uncompiled twin of `_merges`, `_vocabulary` or `_contents`."""
    source = Path(kernel_modules.__file__).parent.parent / "compiled" / f"{part}.py"
    spec = importlib.util.spec_from_file_location(f"tokpar{part}_plain", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, {"cython": not_cython}):
        spec.loader.exec_module(module)
    assert not module.COMPILED
    for name, function in vars(kernel_words).items():
        if callable(function) and name in vars(module):
            setattr(module, name, function)
    return Plain(module)


def twin(name: str, part: str = "_merges") -> Any:
    """The twin called "plain" or "compiled"; skips the test if it is not compiled here."""
    if name == "plain":
        return plain(part)
    found = getattr(kernel_modules, part[1:].upper())
    if found is None:
        pytest.skip("the kernel is not compiled here")
    assert found.COMPILED
    return found


def twin_kernel(name: str) -> Any:
    """What `tokpar.compiled.merges` takes for the kernel."""
    return SimpleNamespace(MERGES=twin(name, "_merges"), VOCABULARY=twin(name, "_vocabulary"))
