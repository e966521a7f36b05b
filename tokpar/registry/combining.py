"""Turns the strategy that a caller names into a splitter and a merger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokpar.contract.interfaces import Merger, Splitter
from tokpar.contract.part_checks import require_methods
from tokpar.errors import LossyError, OptionError
from tokpar.registry.hooks import Strategy
from tokpar.registry.tables import build_strategy, own_options, registry, require_options

StrategyName = str | tuple[str | Splitter, str | Merger]
"""A registered strategy; or a splitter and a merger, each a name or an object. One string may name
both parts: "lines+edges"."""


@dataclass(frozen=True, slots=True)
class BuiltStrategy:
    """The splitter and the merger of a strategy.

    `tunable`: the caller set no option, so the encoder may choose the sizes. `approximate`: a seam
    that no rule licenses may be joined."""

    name: str
    splitter: Splitter
    merger: Merger
    tunable: bool
    approximate: bool = False


def build_parts(
    strategy: StrategyName, options: Mapping[str, Any], allow_approximate: bool
) -> BuiltStrategy:
    """Returns the parts of a strategy, made with `options`.

    Two combined parts promise nothing, so without `allow_approximate` a seam that no rule licenses
    is not joined. Raises LossyError for an approximate strategy, UnknownNameError, OptionError;
    PluginError for a part whose methods cannot be called as the interface calls them."""
    parts = tuple(strategy.split("+")) if isinstance(strategy, str) else strategy
    if isinstance(strategy, str) and len(parts) == 1:
        record = registry().strategy(strategy)
        if not allow_approximate:
            _require_lossless(record, options)
        tunable = record.lossless and not options
        made = build_strategy(record, options)
        _require_methods(*made)
        approximate = not record.lossless or bool(_approximate_options(record, options))
        return BuiltStrategy(record.name, *made, tunable, approximate)
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise OptionError(
            "strategy must be a name, or a splitter and a merger, such as ('cut', 'certified'); "
            f"got {strategy!r}"
        )
    found = _combine_parts(*parts, options)
    if allow_approximate:
        return replace(found, approximate=True)
    from tokpar.methods.mergers import LicensedMerger

    return replace(found, merger=LicensedMerger(found.merger))


def _combine_parts(
    splitter: str | Splitter, merger: str | Merger, options: Mapping[str, Any]
) -> BuiltStrategy:
    cut, join = _maker(splitter, "splitter"), _maker(merger, "merger")
    name = "+".join(
        part if isinstance(part, str) else type(part).__name__ for part in (splitter, merger)
    )
    require_options(f"strategy {name!r}", [make for make, _ in (cut, join)], options)
    cutting, joining = (make(**own_options(make, options)) for make, _ in (cut, join))
    _require_methods(cutting, joining)
    return BuiltStrategy(name, cutting, joining, tunable=cut[1] and not options)


def _require_methods(splitter: object, merger: object) -> None:
    require_methods(splitter, "splitter")
    require_methods(merger, "merger")


def _maker(part: object, kind: str) -> tuple[Callable[..., Any], bool]:
    """Returns a function that makes the part, and whether the caller gave a name.

    An object takes no options."""
    if isinstance(part, str):
        found = registry().splitter_kind if kind == "splitter" else registry().merger_kind
        return found(part).build, True
    method = "split" if kind == "splitter" else "merge"
    if not callable(getattr(part, method, None)):
        raise OptionError(
            f"a {kind} must be a name or an object with a {method} method, "
            f"got {type(part).__name__}"
        )
    return lambda: part, False


def _approximate_options(record: Strategy, options: Mapping[str, Any]) -> list[str]:
    """Returns the options that make a lossless strategy approximate, in words."""
    chosen = ((n, value) for n, value in record.approximate_if if options.get(n) == value)
    return [f"{name}={value!r}" for name, value in chosen]


def _require_lossless(record: Strategy, options: Mapping[str, Any]) -> None:
    options_chosen = _approximate_options(record, options)
    if record.lossless and not options_chosen:
        return
    what = " with ".join([f"strategy {record.name!r}", *options_chosen]) + " is approximate"
    exact = "strategy='auto'"
    if record.lossless:
        exact = f"strategy={record.name!r} without {options_chosen[0]}"
    raise LossyError(
        f"{what}: its ids can differ from the serial ones; use {exact} for the exact "
        "ids, or pass allow_approximate=True"
    )
