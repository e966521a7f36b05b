"""The results of a run as rows and as JSON, with their provenance: machine, versions, texts,
tokenizers."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module, metadata, resources
from pathlib import Path
from typing import Any

import tokpar
from tokpar import FileFormatError
from tokpar.process.limits import cpu_count
from tokpar_bench.datasets import Dataset
from tokpar_bench.paper_figures import nearest_corpus, nearest_tokenizer
from tokpar_bench.subjects import DEFAULT, Subject

FORMAT, VERSION = "tokpar bench", 2


@dataclass(frozen=True)
class Spread:
    """Five numbers of a sample: least, lower quartile, median, upper quartile, most; and its
    size."""

    least: float
    lower: float
    median: float
    upper: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """[1, 2, 3, 4, 5] -> 1, 2, 3, 4, 5. Quartiles are interpolated linearly, with both ends
        included.

        Raises ValueError for an empty sample."""
        found = sorted(values)
        if not found:
            raise ValueError("expected at least one value, got none")
        two = found * 2 if len(found) == 1 else found
        lower, median, upper = statistics.quantiles(two, n=4, method="inclusive")
        return cls(found[0], lower, median, upper, found[-1], len(found))


CACHE_OFF, COLD, WARM, SEEN = "cache off", "cold", "warm", "seen"
CONDITIONS = (CACHE_OFF, COLD, WARM, SEEN)
"""`CACHE_OFF`: `cache_bytes=0`. `COLD`: the first call on a fresh object, whose cache is empty.
`WARM`: the object has seen other text of the same kind. `SEEN`: the object has seen this text."""


@dataclass(frozen=True)
class MeasuredRow:
    """The fields of all timed rows: text, tokenizer, method, condition (of `CONDITIONS`) and
    seconds per text."""

    dataset: str
    code_points: int
    tokenizer: str
    engine: str
    method: str
    condition: str
    seconds: Spread


@dataclass(frozen=True)
class MethodRow(MeasuredRow):
    """One method on all texts of a dataset.

    `texts_equal`: the share of the texts whose ids all are the tokenizer's own. `ids_equal`: the
    share of equal ids, mean over the texts. `seconds`: the mean over the texts, spread over the
    rounds. `chunks`, `retries`, `repairs`, `redundant`: sums over all texts, in the last round.
    `stages`: seconds per text, in the round of median duration."""

    part: str
    texts: int
    executor: str
    workers: int
    strategy: str
    options: Mapping[str, Any]
    lossless: bool
    texts_equal: float
    ids_equal: float
    chunks: int
    retries: int
    repairs: int
    redundant: int
    stages: Mapping[str, float]


@dataclass(frozen=True)
class StageRow(MeasuredRow):
    """Where the time of one encode goes, when one worker encodes chunk after chunk.

    `stages`: seconds of each stage; "rest" is the time outside of all stages. `work`, `span`: the
    sum and the maximum of the chunk times. `own`: the tokenizer's own call. `amdahl`: the speed-up
    by Amdahl's law with the share of the stage tokenize, by number of workers; "all" is the
    limit."""

    equal: bool
    chunks: int
    stages: Mapping[str, float]
    work: float
    span: float
    own: Spread
    amdahl: Mapping[str, float]


@dataclass(frozen=True)
class ProjectionRow:
    """The projected seconds of one encode on `workers` workers.

    `projected`: chunks in order. `longest_first`: the longest chunks first. `bound`: no order is
    faster. `measured`: the measured seconds on so many cores, if there are. `error`: `projected`
    against the least measured time, in per cent of that time. All times use the least of the
    rounds."""

    tokenizer: str
    engine: str
    executor: str
    method: str
    workers: int
    projected: float
    longest_first: float
    bound: float
    speedup: float
    measured: Spread | None = None
    error: float | None = None


@dataclass(frozen=True)
class ScalingRow(MeasuredRow):
    """One method with one chunk per worker, on `workers` workers.

    `stages`: seconds of each stage; "rest" is the time outside of all stages. `own`: the
    tokenizer's own call."""

    executor: str
    workers: int
    equal: bool
    stages: Mapping[str, float]
    own: Spread


@dataclass(frozen=True)
class FigureRow:
    """One figure of another published method. `what` and `setting` name its row of `others.csv`.

    `values`: our figures, in the order of the published ones; empty if nothing was measured.
    `detail`: what was measured, or why nothing was."""

    source: str
    what: str
    setting: str
    tokenizer: str
    values: Sequence[float]
    detail: str


@dataclass(frozen=True)
class SweepRow(MeasuredRow):
    """One point of a sweep. `sweep`: "length", "chunk", "workers" or "batch".

    `x`: the swept value, in code points or as a count; 0 if the method does not depend on it."""

    sweep: str
    x: int
    equal: bool


@dataclass
class BenchResults:
    """All results of one run. `complete` is False after an interrupt."""

    provenance: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    methods: list[MethodRow] = field(default_factory=list)
    stages: list[StageRow] = field(default_factory=list)
    projection: list[ProjectionRow] = field(default_factory=list)
    scaling: list[ScalingRow] = field(default_factory=list)
    sweeps: list[SweepRow] = field(default_factory=list)
    figures: list[FigureRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    @property
    def rows(self) -> int:
        return sum(len(getattr(self, name)) for name in _ROWS)

    def add(self, row: AnyRow) -> None:
        kind = next(name for name, shape in _ROWS.items() if isinstance(row, shape))
        getattr(self, kind).append(row)


AnyRow = MethodRow | StageRow | ProjectionRow | ScalingRow | SweepRow | FigureRow
_ROWS: dict[str, type[Any]] = {
    "methods": MethodRow,
    "stages": StageRow,
    "projection": ProjectionRow,
    "scaling": ScalingRow,
    "sweeps": SweepRow,
    "figures": FigureRow,
}
_SPREADS = ("seconds", "own", "measured")


def to_json(results: BenchResults) -> dict[str, Any]:
    """A value that `json.dumps` accepts and `from_json` reads."""
    return {"format": FORMAT, "version": VERSION, **asdict(results)}


def from_json(value: Any) -> BenchResults:
    """The results that `to_json` wrote, equal to the original. Raises FileFormatError."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FileFormatError(f'expected results with "format": "{FORMAT}"')
    if value.get("version") != VERSION:
        raise FileFormatError(f"expected version {VERSION} of {FORMAT}, got {value.get('version')}")
    try:
        content = {name: value[name] for name in ("provenance", "settings", "notes", "complete")}
        for name, shape in _ROWS.items():
            content[name] = [_row(shape, row) for row in value[name]]
        return BenchResults(**content)
    except (KeyError, TypeError) as error:
        raise FileFormatError(f"expected all fields of {FORMAT} {VERSION}: {error!r}") from error


def _row(shape: type[Any], row: dict[str, Any]) -> Any:
    spreads = {name: Spread(**row[name]) for name in _SPREADS if row.get(name) is not None}
    return shape(**{**row, **spreads})


OURS = ("tokpar", "numpy", "tokenizers", "tiktoken", "regex", "pluggy")
OTHERS = ("transformers", "sentencepiece", "fastokens", "gigatoken", "tokie")


def provenance(
    datasets: Iterable[Dataset], subjects: Iterable[Subject], command: Sequence[str]
) -> dict[str, Any]:
    """The facts that a reader needs to judge the figures, or to measure them again."""
    physical, memory = _from_psutil()
    installed = {str(each.metadata["Name"]).lower() for each in metadata.distributions()}
    packages = [name for name in (*OURS, *OTHERS) if name in installed]
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(command),
        "processor": processor(),
        "cores": {"logical": os.cpu_count(), "usable": cpu_count(), **physical},
        "memory_bytes": memory,
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: metadata.version(name) for name in packages},
        "plugins": {
            plugin.name: f"{plugin.owner} {plugin.version}"
            for plugin in tokpar.plugins()
            if plugin.problem is None
        },
        "commit": commit(),
        "load": _load_average(),
        "texts": [_about_texts(dataset) for dataset in datasets],
        "tokenizers": [_about_tokenizer(subject) for subject in subjects],
    }


def commit() -> str | None:
    """The commit of the checkout that tokpar runs from, with "-dirty" behind it if files were
    changed.

    None for an installed tokpar."""
    root = Path(tokpar.__file__).parents[1]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _load_average() -> float | None:
    """The number of runnable processes, mean of the last minute. If it exceeds the number of cores,
    times are too long."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def processor() -> str:
    """The name of the processor, as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _from_psutil() -> tuple[dict[str, int | None], int | None]:
    """The number of physical cores and the bytes of memory, if psutil is installed."""
    try:
        psutil: Any = import_module("psutil")
    except ImportError:
        return {}, None
    return {"physical": psutil.cpu_count(logical=False)}, psutil.virtual_memory().total


def _about_texts(dataset: Dataset) -> dict[str, Any]:
    """Facts about a dataset. The hash is over the UTF-8 of the texts, with a NUL after each."""
    digest, size = hashlib.sha256(), 0
    for text in dataset.texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(encoded + b"\0")
        size += len(encoded)
    return {
        "name": dataset.name,
        "origin": dataset.origin,
        "texts": len(dataset.texts),
        "code_points": dataset.code_points,
        "bytes": size,
        "sha256": digest.hexdigest(),
        "published_corpus": nearest_corpus(dataset),
        "skipped": list(dataset.bad_lines),
    }


TOKENIZER_SUFFIXES = (".json", ".txt", ".tiktoken", ".model", ".jinja")
"""Files of a directory that may decide ids."""


def _about_tokenizer(subject: Subject) -> dict[str, Any]:
    """Facts about a tokenizer. `files`: the size and the hash of the given file, or of each file of
    a directory that may decide ids; empty if the source is a name. Size and hash of one file stand
    beside the other facts, too, and are None otherwise."""
    source: Any = Path(subject.source)
    if subject.source == DEFAULT:
        source = resources.files("tokpar.data") / "default.json"
    files = [source] if source.is_file() else []
    if source.is_dir():
        names = (path for path in sorted(source.iterdir()) if path.is_file())
        files = [path for path in names if path.suffix in TOKENIZER_SUFFIXES]
    about = [_about_file(path) for path in files]
    one = about[0] if source.is_file() else {"bytes": None, "sha256": None}
    return {
        "name": subject.tokenizer,
        "source": subject.source,
        "engine": subject.engine,
        "adapter": subject.adapter.name,
        "published_tokenizer": nearest_tokenizer(subject),
        "fingerprint": getattr(subject.adapter, "fingerprint", None),
        "bytes": one["bytes"],
        "sha256": one["sha256"],
        "files": about,
    }


def _about_file(file: Any) -> dict[str, Any]:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"name": file.name, "bytes": len(content), "sha256": digest}
