"""The tables of strategies, executors, tokenizer sources and commands, of tokpar and of plugins.

Plugins are loaded one by one. A broken plugin is listed with its problem; the others still load."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from tokpar.contract.interfaces import Merger, Splitter
from tokpar.errors import OptionError, PluginError, UnknownNameError
from tokpar.process.fork_locks import in_child, own_lock
from tokpar.registry.hooks import (
    OFFERS,
    PROJECT,
    Command,
    ExecutorKind,
    MergerKind,
    Plugin,
    SplitterKind,
    Strategy,
    TokenizerSource,
    load_plugin,
    load_plugins,
)

if TYPE_CHECKING:  # slow to import
    from importlib.metadata import EntryPoint

SETTINGS = frozenset(
    ("add_special_tokens", "allowed_special", "disallowed_special", "engine", "engine_check")
) | {"lowercase", "cache_bytes", "padding", "pat_str", "special_tokens", "truncation"}
"""Settings of `load` that callers often pass as options of a strategy, by mistake."""
ENCODER_OPTIONS = ("strategy", "executor", "workers", "allow_approximate")
"""Options that every strategy has by `Encoder`."""
Offer = TypeVar("Offer")
_Claim = tuple[str, str]


@dataclass(frozen=True, slots=True)
class StrategyRecord:
    """The description of a strategy for people. `options`: "name: type = default" of each one."""

    name: str
    lossless: bool
    source: str
    conditions: str
    owner: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """The description of a plugin for people.

    `owner`: the distribution that installed the plugin. `provides`: "kind name" of each object.
    `problem`: why the plugin provides nothing, or None."""

    name: str
    owner: str
    version: str
    provides: tuple[str, ...]
    problem: str | None


class Names:
    """What is registered under which name. `own`: the plugin "builtins".

    A plugin with a disputed name provides nothing, unless it is one of tokpar's own."""

    def __init__(self, own: Plugin, others: Sequence[Plugin]) -> None:
        self.own, self.others = own, others
        self.disputes = _disputes((own, *others))
        tables: dict[str, dict[str, tuple[Any, Plugin]]] = {kind: {} for _, kind in OFFERS.values()}
        for plugin in (own, *others):
            for kind, offered in () if self.problem(plugin) else plugin.offers:
                tables[kind][offered.name] = offered, plugin
        self.tables = {kind: dict(sorted(table.items())) for kind, table in tables.items()}

    def problem(self, plugin: Plugin) -> str | None:
        """Returns why the plugin provides nothing, or None.

        tokpar's own plugins keep a name that another plugin claims too."""
        if plugin.is_own:
            return plugin.problem
        disputed = (self.disputes[each] for each in _claims(plugin) if each in self.disputes)
        return plugin.problem or next(disputed, None)


class Registry:
    """The tables of registered names. `load` builds a registry; `register` adds a plugin object."""

    def __init__(self, own: Plugin, others: Sequence[Plugin] = ()) -> None:
        self._lock = own_lock(self)
        self._names = Names(own, others)

    @classmethod
    def load(cls, entry_points: Iterable[EntryPoint] | None = None) -> Registry:
        """Returns a registry of what tokpar itself has and of the plugins of the entry points.

        `entry_points` None: all installed entry points. The environment variable TOKPAR_PLUGINS
        may exclude plugins of other distributions."""
        from importlib import metadata

        found = metadata.entry_points(group=PROJECT) if entry_points is None else entry_points
        try:
            version = metadata.version(PROJECT)
        except metadata.PackageNotFoundError:  # run from a source tree
            version = ""
        own = load_plugin(
            "builtins", PROJECT, version, lambda: import_module("tokpar.registry.builtins")
        )
        if own.problem is not None:
            raise PluginError(f"{own.label}: {own.problem}")
        return cls(own, load_plugins(found))

    def register(self, plugin: object, name: str | None = None) -> None:
        """Add a plugin object, as if the plugin were installed.

        Raises PluginError if the plugin has a problem. The registry is then unchanged."""
        name = name or getattr(plugin, "__name__", None) or type(plugin).__name__
        fresh = load_plugin(name, "this program", "", lambda: plugin)
        with self._lock:
            names = Names(self._names.own, [*self._names.others, fresh])
            problem = names.problem(fresh)
            if problem is not None:
                raise PluginError(f"{fresh.label}: {problem}")
            self._names = names

    def strategy(self, name: str) -> Strategy:
        """Returns the strategy of that name.

        Raises UnknownNameError; PluginError if two plugins claim the name."""
        return self._find("strategy", Strategy, name)

    def executor_kind(self, name: str) -> ExecutorKind:
        """Returns the executor of that name.

        Raises UnknownNameError; PluginError if two plugins claim the name."""
        return self._find("executor", ExecutorKind, name)

    def splitter_kind(self, name: str) -> SplitterKind:
        """Returns the splitter of that name.

        Raises UnknownNameError; PluginError if two plugins claim the name."""
        return self._find("splitter", SplitterKind, name)

    def merger_kind(self, name: str) -> MergerKind:
        """Returns the merger of that name.

        Raises UnknownNameError; PluginError if two plugins claim the name."""
        return self._find("merger", MergerKind, name)

    def command(self, name: str) -> Command:
        """Returns the subcommand of that name.

        Raises UnknownNameError; PluginError if two plugins claim the name."""
        return self._find("command", Command, name)

    def commands(self) -> list[Command]:
        """Returns all subcommands, sorted by name."""
        return [command for command, _ in self._names.tables["command"].values()]

    def kinds_of(self, name: str) -> list[str]:
        """Returns the kinds registered under a name, sorted: "splitter", "strategy", ..."""
        return [kind for kind, table in sorted(self._names.tables.items()) if name in table]

    def tokenizer_sources(self) -> list[TokenizerSource]:
        """Returns all tokenizer sources: tokpar's own first, then by name."""
        names = self._names
        rows = names.tables["tokenizer"].values()
        return [source for source, _ in sorted(rows, key=lambda row: row[1] is not names.own)]

    def strategies(self) -> list[StrategyRecord]:
        """Returns all strategies, sorted by name."""
        return [
            StrategyRecord(
                name=strategy.name,
                lossless=strategy.lossless,
                source=strategy.source,
                conditions=strategy.conditions,
                owner=plugin.owner,
                options=_describe_options(strategy.build),
            )
            for strategy, plugin in self._names.tables["strategy"].values()
        ]

    def plugins(self) -> list[PluginRecord]:
        """Returns all plugins: "builtins" first, then by name. Failed plugins have a problem."""
        records, names = [], self._names
        for plugin in (names.own, *sorted(names.others, key=lambda each: (each.name, each.owner))):
            problem = names.problem(plugin)
            provides = () if problem else tuple(f"{kind} {name}" for kind, name in _claims(plugin))
            records.append(
                PluginRecord(plugin.name, plugin.owner, plugin.version, provides, problem)
            )
        return records

    def _find(self, kind: str, shape: type[Offer], name: str) -> Offer:
        names = self._names
        table = names.tables[kind]
        if name in table:
            found = table[name][0]
            assert isinstance(found, shape)
            return found
        if (kind, name) in names.disputes:
            raise PluginError(names.disputes[kind, name])
        advice = [self.failed_plugins(), self.advice_on_parts(name) if kind == "strategy" else ""]
        raise UnknownNameError(kind, name, table, "; ".join(filter(None, advice)))

    def failed_plugins(self) -> str:
        """Returns the names of the plugins that provide nothing, in words, or "": a name that is
        unknown may be one of theirs."""
        names = self._names
        failed = sorted({plugin.name for plugin in names.others if names.problem(plugin)})
        if not failed:
            return ""
        return f"not loaded, `tokpar plugins` says why: {', '.join(failed)}"

    def advice_on_parts(self, name: str) -> str:
        """Returns what to write instead of the name of a splitter or merger where a strategy is
        asked for; "" for another name."""
        if name in self._names.tables["splitter"]:
            return f"{name!r} is a splitter: name a merger, too, such as {name}+certified"
        if name in self._names.tables["merger"]:
            return f"{name!r} is a merger: name a splitter, too, such as cut+{name}"
        return ""


def _claims(plugin: Plugin) -> list[_Claim]:
    return [(kind, offered.name) for kind, offered in plugin.offers]


def _disputes(plugins: Iterable[Plugin]) -> dict[_Claim, str]:
    claimants: dict[_Claim, list[str]] = {}
    for plugin in plugins:
        for claim in _claims(plugin):
            claimants.setdefault(claim, []).append(plugin.label)
    return {
        (kind, name): f"the {kind} name {name!r} is claimed by {' and by '.join(labels)}"
        for (kind, name), labels in claimants.items()
        if len(labels) > 1
    }


def build_strategy(strategy: Strategy, options: Mapping[str, Any]) -> tuple[Splitter, Merger]:
    """Returns the splitter and the merger of `strategy`. OptionError for an unknown option."""
    require_options(f"strategy {strategy.name!r}", [strategy.build], options)
    return strategy.build(**options)


def require_options(
    label: str, builds: Sequence[Callable[..., Any]], options: Mapping[str, Any]
) -> None:
    """Raise OptionError for an option that no build function has, or for a missing option.

    The error lists the known options."""
    allowed = [own_options(build, options) for build in builds]
    unknown = sorted(options.keys() - {name for own in allowed for name in own})
    if unknown:
        shown = dict.fromkeys(each for build in builds for each in _describe_options(build))
        raise OptionError(_no_option(label, unknown[0], list(shown), options[unknown[0]]))
    for build in builds:
        for name, each in _options(build).items():
            variable = each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            if each.default is each.empty and not variable and name not in options:
                raise OptionError(f"{label} needs the option {name!r}")


def _no_option(label: str, name: str, known_options: Sequence[str], value: object) -> str:
    said = f"{label} has no option {name!r}"
    if name in SETTINGS:
        return f"{said}: it is a setting of the tokenizer, tokpar.load(..., {name}={value!r})"
    from difflib import get_close_matches  # slow to import

    known_names = [each.partition(":")[0] for each in known_options]
    near = get_close_matches(name, [*known_names, *ENCODER_OPTIONS], 1)
    asked = f"; did you mean {near[0]!r}?" if near else ""
    return f"{said}{asked}; its options: {', '.join(known_options) or '(none)'}"


def own_options(build: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that `build` takes."""
    taken = _options(build)
    open_ended = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    return {name: value for name, value in options.items() if open_ended or name in taken}


@lru_cache(maxsize=256)
def _options(build: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(build).parameters


def _describe_options(build: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(_describe_option(each) for each in _options(build).values())


def _describe_option(parameter: inspect.Parameter) -> str:
    """Returns a parameter as in the source: "chunk_chars: int | None = None"."""
    annotation, shown = parameter.annotation, str(parameter)
    return shown.replace(repr(annotation), annotation, 1) if isinstance(annotation, str) else shown


_lock = own_lock(sys.modules[__name__])
_loads: list[int] = []
"""A number while plugins are loaded."""
in_child(_loads.clear)  # no other thread loads them there
_registry: list[Registry] = []


def registry() -> Registry:
    """Returns the registry of this process. The first call loads the registry.

    Raises PluginError for a call of a plugin while it is loaded: at its module level, or in a
    hook."""
    if not _registry:
        with _lock:
            if _loads:
                raise PluginError(
                    "it calls tokpar while it is loaded; call tokpar in the functions that its "
                    "hooks register, not at module level nor in a hook"
                )
            if not _registry:
                _loads.append(1)
                try:
                    _registry.append(Registry.load())
                finally:
                    _loads.clear()
    return _registry[0]
