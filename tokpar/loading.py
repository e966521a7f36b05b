"""Loads a tokenizer adapter from an object, a path or a name."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from tokpar.contract.adapter import Loader, loader_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError, UnknownNameError
from tokpar.registry.tables import registry

DEFAULT_TOKENIZER = "default"


@runtime_checkable
class IsSnapshot(Protocol):
    """An adapter that has no reference to the object that it was loaded from."""

    def is_current(self, source: Any) -> bool:
        """True if `source`, the object that the adapter was loaded from, is what it was then."""


def load(
    source: object = DEFAULT_TOKENIZER, *, engine: str | None = None, **settings: Any
) -> TokenizerAdapter:
    """Returns an adapter for the tokenizer `source`.

    `source` may be an object: a tokenizers.Tokenizer, a transformers fast tokenizer, a
    tiktoken.Encoding, a result of `as_hf` or `as_tiktoken`, or any object with `name` and
    `encode(text)`. `source` may be the path of a file: a tokenizer.json, a .tiktoken file, a
    tekken.json, BERT's vocab.txt; then it means the file. `source` may be a directory, or a
    repository of the Hugging Face Hub ("Qwen/Qwen3-8B"); then it means what
    `AutoTokenizer.from_pretrained` of transformers makes of it, without truncation and padding
    (docs/transformers.md). `source` may be a name of tiktoken ("cl100k_base", "gpt-4o"), or
    "default". A repository comes from the Hub's cache on this machine; else it is downloaded, and
    the download is logged.

    `engine`: the name of the source that must load the tokenizer. `settings` belong to the kind of
    tokenizer (`add_special_tokens`, `lowercase`, `allowed_special`, ...). What tokpar learns about
    an object is kept as long as the object lives. Raises UnknownNameError, FileFormatError,
    OptionError, FileNotFoundError."""
    if isinstance(source, str) and source == DEFAULT_TOKENIZER:
        return _load_default(engine, settings)
    original = getattr(type(source), "_tokpar_original", None)
    if original is not None:  # a result of `as_hf` or `as_tiktoken`
        source = original(source)
    return _load(source, engine, settings)


_defaults: dict[str, TokenizerAdapter] = {}


def _load_default(engine: str | None, settings: dict[str, Any]) -> TokenizerAdapter:
    key = repr((engine, sorted(settings.items())))
    if key not in _defaults:
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
    known_names = [entry.name for entry in sources]
    if engine is not None and engine not in known_names:
        advice = registry().failed_plugins() or "`tokpar plugins` lists what is installed"
        raise UnknownNameError("engine", engine, known_names, advice)
    if isinstance(source, (str, os.PathLike)) and not (engine and os.path.isfile(source)):
        from tokpar.adapters.named_tokenizers import tokenizer_named  # most callers have an object

        try:
            named = tokenizer_named(os.fspath(source))
        except UnknownNameError as error:  # the name may be one of a plugin that did not load
            error.args = ("; ".join(filter(None, (str(error), registry().failed_plugins()))),)
            raise
        adapter = _load(named, engine, {**settings, **getattr(named, "settings", {})})
        loader: Loader | None = getattr(named, "loader", None)
        if loader_of(adapter) is not loader:
            with suppress(AttributeError):  # an adapter of a plugin with slots
                adapter.loader = loader  # type: ignore[attr-defined]
        return adapter
    return _as_it_is(source, engine, settings)


def _as_it_is(source: object, engine: str | None, settings: dict[str, Any]) -> TokenizerAdapter:
    """Returns `source` if it is its own adapter. Else raises UnknownNameError or OptionError."""
    what = str(source) if isinstance(source, os.PathLike) else type(source).__name__
    what = source if isinstance(source, str) else what
    if engine is not None:
        from tokpar.formats.foreign_files import and_its_kind  # only an error needs it

        kind = and_its_kind(source) if isinstance(source, (str, os.PathLike)) else ""
        raise UnknownNameError("tokenizer", what, (), f"engine={engine!r} does not load it{kind}")
    if isinstance(source, type):
        raise OptionError(f"{source.__qualname__} is a class; pass an object of it")
    if type(source).__module__.startswith("mistral_common."):
        raise OptionError(
            f"a {what} of mistral-common is not read, its file is: pass the path, file_path of a "
            "Tekkenizer, instruct_tokenizer.tokenizer.file_path of a MistralTokenizer"
        )
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
        if callable(getattr(getattr(source, "tokenizer", None), "encode", None)):
            raise OptionError(f"got the {what} of a tokenizer; pass its attribute `tokenizer`")
        raise OptionError(
            f"an object of your own needs a name, a str that tells it in reports and errors: got a "
            f"{what} with encode and without; add `name = {what.lower()!r}` to its class"
        )
    if settings:
        raise OptionError(f"an object that is its own adapter takes no settings: {settings}")
    return source  # type: ignore[return-value]  # duck-typed: it has what the Protocol asks for
