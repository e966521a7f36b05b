"""What is compared: every strategy, the published ones also as published, each under one name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tokpar.errors import UnknownNameError
from tokpar.registry import registry

PAPER = {"acceptance": "paper"}


@dataclass(frozen=True)
class Method:
    """A strategy with options, under the name that tables give it."""

    name: str
    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def with_options(self, **options: Any) -> Method:
        """The same with other values of those options that its strategy has."""
        known = inspect.signature(registry().strategy(self.strategy).build).parameters
        fitting = {name: value for name, value in options.items() if name in known}
        return replace(self, options={**self.options, **fitting})


SERIAL_NAME = "serial"
SERIAL = Method(SERIAL_NAME, SERIAL_NAME)
"""The tokenizer's own call on the whole text, which all others are compared with."""


def compared(chunk_chars: int, overlap_chars: int) -> list[Method]:
    """The published methods as published, then hardened, then those of plugins with their defaults.
    Sizes in code points; `auto` is tuned, `recursive` has depth 3, the published blocks their own
    overlap."""
    size = {"chunk_chars": chunk_chars}
    both = {**size, "overlap_chars": overlap_chars}
    own = [
        SERIAL,
        Method("delimiter-comma", "delimiter", {**size, "delimiter": ","}),
        Method("delimiter-period", "delimiter", {**size, "delimiter": "."}),
        Method("delimiter-space", "delimiter", {**size, "delimiter": " "}),
        Method("overlap-longest", "overlap", {**both, "match": "longest"}),
        Method("overlap-window", "overlap", {**both, "match": "window"}),
        Method("recursive-paper", "recursive", {**PAPER, "depth": 3}),
        Method("blocks-paper", "blocks", {**size, **PAPER}),
        Method("lopt-paper", "lopt", {**both, **PAPER, "on_failure": "restart"}),
        Method("lopt", "lopt", both),
        Method("recursive", "recursive", {"depth": 3}),
        Method("blocks", "blocks", size),
        Method("cut", "cut", size),
        Method("auto", "auto"),
    ]
    others = {record.name for record in registry().strategies()} - {each.strategy for each in own}
    return own + [Method(name, name) for name in sorted(others)]


def retried(chunk_chars: int, overlap_chars: int) -> list[Method]:
    """Both ways of failing, for repetitive texts."""
    both = {"chunk_chars": chunk_chars, "overlap_chars": overlap_chars}
    return [
        SERIAL,
        Method("lopt-paper-restart", "lopt", {**both, **PAPER, "on_failure": "restart"}),
        Method("lopt-paper-repair", "lopt", {**both, **PAPER, "on_failure": "repair"}),
        Method("lopt-restart", "lopt", {**both, "on_failure": "restart"}),
        Method("lopt-repair", "lopt", {**both, "on_failure": "repair"}),
        Method("auto", "auto"),
    ]


def chosen(methods: Sequence[Method], names: Sequence[str] | None) -> list[Method]:
    """Those of these names, in the order of `methods`, and always `serial`; all for None. Raises
    UnknownNameError."""
    known = [method.name for method in methods]
    for name in names or ():
        if name not in known:
            raise UnknownNameError("method", name, known)
    wanted = known if names is None else [SERIAL_NAME, *names]
    return [method for method in methods if method.name in wanted]
