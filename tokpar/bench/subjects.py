"""Tokenizers, engines and executors, opened for the time of a run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tokpar
from tokpar.errors import OptionError, TokparError
from tokpar.interfaces import Executor, TokenizerAdapter
from tokpar.kernels import IdArray
from tokpar.registry import registry
from tokpar.sizes import fitting_executor

DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class Subject:
    """One tokenizer in one engine; its own ids of each text are computed once and kept."""

    tokenizer: str
    engine: str
    source: str
    adapter: TokenizerAdapter
    known: dict[str, IdArray] = field(default_factory=dict, repr=False)

    def own_ids(self, text: str) -> IdArray:
        if text not in self.known:
            self.known[text] = tokpar.encode(text, self.adapter, strategy="serial").ids
        return self.known[text]


class Opened(ExitStack):
    """Loads tokenizers and hands out executors; closes the pools at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._stock: dict[tuple[str, int], Executor] = {}

    def executor(self, name: str, workers: int, subject: Subject, length: int) -> Executor:
        """The executor of a name, or the one that `auto` takes for `length` code points; all jobs
        share it, so that a comparison opens each pool once. Raises UnknownNameError."""
        if name == "auto":
            name = fitting_executor(subject.adapter, length, workers)
        if (name, workers) not in self._stock:
            built = self._stock[name, workers] = registry().executor_kind(name).build(workers)
            if hasattr(built, "close"):
                self.callback(built.close)
        return self._stock[name, workers]

    def subjects(
        self, sources: Sequence[str], engines: Sequence[str], notes: list[str]
    ) -> list[Subject]:
        """Each source in each engine ("auto": the engine that `load` takes). An engine that was
        named and cannot load a source becomes a note. Raises what `load` raises for "auto";
        OptionError if nothing is left."""
        found: list[Subject] = []
        for source in sources:
            path = self._without_truncation(source)
            for engine in engines:
                found += _loaded(source, path, engine, notes)
        if not found:
            raise OptionError("no tokenizer could be loaded: " + "; ".join(notes))
        return found

    def _without_truncation(self, source: str) -> str:
        """A stored truncation or padding would compare the first ids only: such a file is
        measured by a copy without them."""
        if not source.endswith(".json") or not Path(source).is_file():
            return source
        try:
            content = json.loads(Path(source).read_text(encoding="utf-8"))
        except ValueError:
            return source  # what is wrong with it, `load` says best
        if not isinstance(content, dict) or not (
            content.get("truncation") or content.get("padding")
        ):
            return source
        directory = self.enter_context(tempfile.TemporaryDirectory())
        copy = Path(directory) / Path(source).name
        copy.write_text(json.dumps(content | {"truncation": None, "padding": None}), "utf-8")
        return str(copy)


def suits(subject: Subject, executor: str) -> bool:
    """Can the executor run this tokenizer? Raises UnknownNameError."""
    return executor == "auto" or registry().executor_kind(executor).suits(subject.adapter)


def _loaded(source: str, path: str, engine: str, notes: list[str]) -> list[Subject]:
    settings: dict[str, Any] = {}
    if path.endswith(".tiktoken") and engine in ("auto", "tiktoken"):
        settings["disallowed_special"] = ()  # texts are data here
    wanted = None if engine == "auto" else engine
    try:
        adapter = tokpar.load(path, engine=wanted, **settings)
    except TokparError as error:
        if wanted not in [known.name for known in registry().tokenizer_sources()]:
            raise
        notes.append(f"{source} in engine {engine}: {error}")
        return []
    label = wanted or type(adapter).__module__.rpartition(".")[2]
    name = DEFAULT if source == DEFAULT else Path(source).stem
    return [Subject(name, label, source, adapter)]
