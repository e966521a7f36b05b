"""What a caller has (an object, a path, a name) becomes a tokenizer adapter; and what it names, a
strategy or its two parts, how texts are split and merged."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from tokpar.errors import LossyError, OptionError, UnknownNameError
from tokpar.interfaces import Merger, Splitter, Strategy, TokenizerAdapter
from tokpar.registry import build_strategy, own_options, registry, require_options

DEFAULT_TOKENIZER = "default"
PLUGIN_ENGINES = ("fastokens", "gigatoken", "sentencepiece", "tokie")
"""Engines that come with packages of the same name, "tokpar-" in front."""


@runtime_checkable
class View(Protocol):
    """`Encoder.as_hf()` or `Encoder.as_tiktoken()`."""

    def viewed(self) -> object:
        """The tokenizer behind it."""


@runtime_checkable
class Refreshes(Protocol):
    """An adapter that notices that the caller changed the tokenizer since it was loaded."""

    def refreshed(self) -> TokenizerAdapter:
        """Itself while nothing changed, else an adapter of the tokenizer as it is now."""


@runtime_checkable
class Detaches(Protocol):
    """What was learned of a tokenizer object can be kept without keeping that object alive."""

    def detached(self) -> Detaches:
        """The same without its tokenizer object; good for `attached` only."""

    def attached(self, source: object) -> TokenizerAdapter:
        """An adapter again, of the object this was loaded from."""


# Keyed by (engine, settings), written out.
_loaded: weakref.WeakKeyDictionary[Any, dict[str, Detaches]] = weakref.WeakKeyDictionary()


def load(
    source: object = DEFAULT_TOKENIZER, *, engine: str | None = None, **settings: Any
) -> TokenizerAdapter:
    """An adapter for `source`: a tokenizers.Tokenizer, a transformers fast tokenizer, a
    tiktoken.Encoding, a view of one of these, a path (tokenizer.json, .tiktoken, BERT's vocab.txt),
    a registered name such as "default", or any object with `name` and `encode(text)`.

    `engine` names the source that must load it. `settings` belong to the tokenizer's kind
    (`add_special_tokens`, `lowercase`, `allowed_special`, ...). What is learned of an object is
    kept as long as the object lives. Raises UnknownNameError, FileFormatError, OptionError,
    FileNotFoundError."""
    if isinstance(source, str) and source == DEFAULT_TOKENIZER:
        return _load_default(engine, settings)
    if isinstance(source, View):
        source = source.viewed()
    try:
        known = _loaded.setdefault(source, {})
    except TypeError:  # not hashable or not weakly referable: a path, an adapter with slots
        return _load(source, engine, settings)
    key = repr((engine, sorted(settings.items())))
    adapter = known[key].attached(source) if key in known else _load(source, engine, settings)
    if isinstance(adapter, Refreshes) and adapter is not source:
        adapter = adapter.refreshed()
    if isinstance(adapter, Detaches) and adapter is not source:
        known[key] = adapter.detached()
    return adapter


_defaults: dict[str, TokenizerAdapter] = {}


def _load_default(engine: str | None, settings: dict[str, Any]) -> TokenizerAdapter:
    key = repr((engine, sorted(settings.items())))
    if key not in _defaults:
        if engine is None:
            try:
                import_module("tokenizers")
            except ImportError:
                engine = "pure"  # the same ids, slower
        from importlib import resources  # slow to import

        path = resources.files("tokpar.data") / "default.json"
        with resources.as_file(path) as file:
            _defaults[key] = _load(file, engine, settings)
    return _defaults[key]


def _load(source: object, engine: str | None, settings: dict[str, Any]) -> TokenizerAdapter:
    sources = registry().tokenizer_sources()
    for entry in sources:
        if entry.name == engine or (engine is None and entry.automatic):
            adapter = entry.load(source, **settings)
            if adapter is not None:
                return adapter
    known = [entry.name for entry in sources]
    if engine is not None and engine not in known:
        package = f"tokpar-{engine}"
        advice = ""
        if engine in PLUGIN_ENGINES:
            install = f"pip install {package} (`tokpar plugins` shows what is loaded)"
            advice = f"it comes with {package}: {install}"
        raise UnknownNameError("engine", engine, known, advice)
    if isinstance(source, (str, os.PathLike)):
        files = ("tokenizer.json", ".tiktoken file", "BERT vocab.txt")
        loadable = [DEFAULT_TOKENIZER, *(f"a path of a {file}" for file in files)]
        raise UnknownNameError("tokenizer", os.fspath(source), loadable)
    if engine is None and callable(getattr(source, "encode", None)) and hasattr(source, "name"):
        if settings:
            raise OptionError(f"an object that is its own adapter takes no settings: {settings}")
        return source  # type: ignore[return-value]  # duck-typed: it has what the Protocol asks for
    raise UnknownNameError("tokenizer", type(source).__name__, known)


StrategyName = str | tuple[str | Splitter, str | Merger]
"""A registered strategy; or a splitter and a merger, each a name or an object, and for two names
"lines+edges" will do."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A strategy to be used. `tunable`: the caller set nothing, so that sizes may be fitted."""

    name: str
    splitter: Splitter
    merger: Merger
    tunable: bool


def chosen(strategy: StrategyName, options: Mapping[str, Any], allow_approximate: bool) -> Chosen:
    """The parts of a strategy, made with `options`.

    Of two parts that are combined nothing is promised: without `allow_approximate` a seam that no
    rule licenses is not joined. Raises LossyError for a strategy that is approximate,
    UnknownNameError, OptionError."""
    parts = tuple(strategy.split("+")) if isinstance(strategy, str) else strategy
    if isinstance(strategy, str) and len(parts) == 1:
        record = registry().strategy(strategy)
        if not allow_approximate:
            _require_lossless(record, options)
        tunable = record.lossless and not options
        return Chosen(record.name, *build_strategy(record, options), tunable)
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise OptionError(
            "strategy must be a name, or a splitter and a merger, such as ('cut', 'certified'); "
            f"got {strategy!r}"
        )
    found = _combined(*parts, options)
    if allow_approximate:
        return found
    from tokpar.overlap.mergers import LicensedMerger, LicensedSplitter

    splitter, merger = LicensedSplitter(found.splitter), LicensedMerger(found.merger)
    return replace(found, splitter=splitter, merger=merger)


def _combined(splitter: str | Splitter, merger: str | Merger, options: Mapping[str, Any]) -> Chosen:
    cut, join = _maker(splitter, "splitter"), _maker(merger, "merger")
    name = "+".join(
        part if isinstance(part, str) else type(part).__name__ for part in (splitter, merger)
    )
    require_options(f"strategy {name!r}", [make for make, _ in (cut, join)], options)
    cutting, joining = (make(**own_options(make, options)) for make, _ in (cut, join))
    return Chosen(name, cutting, joining, tunable=cut[1] and not options)


def _maker(part: object, kind: str) -> tuple[Callable[..., Any], bool]:
    """What makes a part, and whether it was named; an object takes no options."""
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


def _require_lossless(record: Strategy, options: Mapping[str, Any]) -> None:
    options_chosen = [
        f"{name}={value!r}" for name, value in record.approximate_if if options.get(name) == value
    ]
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
