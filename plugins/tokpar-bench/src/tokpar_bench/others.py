"""Figures of other published methods, measured on this machine: recursive split and cache blocks,
incremental BPE, TokenTree.

Where only one core works, seconds are processor time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import tokpar
from tokpar import TokparError
from tokpar_bench.datasets import Dataset
from tokpar_bench.measuring import Experiment, JobRun, Samples, TimedJob
from tokpar_bench.paper_figures import chinese_share, nearest_tokenizer, table
from tokpar_bench.records import AnyRow, FigureRow
from tokpar_bench.subjects import DEFAULT, PAPER, SERIAL, Resources, Subject

PART = "others"
TEXT_SIZES = {"100 KB": 100_000, "500 KB": 500_000, "1 MB": 1_000_000, "4 MB": 4_000_000}
BLOCKS_KB = (4, 8, 16, 32, 64)
DEPTHS = (2, 3, 4)
TREE_SIZES = {"1 KB": 1 << 10, "4 KB": 1 << 12, "32 KB": 1 << 15, "4 MB": 4_000_000}
LETTERS = (1 << 12, 1 << 16, 1 << 20)
FORK = "recursive and blocks (fork of HF tokenizers)"
EXACT_BPE = "speed-up over exact BPE, both in Python"
INCREMENTAL = "incremental BPE (arXiv 2605.30813)"
LETTER = "speed-up over the own call, one repeated letter"
EAGER = "eager output's overhead"
Measure = Callable[[], float]
"""Runs once and returns seconds, or another value that the figure counts."""


class FigureRuns:
    """The figures of one tokenizer. `add` adds a figure, with one function to run for each of its
    values."""

    def __init__(self, subject: Subject, most: int) -> None:
        self.subject, self._most = subject, most
        self.jobs: list[TimedJob] = []
        self._rows: list[tuple[str, str, str, str, int]] = []
        self._values: dict[tuple[int, int], float] = {}

    def add(self, source: str, what: str, setting: str, detail: str, *measures: Measure) -> None:
        """Add a row of `others.csv`, or a similar row. `measures` has one function for each value
        of the figure."""
        row = len(self._rows)
        self._rows.append((source, what, setting, detail, len(measures)))
        self.jobs += [self._job((row, place), each) for place, each in enumerate(measures)]

    def leave_out(self, source: str, what: str, setting: str, reason: str) -> None:
        """Add a row that has only the published figure. `reason` says why we have no figure."""
        self.add(source, what, setting, reason)

    def too_long(self, source: str, what: str, setting: str) -> None:
        """Add a row without a figure, because its text would be longer than the texts of this
        run."""
        self.leave_out(
            source,
            what,
            setting,
            f'"-": texts of this run have at most {self._most:,} code points (--chars, --quick).',
        )

    def _job(self, key: tuple[int, int], measure: Measure) -> TimedJob:
        def call() -> JobRun:
            value = measure()
            report = tokpar.encode("", self.subject.adapter, strategy="serial").report
            return JobRun(value, 1.0, report, True)

        return TimedJob((PART, self.subject.tokenizer, *key), 1, call)

    def rows(self, samples: Samples) -> Iterator[AnyRow]:
        """The rows of all figures. A value is the least of the rounds. A figure has a row only if
        all its values were measured; a row that was left out has no values."""
        for row, (source, what, setting, detail, count) in enumerate(self._rows):
            keys = [(PART, self.subject.tokenizer, row, place) for place in range(count)]
            if all(key in samples for key in keys):
                least = [min(sample.seconds for sample in samples[key]) for key in keys]
                values = READ[what](least) if what in READ and least else least
                yield FigureRow(source, what, setting, self.subject.tokenizer, values, detail)


def _ratio(seconds: Sequence[float]) -> list[float]:
    """[own, method, own, method] -> the speed-up of each method over the own call."""
    return [own / other for own, other in zip(seconds[::2], seconds[1::2], strict=True)]


READ: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "speed-up over serial": _ratio,
    "speed-up over tokenizers (English / Chinese / code)": _ratio,
    "speed-up over tiktoken (English / Chinese / code)": _ratio,
    LETTER: _ratio,
    "ms, 500 KB, offsets copied / lazy": lambda found: [1000 * each for each in found],
    "ms a text": lambda found: [1000 * each for each in found],
    EXACT_BPE: _ratio,
    EAGER: lambda found: [100 * (found[0] / found[1] - 1)],
    "MiB/s at 4 MB": lambda found: [1 / each for each in found],
}
"""For some figures, the function that turns the seconds of the runs into the figure's values."""


def others(
    subject: Subject, datasets: Sequence[Dataset], workers: int, resources: Resources, most: int
) -> Experiment:
    """The figures that this tokenizer can have, on texts of at most `most` code points."""
    runs = FigureRuns(subject, most)
    text = of_size("".join(datasets[0].texts), most)
    _fork(runs, text, workers, resources, most)
    _incremental_figures(runs, datasets, most)
    _tree_figures(runs, text, most)
    return Experiment(runs.jobs, runs.rows)


def of_size(text: str, size: int) -> str:
    """The text, repeated and cut to `size` code points."""
    return (text * (size // max(1, len(text)) + 1))[:size]


def _encode(
    subject: Subject, text: str, executor: Any, what: str = "ids", **options: Any
) -> Measure:
    """A function that times one encode. `what`: "ids", or "spans" to compute the offsets of all
    tokens, too."""
    encoder = tokpar.Encoder(subject.adapter, executor=executor, allow_approximate=True, **options)

    def measure() -> float:
        start = time.perf_counter()
        found = encoder.encode(text)
        if what == "spans":
            _ = found.spans
        return time.perf_counter() - start

    return measure


def _fork(runs: FigureRuns, text: str, workers: int, resources: Resources, most: int) -> None:
    subject = runs.subject
    pool = resources.executor("auto", workers, subject, most)
    off = "Cache off. "
    for name, size in TEXT_SIZES.items():
        if size > most:
            runs.too_long(FORK, "speed-up over serial", f"BERT {name}")
        else:
            own = _encode(subject, text[:size], "serial", strategy=SERIAL.strategy)
            split = _encode(subject, text[:size], pool, strategy="recursive", **PAPER)
            detail = off + "Recursive by length, from 1 MB on blocks, as published."
            runs.add(FORK, "speed-up over serial", f"BERT {name}", detail, own, split)
    largest = min(most, TEXT_SIZES["4 MB"])
    for size in BLOCKS_KB:
        options: dict[str, Any] = {"strategy": "blocks", "chunk_chars": size << 10, **PAPER}
        rate = _per_mebibyte(_encode(subject, text[:largest], pool, **options), text[:largest])
        detail = f"{off}Blocks on a text of {largest:,} code points."
        runs.add("blocks", "MiB/s at 4 MB", f"block {size} KB", detail, rate)
    middle = text[: min(most, 500_000)]
    for depth in DEPTHS:
        options = {"strategy": "recursive", "depth": depth, **PAPER}
        measures = [_encode(subject, middle, pool, what, **options) for what in ("spans", "ids")]
        detail = f"{off}{len(middle):,} code points; lazy: the offsets are never asked for."
        what = "ms, 500 KB, offsets copied / lazy"
        runs.add("recursive", what, f"depth {depth}", detail, *measures)


def _per_mebibyte(measure: Measure, text: str) -> Measure:
    mebibytes = len(text.encode("utf-8", "surrogatepass")) / (1 << 20)
    return lambda: measure() / mebibytes


def _file(subject: Subject) -> Path:
    if subject.source == DEFAULT:
        return Path(str(files("tokpar.data") / "default.json"))
    return Path(subject.source)


def _incremental(subject: Subject, most: int) -> Any:
    """The tokenizer loaded by the engine incremental, which is slow to load, or why it is not."""
    if most < TEXT_SIZES["1 MB"]:
        return "is loaded into the engine incremental, which is slow, from 1 MB on (--quick: not)"
    path, refused = _file(subject), "is not a BPE vocabulary that the engine incremental loads"
    if path.suffix not in (".json", ".tiktoken") or path.name.startswith("tekken"):
        return refused
    try:
        found = tokpar.load(str(path), engine="incremental")
    except (TokparError, ValueError):
        return refused
    return found if hasattr(found, "prefixes") else refused


def processor_time(call: Callable[[], object]) -> Measure:
    """A function that calls `call` and returns the processor time of this process, all threads, in
    seconds."""

    def measure() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return measure


def _own_call(subject: Subject) -> Callable[[str], object]:
    """The library's own call. Its cache of words is emptied before each call; tiktoken has no such
    cache."""
    if "tiktoken" in subject.engine:
        return subject.adapter.encode
    from tokenizers import Tokenizer

    own = Tokenizer.from_file(str(_file(subject)))

    def call(text: str) -> object:
        own.model._clear_cache()
        return own.encode(text, add_special_tokens=False).ids

    return call


def _incremental_figures(runs: FigureRuns, datasets: Sequence[Dataset], most: int) -> None:
    library = "tiktoken" if "tiktoken" in runs.subject.engine else "tokenizers"
    what = f"speed-up over {library} (English / Chinese / code)"
    nearest = nearest_tokenizer(runs.subject) or ""
    setting = _setting(what, nearest, runs.subject.tokenizer)
    model = _incremental(runs.subject, most)
    if isinstance(model, str):
        for each in (
            (what, setting),
            *((LETTER, f"{n:,} letters") for n in LETTERS),
            (EAGER, "all"),
        ):
            runs.leave_out(INCREMENTAL, *each, f'"-": the tokenizer {model}.')
        return
    calls = _own_call(runs.subject), _memo_emptied(model)
    size = min(most, 200_000)
    texts = [text for text in _three_kinds(datasets, size) if text]
    timed = [
        processor_time(lambda text=text, call=call: call(text))  # type: ignore[misc]
        for text in texts
        for call in calls
    ]
    detail = "Ours is Python, the published one Rust. Processor time, one core, memos empty."
    runs.add(INCREMENTAL, what, setting, detail, *timed)
    for length in LETTERS:
        if length > most:
            runs.too_long(INCREMENTAL, LETTER, f"{length:,} letters")
            continue
        letters = "a" * length
        timed = [
            processor_time(lambda call=call, text=letters: call(text))  # type: ignore[misc]
            for call in calls
        ]
        runs.add(INCREMENTAL, LETTER, f"{length:,} letters", detail, *timed)
    _eager(runs, model, _three_kinds(datasets, min(most, 50_000))[0])


def _setting(what: str, nearest: str, tokenizer: str) -> str:
    """The setting in `others.csv` for a tokenizer, or the tokenizer's own name."""
    first = tokenizer.partition("_")[0].upper()
    settings = [row["setting"] for row in table("others") if row["what"] == what]
    near = nearest.partition("-")[0]
    return next(
        (each for each in settings if each == first or (near and each.startswith(near))), tokenizer
    )


def _three_kinds(datasets: Sequence[Dataset], size: int) -> list[str]:
    """English, Chinese and code: the first dataset, the first Chinese dataset or drawn Chinese,
    drawn code."""
    from tokpar_bench.datasets import synthetic

    drawn = {each.name: each for each in synthetic(1, 1, size)}
    chinese = next((each for each in datasets if chinese_share(each.texts) > 0.3), drawn["chinese"])
    return [of_size("".join(each.texts), size) for each in (datasets[0], chinese, drawn["code"])]


def _eager(runs: FigureRuns, model: Any, text: str) -> None:
    """Add the figure that compares eager output with plain incremental BPE, on one pre-token: all
    letters of a text."""
    data = "".join(filter(str.isalpha, text)).encode()

    def eagerly() -> object:
        eager = model.eager_model()
        return eager.feed(data) + eager.finish()

    def plainly() -> object:
        bpe = model.prefixes()
        bpe.append(data)
        return bpe.tokens()

    detail = f"Per cent of processor time, {len(data):,} letters."
    timed = (processor_time(eagerly), processor_time(plainly))
    runs.add(INCREMENTAL, EAGER, "all", detail, *timed)


def _tree_figures(runs: FigureRuns, text: str, most: int) -> None:
    _tree_sizes(runs, text, most)
    runs.leave_out(
        "TokenTree",
        "speed-up over llama.cpp",
        "above 4 MB",
        '"-": llama.cpp is not run; exact BPE in Python stands for it.',
    )


def _tree_sizes(runs: FigureRuns, text: str, most: int) -> None:
    subject, what = runs.subject, "ms a text"
    try:
        tree, exact = (tokpar.load(subject.source, engine=each) for each in ("tokentree", "pure"))
    except (TokparError, ValueError):
        for name in TREE_SIZES:
            reason = '"-": the engine tokentree does not load this file.'
            runs.leave_out("TokenTree", what, name, reason)
        return
    detail = "In Python, one core, memos empty; the published one is C#."
    for name, size in TREE_SIZES.items():
        if size > most:
            runs.too_long("TokenTree", what, name)
            continue
        timed = [
            processor_time(lambda size=size, call=call: call(text[:size]))  # type: ignore[misc]
            for call in (_memo_emptied(exact), _memo_emptied(tree))
        ]
        runs.add("TokenTree", what, name, detail, timed[1])
        runs.add("TokenTree", EXACT_BPE, name, detail, *timed)


def _memo_emptied(tokenizer: Any) -> Callable[[str], object]:
    """The call of a tokenizer in Python, with its cache of pre-tokens emptied before each
    call."""

    def call(text: str) -> object:
        tokenizer._tokenizer.model.encode.__self__.clear()
        return tokenizer.encode(text)

    return call
