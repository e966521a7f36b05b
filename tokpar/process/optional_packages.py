"""Imports packages that tokpar does not bring along, but by an extra: `tokpar[corpus]`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokpar.errors import OptionError

EXTRAS = {
    "hypothesis": "conformance",
    "matplotlib": "bench",
    "psutil": "bench",
    "pyarrow": "corpus",
    "ray": "ray",
    "zstandard": "corpus",
}
"""Package -> the extra of tokpar that brings it."""


def optional_package(name: str, wanted_by: str) -> Any:
    """Returns a module of a package of `EXTRAS`, or a submodule: "pyarrow.parquet".

    `wanted_by`: what needs the package, for the message. Raises OptionError that says what to
    install."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise OptionError(
            f"{wanted_by} needs the package {package} ({error}): pip install {package}, or install "
            f"tokpar with the extra [{EXTRAS[package]}]"
        ) from None
