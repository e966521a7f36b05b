"""Checks of the settings that `tokpar.load` passes on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokpar.errors import OptionError
from tokpar.pure.bert import bert_config

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


def path_of(source: object, *suffixes: str) -> Path | None:
    """The path that `source` is, if it ends in one of these."""
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    return path if path is not None and path.suffix in suffixes else None


def bert_file(path: Path, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bool]]:
    """A BERT ``vocab.txt`` as ``tokenizer.json``, and the settings but for `lowercase`, which is of
    such files only. OptionError, FileFormatError, FileNotFoundError."""
    finishing = flags(settings, (*FINISHING, "lowercase"))
    return bert_config(path, finishing.pop("lowercase", True)), finishing
