"""Plan the experiments of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokpar import UnknownNameError
from tokpar_bench.comparing import SWEEPS, comparison, repetitive, sweep
from tokpar_bench.conditions import conditions
from tokpar_bench.datasets import Dataset, every
from tokpar_bench.measuring import Experiment, LongText
from tokpar_bench.others import TEXT_SIZES, others
from tokpar_bench.paper_figures import METHODS
from tokpar_bench.paper_tables import PAPER_METHODS
from tokpar_bench.scaling import scaling
from tokpar_bench.stages import stages
from tokpar_bench.subjects import (
    SERIAL,
    ComparedMethod,
    Resources,
    Subject,
    choose_methods,
    compared_methods,
    retry_methods,
    suits,
)
from tokpar_bench.tables import neighbours
from tokpar_bench.training import training

PARTS = ("methods", "conditions", "stages", "scaling", "retries", *SWEEPS, "others")
OURS = ("lopt", "cut", "auto")
MOST_RETRIED = 1_500_000
"""Most code points of the texts of table 3. Of a larger dataset, every n-th text is used."""
FEW = ("lopt-paper", "lopt", "auto")
"""The methods of all parts except "methods", unless the command line names methods."""


@dataclass(frozen=True)
class BenchSettings:
    """What the command line asks for. Sizes in code points. `chars`: the length of the long text of
    stages and sweeps."""

    parts: tuple[str, ...]
    methods: tuple[str, ...] | None
    executors: tuple[str, ...]
    workers: int
    chunk_chars: int
    chunks: int | None
    overlap_chars: int
    chars: int
    repeats: int
    seed: int
    paper: bool
    quick: bool
    seconds: float | None = None
    """No round of an experiment begins after so many seconds. None: all rounds run."""


def experiments(
    settings: BenchSettings,
    datasets: Sequence[Dataset],
    subjects: Sequence[Subject],
    resources: Resources,
) -> list[Experiment]:
    """The experiments of all requested parts, in the order of PARTS. Raises UnknownNameError.

    The part "methods" compares all engines of a tokenizer. Stages and sweeps use the first suitable
    executor."""
    for part in settings.parts:
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS)
    sizes = settings.chunk_chars, settings.overlap_chars
    names = PAPER_METHODS if settings.paper and settings.methods is None else settings.methods
    methods = [
        each.with_chunks(settings.chunks)
        for each in choose_methods(compared_methods(*sizes), names)
    ]
    first = datasets[0]

    def comparisons(
        part: str, texts: Iterable[Dataset], methods_of_part: Sequence[ComparedMethod]
    ) -> Iterable[Experiment]:
        for dataset in texts if part in settings.parts else ():
            for engines in neighbours(subjects, "source"):
                executors, workers = settings.executors, settings.workers
                yield comparison(
                    part, dataset, engines, executors, methods_of_part, workers, resources
                )

    single = [dataset for dataset in datasets if not dataset.is_joined]
    few = every(first, MOST_RETRIED) if settings.paper else first
    longs = _long_texts(settings, first, subjects, methods, resources)
    again = [each.with_chunks(settings.chunks) for each in retry_methods(*sizes)]
    real = [few] if settings.paper else []
    conditioned = _methods_under_conditions(settings, compared_methods(*sizes), methods)
    return [
        *comparisons("methods", datasets, methods),
        *(
            conditions(dataset, subject, conditioned, settings.workers, resources, settings.chars)
            for dataset in (single[:1] if settings.quick else single)
            for subject in subjects
            if "conditions" in settings.parts
        ),
        *(stages(long) for long in longs if "stages" in settings.parts),
        *(scaling(long, long.methods) for long in longs if "scaling" in settings.parts),
        *comparisons("retries", [repetitive(few, settings.seed), *real], again),
        *(sweep(kind, long) for kind in SWEEPS if kind in settings.parts for long in longs),
        *(
            others(subject, single, settings.workers, resources, most_chars(settings))
            for subject in subjects
            if "others" in settings.parts and settings.paper
        ),
        *(
            training(subject, single, most_chars(settings))
            for subject in subjects[:1]
            if "others" in settings.parts and settings.paper
        ),
    ]


def _methods_under_conditions(
    settings: BenchSettings,
    all_methods: Sequence[ComparedMethod],
    methods: Sequence[ComparedMethod],
) -> Sequence[ComparedMethod]:
    """The methods that are timed under the four conditions: the requested methods, else `auto`.

    With --paper: the published methods, which have no cache, and ours."""
    if settings.methods is not None:
        return methods
    names = (*METHODS, *OURS) if settings.paper else ("auto",)
    return [each.with_chunks(settings.chunks) for each in choose_methods(all_methods, names)]


def most_chars(settings: BenchSettings) -> int:
    """The longest text for the figures of other methods: at least 4 million code points; in a quick
    run, the length of the long text."""
    return settings.chars if settings.quick else max(settings.chars, TEXT_SIZES["4 MB"])


def unsuited_executors(subjects: Iterable[Subject], executors: Sequence[str]) -> list[str]:
    """A sentence for each executor that cannot run a tokenizer. Raises UnknownNameError."""
    return [
        f"{subject.tokenizer} in engine {subject.engine}: executor {name} cannot run it"
        for subject in subjects
        for name in executors
        if not suits(subject, name)
    ]


def _long_texts(
    settings: BenchSettings,
    dataset: Dataset,
    subjects: Iterable[Subject],
    methods: Iterable[ComparedMethod],
    resources: Resources,
) -> list[LongText]:
    names = set(FEW) if settings.methods is None else {method.name for method in methods}
    few = [method for method in methods if method.name in names - {SERIAL.name}]
    text = "".join(dataset.texts)[: settings.chars]
    factor = 8 if settings.quick else 4
    return [
        LongText(dataset.name, text, subject, few, name, settings.workers, resources, factor)
        for subject in subjects
        for name in [each for each in settings.executors if suits(subject, each)][:1]
    ]
