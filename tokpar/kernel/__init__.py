"""The compiled kernel, if there is one: a memory of stretches of text (docs/design.md).

``TOKPAR_KERNEL=compiled`` makes it an error that there is none, ``TOKPAR_KERNEL=none`` does
without; ids are the same. Raises ImportError for another value, or what a broken one raises."""

from __future__ import annotations

import importlib
import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

_CHOICES = ("", "compiled", "none")


def _chosen(name: str) -> ModuleType | None:
    wanted = os.environ.get("TOKPAR_KERNEL", "")
    if wanted not in _CHOICES:
        raise ImportError(f"TOKPAR_KERNEL must be 'compiled' or 'none', got {wanted!r}")
    if wanted == "none":
        return None
    spec = importlib.util.find_spec(f"tokpar.kernel.{name}")
    built = spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES))
    if not built:
        if wanted == "compiled":
            raise ImportError("TOKPAR_KERNEL=compiled, but tokpar was installed without its kernel")
        return None
    return importlib.import_module(f"tokpar.kernel.{name}")


STRETCHES = _chosen("_stretches")
"""The functions of `_stretches`, compiled; or None."""
PIECES = _chosen("_pieces")
"""The functions of `_pieces`, compiled; or None."""
READER = _chosen("_reader")
"""The functions of `_reader`, compiled; or None."""
NAME = "none" if STRETCHES is None else "compiled"
