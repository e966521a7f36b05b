"""Imports packages that only some corpora need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokpar.errors import OptionError


def pyarrow_module(name: str, wanted_by: str) -> Any:
    """Returns a module of pyarrow. Raises OptionError that says what to install. `wanted_by`: the
    file or option that needs pyarrow, for the message."""
    try:
        return import_module(name)
    except ImportError:
        raise OptionError(f"{wanted_by} needs the package pyarrow: pip install pyarrow") from None
