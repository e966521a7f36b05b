"""Imports the compiled kernel, the hot loops of the cache, if it is installed (docs/design.md).

With ``TOKPAR_KERNEL=compiled``, a missing kernel is an ImportError. With ``TOKPAR_KERNEL=none``,
the kernel is not used. The ids are the same with and without the kernel. Another value is an
ImportError. A broken kernel raises its own error."""

from __future__ import annotations

import importlib
import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

_CHOICES = ("", "compiled", "none")


def _import_module(name: str) -> ModuleType | None:
    wanted = os.environ.get("TOKPAR_KERNEL", "")
    if wanted not in _CHOICES:
        raise ImportError(f"TOKPAR_KERNEL must be 'compiled' or 'none', got {wanted!r}")
    if wanted == "none":
        return None
    spec = importlib.util.find_spec(f"tokpar.cache.{name}")
    built = spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES))
    if not built:
        if wanted == "compiled":
            raise ImportError("TOKPAR_KERNEL=compiled, but tokpar was installed without its kernel")
        return None
    return importlib.import_module(f"tokpar.cache.{name}")


CALL = _import_module("_call")
"""The module of `call.c`; or None."""
CONTENTS = _import_module("_contents")
"""The functions of `tokpar.cache._contents`, compiled; or None."""
NAME = "none" if CALL is None else "compiled"


def __getattr__(name: str) -> ModuleType | None:
    """`MERGES`, `VOCABULARY`: the functions of `_merges` and `_vocabulary`, compiled; or None. They
    are imported when they are first needed."""
    if name not in ("MERGES", "VOCABULARY"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(f"_{name.lower()}")
    globals()[name] = module
    return module
