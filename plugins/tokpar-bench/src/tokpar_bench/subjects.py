"""The things that a run compares: methods by name; and tokenizers, engines and executors, opened
for the run."""

from __future__ import annotations

import inspect
import json
import runpy
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

import tokpar
from tokpar import FileFormatError, OptionError, TokparError, UnknownNameError
from tokpar.pipeline.sizes import sizes_for
from tokpar.plugin import registry
from tokpar.plugin.tokenizer import Executor, IdArray, TokenizerAdapter
from tokpar_bench.vocabulary_packages import is_tekken, load_tekken

DEFAULT = "default"
CACHE_BYTES = 64 << 20  # the budget that tokpar itself takes
_FRESH = count(1)
PAPER = {"acceptance": "paper"}


@dataclass(frozen=True)
class ComparedMethod:
    """A strategy with options, under the name that the tables show."""

    name: str
    strategy: str | tuple[Any, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    chunks: int | None = None
    """Cut each text into so many chunks of equal size, instead of `chunk_chars`."""
    executor: str | Executor | None = None
    """The method's own executor. None: the method runs on the compared executors."""

    @property
    def strategy_name(self) -> str:
        """The strategy in words: "lopt", "cut+certified", "Halves+cut"."""
        if isinstance(self.strategy, str):
            return self.strategy
        parts = (part if isinstance(part, str) else type(part).__name__ for part in self.strategy)
        return JOINED.join(parts)

    def with_options(self, **options: Any) -> ComparedMethod:
        """This method with other values for those of the given options that its strategy has."""
        if not isinstance(self.strategy, str) or JOINED in self.strategy:
            return self  # a splitter and a merger, each with its own defaults
        known = inspect.signature(registry().strategy(self.strategy).build).parameters
        fitting = {name: value for name, value in options.items() if name in known}
        chunks = None if "chunk_chars" in fitting else self.chunks
        return replace(self, options={**self.options, **fitting}, chunks=chunks)

    def with_chunks(self, chunks: int | None) -> ComparedMethod:
        """This method with `chunks` chunks per text, if the method has a fixed chunk size; else
        itself."""
        return replace(self, chunks=chunks) if "chunk_chars" in self.options else self

    def options_for(self, length: int) -> dict[str, Any]:
        """The options for a text of `length` code points."""
        if self.chunks is None:
            return dict(self.options)
        return {**self.options, "chunk_chars": max(1, -(-length // self.chunks))}


JOINED = "+"
"""The sign between a splitter and a merger in the name of a strategy: "halves+glue"."""
SERIAL = ComparedMethod("serial", "serial")
"""The tokenizer's own call on the whole text. All other methods are compared with it."""


def compared_methods(chunk_chars: int, overlap_chars: int) -> list[ComparedMethod]:
    """The published methods as published, then tokpar's lossless methods, then the strategies of
    plugins with their default options.

    Sizes in code points. `auto` chooses its own sizes, and the published blocks have their own
    overlap."""
    size = {"chunk_chars": chunk_chars}
    both = {**size, "overlap_chars": overlap_chars}
    own = [
        SERIAL,
        ComparedMethod("delimiter-comma", "delimiter", {**size, "delimiter": ","}),
        ComparedMethod("delimiter-period", "delimiter", {**size, "delimiter": "."}),
        ComparedMethod("delimiter-space", "delimiter", {**size, "delimiter": " "}),
        ComparedMethod("overlap-longest", "overlap", {**both, "match": "longest"}),
        ComparedMethod("overlap-window", "overlap", {**both, "match": "window"}),
        ComparedMethod("recursive-paper", "recursive", {**PAPER, "depth": 3}),
        ComparedMethod("blocks-paper", "blocks", {**size, **PAPER}),
        ComparedMethod("lopt-paper", "lopt", {**both, **PAPER, "on_failure": "restart"}),
        ComparedMethod("lopt", "lopt", both),
        ComparedMethod("recursive", "recursive", {"depth": 3}),
        ComparedMethod("blocks", "blocks", size),
        ComparedMethod("cut", "cut", size),
        ComparedMethod("auto", "auto"),
    ]
    taken = {each.strategy_name for each in own}
    others = {record.name for record in registry().strategies()} - taken
    return own + [ComparedMethod(name, name) for name in sorted(others)]


def retry_methods(chunk_chars: int, overlap_chars: int) -> list[ComparedMethod]:
    """LoPT for repetitive texts, with both actions after a failed match: restart and repair."""
    both = {"chunk_chars": chunk_chars, "overlap_chars": overlap_chars}
    return [
        SERIAL,
        ComparedMethod("lopt-paper-restart", "lopt", {**both, **PAPER, "on_failure": "restart"}),
        ComparedMethod("lopt-paper-repair", "lopt", {**both, **PAPER, "on_failure": "repair"}),
        ComparedMethod("lopt-restart", "lopt", {**both, "on_failure": "restart"}),
        ComparedMethod("lopt-repair", "lopt", {**both, "on_failure": "repair"}),
        ComparedMethod("auto", "auto"),
    ]


def is_file(name: str) -> bool:
    """True if `--methods` takes the name as a Python file."""
    return name.endswith(".py")


def method_of(path: str) -> ComparedMethod:
    """The method in a user's own file, named like the file.

    The file sets at least one of the names `splitter`, `merger` and `executor`: an object, or the
    name of a registered one. A missing splitter or merger is the one of `cut`. Raises OSError, and
    FileFormatError for a file that cannot be run or used."""
    try:
        found: dict[str, Any] = runpy.run_path(path)
    except OSError:
        raise
    except Exception as error:
        raise FileFormatError(f"{path}: {type(error).__name__}: {error}") from error
    if not {"splitter", "merger", "executor"} & found.keys():
        raise FileFormatError(f"{path}: expected a splitter, a merger or an executor by that name")
    pair, executor = (
        (found.get("splitter", "cut"), found.get("merger", "cut")),
        found.get("executor"),
    )
    try:
        tokpar.Encoder(strategy=pair, executor=executor or "serial", allow_approximate=True)
    except TokparError as error:
        raise FileFormatError(f"{path}: {error}") from error
    return ComparedMethod(Path(path).stem, pair, executor=executor)


def choose_methods(
    methods: Sequence[ComparedMethod], names: Sequence[str] | None
) -> list[ComparedMethod]:
    """The methods of these names, in the order of `methods`, always with `serial`. None: all
    methods.

    "A+B" is a registered splitter and a registered merger. "mine.py" is a file, see `method_of`.
    Raises UnknownNameError, FileFormatError, OSError."""
    known = [method.name for method in methods]
    filed = [method_of(name) for name in names or () if is_file(name)]
    names = None if names is None else [name for name in names if not is_file(name)]
    combined = [name for name in names or () if JOINED in name]
    for name in names or ():
        if name in combined:
            tokpar.Encoder(strategy=name)
        elif name not in known:
            raise UnknownNameError("method", name, known, registry().advice_on_parts(name))
    wanted = known if names is None else [SERIAL.name, *names]
    own = [method for method in methods if method.name in wanted]
    return own + [ComparedMethod(name, name) for name in combined] + filed


@dataclass(frozen=True, eq=False)
class Subject:
    """One tokenizer in one engine. Its own ids of each text are computed once and kept.

    `adapter` has no cache of segments. `load` takes the size of such a cache in bytes and returns
    an adapter of the same tokenizer."""

    tokenizer: str
    engine: str
    source: str
    adapter: TokenizerAdapter
    load: Callable[[int], TokenizerAdapter]
    ids_by_text: dict[str, IdArray] = field(default_factory=dict, repr=False)

    def fresh(self) -> TokenizerAdapter:
        """A new adapter with an empty cache.

        Its cache size differs by a few bytes from every other one, because adapters of equal
        settings share one cache."""
        return self.load(CACHE_BYTES - next(_FRESH))

    def own_ids(self, text: str) -> IdArray:
        if text not in self.ids_by_text:
            self.ids_by_text[text] = tokpar.encode(text, self.adapter, strategy="serial").ids
        return self.ids_by_text[text]


class Resources(ExitStack):
    """Load tokenizers and build executors. The pools are closed at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._stock: dict[tuple[str, int], Executor] = {}

    def executor(
        self, name: str | Executor, workers: int, subject: Subject, length: int
    ) -> Executor:
        """The executor of a name; for `auto`, the one that `auto` uses for `length` code points.

        All jobs share the executors, so that a comparison opens each pool once. Raises
        UnknownNameError."""
        if not isinstance(name, str):
            return name
        if name == "auto":
            name = sizes_for(subject.adapter).executor_for(length)
        if (name, workers) not in self._stock:
            built = self._stock[name, workers] = registry().executor_kind(name).build(workers)
            if hasattr(built, "close"):
                self.callback(built.close)
        return self._stock[name, workers]

    def subjects(
        self, sources: Sequence[str], engines: Sequence[str], notes: list[str]
    ) -> list[Subject]:
        """Each source in each engine; "auto" is the engine that `load` chooses.

        If a named engine cannot load a source, a note says so. Raises the errors of `load`, and
        OptionError if no tokenizer is left."""
        found: list[Subject] = []
        for source in sources:
            path = self._without_truncation(source)
            for engine in engines:
                found += _load_subjects(source, path, engine, notes)
        if not found:
            raise OptionError("no tokenizer could be loaded: " + "; ".join(notes))
        return found

    def _without_truncation(self, source: str) -> str:
        """The path of a copy of the file without truncation and padding, which would hide or add
        ids. If the file has neither, its own path."""
        if not source.endswith(".json") or not Path(source).is_file():
            return source
        try:
            content = json.loads(Path(source).read_text(encoding="utf-8"))
        except ValueError:
            return source  # `load` has the better error message
        shortens = ("truncation", "padding")
        if not isinstance(content, dict) or not any(map(content.get, shortens)):
            return source
        directory = self.enter_context(tempfile.TemporaryDirectory())
        copy = Path(directory) / Path(source).name
        copy.write_text(json.dumps(content | dict.fromkeys(shortens)), "utf-8")
        return str(copy)


def suits(subject: Subject, executor: str) -> bool:
    """True if the executor can run this tokenizer. Raises UnknownNameError."""
    return executor == "auto" or registry().executor_kind(executor).suits(subject.adapter)


def _load_subjects(source: str, path: str, engine: str, notes: list[str]) -> list[Subject]:
    settings: dict[str, Any] = {}
    if path.endswith(".tiktoken") and engine in ("auto", "tiktoken"):
        settings["disallowed_special"] = ()  # texts are data here
    wanted = None if engine == "auto" else engine
    if path == DEFAULT:  # the name stands for one object per process, which keeps its cache
        path = str(resources.files("tokpar.data") / "default.json")

    def load(cache_bytes: int) -> TokenizerAdapter:
        if is_tekken(path):
            return load_tekken(path, cache_bytes)
        try:
            return tokpar.load(path, engine=wanted, cache_bytes=cache_bytes, **settings)
        except OptionError:  # an engine without such a cache
            return tokpar.load(path, engine=wanted, **settings)

    try:
        adapter = load(0)
    except TokparError as error:
        if wanted not in [known.name for known in registry().tokenizer_sources()]:
            raise
        notes.append(f"{source} in engine {engine}: {error}")
        return []
    label = wanted or adapter.name.partition(":")[0]
    file = Path(source)
    # every tokenizer.json has the same name, so its folder names the tokenizer
    name = file.parent.name if file.name == "tokenizer.json" and file.parent.name else file.stem
    return [Subject(name, label, source, adapter, load)]
