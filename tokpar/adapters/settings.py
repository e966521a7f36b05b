"""Checks of the settings that `tokpar.load` passes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokpar.errors import OptionError

FINISHING = ("add_special_tokens", "truncation", "padding")
"""What a tokenizer does once to the whole, each of which can be left out."""


def check_names(settings: Mapping[str, Any], known: Sequence[str]) -> None:
    """OptionError for a setting that is not known."""
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        names = f"known: {', '.join(known)}" if known else "there are none for this source"
        raise OptionError(f"unknown setting {unknown[0]!r}; {names}")


def flags(settings: Mapping[str, Any], known: Sequence[str]) -> dict[str, bool]:
    """The settings, all of which are True or False; OptionError for others."""
    check_names(settings, known)
    for name, value in settings.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")
    return dict(settings)
