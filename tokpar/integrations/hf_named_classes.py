"""The module of the classes of drop-ins: each is an attribute, by its qualified name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokpar.integrations.hf import accelerate_class
from tokpar.integrations.hf_classes import classes


def __getattr__(name: str) -> type:
    """Returns the class of this name, which another process may have made. Raises
    AttributeError."""
    if name not in classes and ":" in name:
        module, _, path = name.replace("/", ".").partition(":")
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return accelerate_class(found)
    try:
        return classes[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
