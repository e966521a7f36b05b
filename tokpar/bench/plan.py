"""From what was asked for to the experiments that answer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tokpar.bench.comparing import comparison, repetitive
from tokpar.bench.datasets import Dataset
from tokpar.bench.laboratory import Experiment
from tokpar.bench.methods import Method, chosen, compared, retried
from tokpar.bench.paper import PAPER_METHODS
from tokpar.bench.stages import staged, stages
from tokpar.bench.subjects import Opened, Subject, chunk_executor, suits
from tokpar.bench.sweeps import SWEEPS, Swept, sweep
from tokpar.bench.tables import grouped
from tokpar.errors import UnknownNameError

PARTS = ("methods", "stages", "retries", *SWEEPS)
FEW = ("lopt-paper", "lopt", "auto")
"""The methods of all parts but the first, unless others are asked for."""


@dataclass(frozen=True)
class Settings:
    """What was asked for. Sizes in code points; `chars`: the long text of stages and sweeps."""

    parts: tuple[str, ...] = PARTS
    methods: tuple[str, ...] | None = None
    executors: tuple[str, ...] = ("auto",)
    workers: int = 1
    chunk_chars: int = 4096
    overlap_chars: int = 512
    chars: int = 1_000_000
    repeats: int = 5
    seed: int = 1
    paper: bool = False
    quick: bool = False

    def described(self) -> dict[str, Any]:
        """As JSON has it, lists for tuples."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


def experiments(
    settings: Settings, datasets: Sequence[Dataset], subjects: Sequence[Subject], opened: Opened
) -> list[Experiment]:
    """Methods on every dataset; the rest on the first. Engines and executors are compared with
    each other in the first part; stages and sweeps take the first executor that suits. Raises
    UnknownNameError."""
    for part in settings.parts:
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS)
    of_tokenizers = grouped(subjects, lambda subject: subject.source)
    found: list[Experiment] = []
    methods = first_methods(settings)
    if "methods" in settings.parts:
        found += _comparisons("methods", datasets, of_tokenizers, methods, settings, opened)
    text = datasets[0].joined(settings.chars)
    few = _few(settings, methods)
    if "stages" in settings.parts:
        for subject in subjects:
            executor = chunk_executor(subject, settings.executors)
            if executor is not None:
                split = staged(few, text, subject)
                found.append(stages(datasets[0].name, text, subject, split, executor, opened))
    if "retries" in settings.parts:
        again = [repetitive(datasets[0], settings.seed)]
        both = retried(settings.chunk_chars, settings.overlap_chars)
        found += _comparisons("retries", again, of_tokenizers, both, settings, opened)
    return [*found, *_sweeps(settings, datasets[0].name, text, subjects, few, opened)]


def first_methods(settings: Settings) -> list[Method]:
    """Those of the first part. Raises UnknownNameError."""
    known = compared(settings.chunk_chars, settings.overlap_chars)
    names = settings.methods
    return chosen(known, PAPER_METHODS if settings.paper and names is None else names)


def unsuited(subjects: Iterable[Subject], executors: Sequence[str]) -> list[str]:
    """Which executor is left out for which tokenizer, in words. Raises UnknownNameError."""
    return [
        f"{subject.tokenizer} in engine {subject.engine}: executor {name} cannot run it"
        for subject in subjects
        for name in executors
        if not suits(subject, name)
    ]


def _first_executors(
    subjects: Iterable[Subject], executors: Sequence[str]
) -> Iterator[tuple[Subject, str]]:
    """Each subject with the first executor that can run it; none, no pair."""
    for subject in subjects:
        fitting = [name for name in executors if suits(subject, name)]
        yield from ((subject, name) for name in fitting[:1])


def _few(settings: Settings, methods: Sequence[Method]) -> list[Method]:
    names = settings.methods or FEW
    return [method for method in methods if method.name in names and method.name != "serial"]


def _comparisons(
    part: str,
    datasets: Iterable[Dataset],
    of_tokenizers: Iterable[Sequence[Subject]],
    methods: Sequence[Method],
    settings: Settings,
    opened: Opened,
) -> list[Experiment]:
    return [
        comparison(part, dataset, engines, settings.executors, methods, settings.workers, opened)
        for dataset in datasets
        for engines in of_tokenizers
    ]


def _sweeps(
    settings: Settings,
    dataset: str,
    text: str,
    subjects: Iterable[Subject],
    methods: Sequence[Method],
    opened: Opened,
) -> Iterator[Experiment]:
    factor = 8 if settings.quick else 4
    for kind in (part for part in SWEEPS if part in settings.parts):
        for subject, executor in _first_executors(subjects, settings.executors):
            workers = settings.workers
            swept = Swept(dataset, text, subject, methods, executor, workers, opened, factor)
            yield sweep(kind, swept)
