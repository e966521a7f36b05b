"""Imports the compiled kernel, the hot loops of the cache, if it is installed (docs/design.md).

With ``TOKPAR_KERNEL=compiled``, a missing kernel is an ImportError. With ``TOKPAR_KERNEL=none``,
the kernel is not used. The ids are the same with and without the kernel. Another value is an
ImportError. A broken kernel raises its own error."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

_CHOICES = ("", "compiled", "none")
_FOLDER = Path(__file__).parent.with_name("compiled")


def _import_module(name: str) -> ModuleType | None:
    wanted = os.environ.get("TOKPAR_KERNEL", "")
    if wanted not in _CHOICES:
        raise ImportError(f"TOKPAR_KERNEL must be 'compiled' or 'none', got {wanted!r}")
    if wanted == "none":
        return None
    spec = importlib.util.find_spec(f"tokpar.compiled.{name}")
    if spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES)):
        return importlib.import_module(f"tokpar.compiled.{name}")
    folder, why_none = _installed_kernel()
    if folder is not None:
        return _load(f"tokpar.compiled.{name}", folder)
    if wanted == "compiled":
        raise ImportError(f"TOKPAR_KERNEL=compiled, but there is no kernel: {why_none}")
    return None


def _load(name: str, folder: Path) -> ModuleType | None:
    """Loads a module of the kernel in `folder`, in place of the module of that name."""
    stem = name.rpartition(".")[2]
    files = (folder / f"{stem}{suffix}" for suffix in EXTENSION_SUFFIXES)
    file = next(filter(Path.is_file, files), None)
    spec = None if file is None else importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


@cache
def _installed_kernel() -> tuple[Path | None, str]:
    """Returns what `kernel_for` returns for this copy of tokpar."""
    from tokpar.process.kernel_sources import (
        kernel_for,  # an installed tokpar has its kernel beside it
    )

    return kernel_for(_FOLDER)


def _why_none() -> str:
    if os.environ.get("TOKPAR_KERNEL") == "none":
        return "TOKPAR_KERNEL=none is set"
    return _installed_kernel()[1]


CALL = _import_module("_call")
"""The module of `call.c`; or None."""
NAME = "none" if CALL is None else "compiled"
WHY_NONE = "" if CALL is not None else _why_none()
"""Why there is no kernel, in words; empty if there is one."""


def __getattr__(name: str) -> ModuleType | None:
    """`CONTENTS`, `MERGES`, `VOCABULARY`: the functions of `_contents`, `_merges`, `_vocabulary`,
    compiled; or None. They are imported when they are first needed."""
    if name not in ("CONTENTS", "MERGES", "VOCABULARY"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(f"_{name.lower()}")
    globals()[name] = module
    return module
