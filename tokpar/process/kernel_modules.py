"""Imports the compiled kernel, the hot loops of the cache, if it is installed (docs/design.md).

With ``TOKPAR_KERNEL=compiled``, a missing kernel is an ImportError. With ``TOKPAR_KERNEL=none``,
the kernel is not used. The ids are the same with and without the kernel. Another value is an
ImportError. A kernel that this machine cannot load counts as a missing kernel."""

from __future__ import annotations

import importlib
import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

_CHOICES = ("", "compiled", "none")
_UNLOADABLE: dict[str, str] = {}
"""Name of a module -> why this machine cannot load it."""


def _import_module(name: str) -> ModuleType | None:
    wanted = os.environ.get("TOKPAR_KERNEL", "")
    if wanted not in _CHOICES:
        raise ImportError(f"TOKPAR_KERNEL must be 'compiled' or 'none', got {wanted!r}")
    if wanted == "none":
        return None
    spec = importlib.util.find_spec(f"tokpar.compiled.{name}")
    if spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES)):
        return importlib.import_module(f"tokpar.compiled.{name}")
    # an installed tokpar has its kernel beside it, and does not need these lines
    from tokpar.process.kernel_sources import load_installed

    return load_installed(name, is_required=wanted == "compiled")


def _loadable_module(name: str) -> ModuleType | None:
    """Returns `_import_module`; None if the module was compiled for another machine."""
    try:
        return _import_module(name)
    except ImportError as error:
        if os.environ.get("TOKPAR_KERNEL"):
            raise
        _UNLOADABLE[name] = f"it does not load: {error}"
        return None


CALL = _loadable_module("_call")
"""The module of `call.c`; or None."""
NAME = "none" if CALL is None else "compiled"
WHY_NONE = ""
"""Why there is no kernel, in words; empty if there is one."""
if CALL is None:
    from tokpar.process.kernel_sources import why_none

    WHY_NONE = _UNLOADABLE.get("_call") or why_none()


def __getattr__(name: str) -> ModuleType | None:
    """`CONTENTS`, `MERGES`, `VOCABULARY`: the functions of `_contents`, `_merges`, `_vocabulary`,
    compiled; or None. They are imported when they are first needed."""
    if name not in ("CONTENTS", "MERGES", "VOCABULARY"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _loadable_module(f"_{name.lower()}")
    globals()[name] = module
    return module
