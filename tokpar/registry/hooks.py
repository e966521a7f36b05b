"""What a plugin may offer: the pluggy hooks, and the records that the hooks return.

A plugin is a module or object with some of these functions, each decorated with ``@hookimpl`` and
each returning a list of objects that name themselves. It is found through the entry-point group
``tokpar``; hooks are called once, when the registry is loaded."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pluggy

from tokpar.contract.interfaces import Executor, Merger, Splitter, TokenizerAdapter
from tokpar.errors import PluginError
from tokpar.process.interrupts import is_of_handler

if TYPE_CHECKING:  # slow to import
    from importlib.metadata import EntryPoint

PROJECT = "tokpar"
LIMIT = "TOKPAR_PLUGINS"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorates the functions of a plugin that are hooks."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered way to split and merge. The keyword parameters of `build` are its options.

    `approximate_if`: (option, value) pairs that make an otherwise lossless strategy approximate."""

    name: str
    lossless: bool
    source: str
    conditions: str
    build: Callable[..., tuple[Splitter, Merger]]
    approximate_if: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A registered way to get an adapter.

    `load(source, **settings)` returns an adapter, or None for a kind of source that it does not
    load. A source that is not `automatic` is asked only by its name:
    ``tokpar.load(path, engine=name)``."""

    name: str
    load: Callable[..., TokenizerAdapter | None]
    automatic: bool = True


@dataclass(frozen=True, slots=True)
class ExecutorKind:
    """A registered executor.

    `build(workers)` makes an executor; None: as many workers as there are CPUs. `suits(tokenizer)`:
    True if the executor can run that tokenizer."""

    name: str
    build: Callable[[int | None], Executor]
    suits: Callable[[TokenizerAdapter], bool]


@dataclass(frozen=True, slots=True)
class SplitterKind:
    """A registered splitter; `build`'s keyword parameters are its options."""

    name: str
    build: Callable[..., Splitter]


@dataclass(frozen=True, slots=True)
class MergerKind:
    """A registered merger; `build`'s keyword parameters are its options."""

    name: str
    build: Callable[..., Merger]


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand of the command line, `tokpar NAME`. `load` gives a module or an object with
    `declare(parser)`, which adds arguments to an `argparse.ArgumentParser`, `run(arguments)`, which
    returns the exit code, and a docstring, which is the help. It is called when the command is run,
    or its help is shown."""

    name: str
    load: Callable[[], Any]


@dataclass(frozen=True)
class ImportedLater:
    """A function of a module that is imported when the function is called, or its options read: so
    a plugin costs nothing until it is used."""

    module: str
    name: str

    def __call__(self, *arguments: object, **settings: object) -> Any:
        return self._function(*arguments, **settings)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def _function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function


@hookspec
def tokpar_tokenizers() -> list[TokenizerSource]:
    """Ways to get an adapter."""
    return []


@hookspec
def tokpar_executors() -> list[ExecutorKind]:
    """Ways to run a tokenizer on chunks."""
    return []


@hookspec
def tokpar_splitters() -> list[SplitterKind]:
    """Ways to cut a text."""
    return []


@hookspec
def tokpar_mergers() -> list[MergerKind]:
    """Ways to join pieces."""
    return []


@hookspec
def tokpar_strategies() -> list[Strategy]:
    """Splitter and merger that belong together, under one name."""
    return []


@hookspec
def tokpar_commands() -> list[Command]:
    """Subcommands of `tokpar`."""
    return []


# What each hook's list holds, and what one such object is called in messages.
OFFERS: dict[str, tuple[type[Any], str]] = {
    "tokpar_commands": (Command, "command"),
    "tokpar_executors": (ExecutorKind, "executor"),
    "tokpar_mergers": (MergerKind, "merger"),
    "tokpar_splitters": (SplitterKind, "splitter"),
    "tokpar_strategies": (Strategy, "strategy"),
    "tokpar_tokenizers": (TokenizerSource, "tokenizer"),
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A loaded plugin: (kind, object) of everything it offers, or its problem and no offers.

    `owner`: the distribution that installed the plugin; "tokpar" for our own."""

    name: str
    owner: str
    version: str = ""
    offers: tuple[tuple[str, Any], ...] = ()
    problem: str | None = None

    @property
    def is_own(self) -> bool:
        """True for a plugin in the wheel of tokpar, and so loads whatever is installed."""
        return self.owner == PROJECT

    @property
    def label(self) -> str:
        return f"plugin {self.name!r} of {self.owner}"


def load_plugin(name: str, owner: str, version: str, find: Callable[[], object]) -> Plugin:
    """Returns the plugin that `find` returns, after its hooks were called.

    An error of the plugin becomes its `problem`, even a panic of its engine, which is no Exception.
    Raises what a signal handler raised: an interrupt, a deadline."""
    try:
        return Plugin(name, owner, version, tuple(_offers(find())))
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)) or is_of_handler(error):
            raise
        said = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        return Plugin(name, owner, version, problem=said)


def load_plugins(entry_points: Iterable[EntryPoint]) -> list[Plugin]:
    """Returns the plugins of the entry points, by name: all of tokpar's own, and those of other
    distributions that TOKPAR_PLUGINS allows.

    Unset: all of them. Empty: none. Else: the names in its comma list. A plugin of another
    distribution with the name of one of tokpar's own is not loaded, and of two others with one name
    neither is."""
    limit = os.environ.get(LIMIT)
    wanted = None if limit is None else {name.strip() for name in limit.split(",")} - {""}
    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for point in entry_points:
        owner = _origin(point)[0]
        if wanted is None or point.name in wanted or owner == PROJECT:
            found.setdefault(point.name, {})[owner, point.value] = point
    plugins = [
        Plugin(name, "nobody", problem=f"{LIMIT} names it, but it is not installed")
        for name in sorted((wanted or set()) - found.keys())
    ]
    for name, points in sorted(found.items()):
        owners = " and by ".join(f"{value} of {owner}" for owner, value in sorted(points))
        claimed = f"the plugin name {name!r} is claimed by {owners}"
        for claim in sorted(points):
            point, origin = points[claim], _origin(points[claim])
            if len(points) == 1 or claim[0] == PROJECT:
                plugins.append(load_plugin(name, *origin, point.load))
            else:
                plugins.append(Plugin(name, *origin, problem=claimed))
    return plugins


def _origin(point: EntryPoint) -> tuple[str, str]:
    """Returns the name and version of the distribution; without metadata, the module and ""."""
    if point.dist is None:
        return point.module, ""
    return point.dist.name, point.dist.version


def _offers(plugin: object) -> Iterator[tuple[str, Any]]:
    """Yields (kind, object) of everything a plugin offers.

    Raises PluginError and the errors of the plugin's hooks."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(sys.modules[__name__])
    manager.register(plugin)
    manager.check_pending()  # a misspelt hook name
    if not manager.get_hookcallers(plugin):
        raise PluginError(f"it has no hooks; decorate some of {', '.join(OFFERS)} with @hookimpl")
    for hook, (shape, kind) in OFFERS.items():
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            offered = implementation.function()
            if not isinstance(offered, list):
                raise PluginError(f"{hook} must return a list, got {type(offered).__name__}")
            for each in offered:
                if not isinstance(each, shape):
                    raise PluginError(
                        f"{hook} must return {shape.__name__} objects, got {type(each).__name__}"
                    )
                if not isinstance(each.name, str):
                    raise PluginError(f"{hook}: a name must be a str, got {each.name!r}")
                yield kind, each
