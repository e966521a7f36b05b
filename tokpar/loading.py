"""What a caller has (an object, a path, a name) becomes a tokenizer adapter."""

from __future__ import annotations

import os
import weakref
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from tokpar.errors import OptionError, UnknownNameError
from tokpar.hooks import install
from tokpar.interfaces import Ability, TokenizerAdapter
from tokpar.registry import registry

DEFAULT_TOKENIZER = "default"
PLUGIN_ENGINES = {"tokentree": "tokpar-bench"} | {
    name: f"tokpar-{name}" for name in ("fastokens", "gigatoken", "sentencepiece", "tokie")
}
"""Engines that are installed with other packages of this project."""


@runtime_checkable
class Refreshes(Protocol, metaclass=Ability):
    """An adapter that notices that the caller changed the tokenizer since it was loaded."""

    def refreshed(self) -> TokenizerAdapter:
        """Itself while nothing changed, else an adapter of the tokenizer as it is now."""


@runtime_checkable
class Detaches(Protocol, metaclass=Ability):
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
    tiktoken.Encoding, what `as_hf` or `as_tiktoken` make of one; a path (tokenizer.json, .tiktoken,
    BERT's vocab.txt) or a directory with one; a name of tiktoken ("cl100k_base", "gpt-4o"), or of a
    repository of the Hugging Face Hub ("Qwen/Qwen3-8B": its tokenizer.json, from the Hub's cache on
    this machine, else downloaded, which is logged); "default"; or any object with `name` and
    `encode(text)`.

    `engine` names the source that must load it. `settings` belong to the tokenizer's kind
    (`add_special_tokens`, `lowercase`, `allowed_special`, ...). What is learned of an object is
    kept as long as the object lives. Raises UnknownNameError, FileFormatError, OptionError,
    FileNotFoundError."""
    if isinstance(source, str) and source == DEFAULT_TOKENIZER:
        return _load_default(engine, settings)
    original = getattr(type(source), "_tokpar_original", None)
    if original is not None:  # an object of `as_hf` or `as_tiktoken`
        source = original(source)
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
        advice = ""
        if engine in PLUGIN_ENGINES:
            package = PLUGIN_ENGINES[engine]
            loaded = "`tokpar plugins` shows what is loaded"
            advice = f"it comes with {package}: {install(package)} ({loaded})"
        raise UnknownNameError("engine", engine, known, advice)
    if isinstance(source, (str, os.PathLike)) and not (engine and os.path.isfile(source)):
        from tokpar.named_tokenizers import tokenizer_named  # most callers have an object

        named = tokenizer_named(os.fspath(source))
        if not isinstance(named, os.PathLike) or os.fspath(named) != os.fspath(source):
            return _load(named, engine, settings)
    return _as_it_is(source, engine, settings)


def _as_it_is(source: object, engine: str | None, settings: dict[str, Any]) -> TokenizerAdapter:
    """An object that is its own adapter. Raises UnknownNameError, OptionError."""
    what = os.fspath(source) if isinstance(source, os.PathLike) else type(source).__name__
    what = source if isinstance(source, str) else what
    if engine is not None:
        raise UnknownNameError("tokenizer", what, (), f"engine={engine!r} does not load it")
    if not callable(getattr(source, "encode", None)):
        raise UnknownNameError(
            "tokenizer",
            what,
            (
                "a tokenizer of tokenizers, transformers (a fast one) or tiktoken",
                "a name",
                "a path",
            ),
            "an object of your own needs a method encode(text) that returns ids, and a name",
        )
    if not isinstance(getattr(source, "name", None), str):
        raise OptionError(
            f"an object of your own needs a name, a str that tells it in reports and errors: got a "
            f"{what} with encode and without; add `name = {what.lower()!r}` to its class"
        )
    if settings:
        raise OptionError(f"an object that is its own adapter takes no settings: {settings}")
    return source  # type: ignore[return-value]  # duck-typed: it has what the Protocol asks for
