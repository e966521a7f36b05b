"""Compare methods of parallel tokenization: accuracy, latency, stages, projection, retries, sweeps.

FILE is a .jsonl (a "text" in each row) or one UTF-8 text; without any, texts are drawn from a seed.
Every method is run in turns with the tokenizer's own call, whose ids are the truth.

    tokpar bench --quick                                   a first look, in half a minute
    tokpar bench texts.jsonl --tokenizer tokenizer.json --out results
    tokpar bench texts.jsonl --methods lopt,auto --only methods,stages --executor threads
    tokpar bench --paper texts.jsonl --out results         beside the published figures
    tokpar bench --paper --quick                           the same on drawn texts
    tokpar bench --methods mine.py,lopt                    a splitter or merger of yours
    tokpar bench --compare before.json after.json          what changed
    tokpar bench --read results/results.json               the tables again; nothing is measured

Exit codes: 0 measured, 2 arguments or files cannot be used, 130 interrupted (what was measured by
then is printed and written).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar import FileFormatError, OptionError
from tokpar.cli import INTERRUPTED
from tokpar.cli.options import declare_field, declare_output, print_json
from tokpar.cli.screen import plural

if TYPE_CHECKING:
    from tokpar_bench.datasets import Dataset
    from tokpar_bench.records import BenchResults
    from tokpar_bench.tables import Table

PAPER_CHUNKS = 32
PAPER_SECONDS = 20.0
LONG_CHARS, LONG_TEXTS = 1_000_000, 6
"""Code points of a long text of --paper, and how many long texts are made. The published own call
takes 19 times as long on LongBench v2 as on L-Eval, whose texts have about 47,000 code points."""
QUICK_REPEATS, QUICK_LIMIT, QUICK_CHARS = 2, 8, 100_000
SYNTHETIC, QUICK_SYNTHETIC = (8, 50_000), (4, 10_000)  # texts of each kind, code points of each


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="*", type=Path, metavar="FILE", help=".jsonl rows, or one UTF-8 text")
    declare_field(parser)
    add("--skip-bad-lines", action="store_true", help="name them on stderr and go on")
    add("--limit", type=int, metavar="N", help="only the first N texts of each file")
    add("--paper", action="store_true", help="the LoPT paper's experiments, its figures beside")
    add("--read", type=Path, metavar="RESULTS", help="show a results.json; measure nothing")
    add(
        "--compare",
        nargs=2,
        type=Path,
        metavar="RESULTS",
        help="what changed between two runs",
    )
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")
    add = parser.add_argument_group("what is compared").add_argument
    add("--tokenizer", action="append", metavar="NAME|PATH", help="repeatable")
    add("--engine", action="append", metavar="NAME", help="see `tokpar plugins`; repeatable")
    add("--executor", action="append", metavar="NAME", help="see `tokpar plugins`; repeatable")
    add("--workers", type=int, metavar="N", help="default: the cores available")
    add("--methods", metavar="NAMES", help="such as lopt,auto; or a file of yours, mine.py")
    add(
        "--only",
        metavar="PARTS",
        help="such as methods,conditions,scaling,others",
    )
    add = parser.add_argument_group("sizes").add_argument
    add("--repeats", type=int, metavar="N", help="timed rounds, after one to warm up (5)")
    add(
        "--seconds",
        type=float,
        metavar="N",
        help="begin no round of a table after N seconds (--paper: 20)",
    )
    add("--seed", type=int, default=1, metavar="N", help="of texts and of the order of runs (1)")
    add("--chunk-chars", type=int, metavar="N", help="of methods not tuned (4096)")
    add("--chunks", type=int, metavar="N", help="cut each text in N instead (--paper: 32)")
    add("--overlap-chars", type=int, default=512, metavar="N", help="of methods with overlap (512)")
    add("--chars", type=int, metavar="N", help="text of stages and sweeps (1,000,000 code points)")
    add("--quick", action="store_true", help="2 rounds, 8 texts a file, 100,000 code points")
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, metavar="DIR", help="results.json, pictures, report.html")
    add("--no-plots", action="store_true", help="with --out: tables and JSON only")
    declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar_bench.paper_tables import tables_of
    from tokpar_bench.records import to_json
    from tokpar_bench.tables import text_of

    _check(arguments)
    if arguments.compare is not None:
        return compare(*arguments.compare)
    if arguments.read is None:
        with sigterm_as_interrupt():
            results = measure(arguments)
    else:
        results = read_results(arguments.read)
    if arguments.out is not None:  # the JSON first, so that a later error cannot lose it
        written = json.dumps(to_json(results), ensure_ascii=False, indent=1)
        (arguments.out / "results.json").write_text(written + "\n", encoding="utf-8")
    tables = tables_of(results)
    text = "\n\n".join(map(text_of, tables))
    if arguments.out is not None:
        (arguments.out / "tables.txt").write_text(text + "\n", encoding="utf-8")
        if not arguments.no_plots:
            _draw(arguments.out, results, tables)
    _say(arguments, results)
    if arguments.json:
        print_json(to_json(results))
    else:
        print(text)
    return 0 if results.complete or arguments.read is not None else INTERRUPTED


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Within the block SIGTERM, by which Slurm and Kubernetes end a job, interrupts as Ctrl-C does,
    so what was measured is kept. In a thread other than the main thread, it does what it did."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def compare(old: Path, new: Path) -> int:
    """Print what changed from the first run to the second. Raises OSError, FileFormatError."""
    from tokpar_bench.changes import changes
    from tokpar_bench.tables import text_of

    print("\n\n".join(map(text_of, changes(read_results(old), read_results(new)))))
    return 0


def read_results(path: Path) -> BenchResults:
    """The results in a results.json. Raises OSError, FileFormatError."""
    from tokpar_bench.records import from_json

    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, FileFormatError) as error:
        raise FileFormatError(f"{path}: {error}") from error


def measure(arguments: argparse.Namespace) -> BenchResults:
    """Run the experiments that the arguments name. After an interrupt, the results so far."""
    from tokpar.cli.progress import bar_of
    from tokpar.process.limits import worker_count
    from tokpar_bench.datasets import joined_texts
    from tokpar_bench.measuring import run as run_experiments
    from tokpar_bench.records import BenchResults, provenance
    from tokpar_bench.schedule import PARTS, BenchSettings, experiments, unsuited_executors
    from tokpar_bench.subjects import Resources

    settings = BenchSettings(
        parts=_names(arguments.only) or PARTS,
        methods=_names(arguments.methods),
        executors=tuple(arguments.executor or ("auto",)),
        workers=worker_count(arguments.workers),
        chunk_chars=arguments.chunk_chars or 4096,
        chunks=arguments.chunks or _paper_chunks(arguments),
        overlap_chars=arguments.overlap_chars,
        chars=arguments.chars or (QUICK_CHARS if arguments.quick else 1_000_000),
        repeats=arguments.repeats or (QUICK_REPEATS if arguments.quick else 5),
        seed=arguments.seed,
        paper=arguments.paper,
        quick=arguments.quick,
        seconds=arguments.seconds or (PAPER_SECONDS if arguments.paper else None),
    )
    datasets = datasets_of(arguments)
    if arguments.paper and arguments.files:
        datasets += filter(None, [joined_texts(datasets[0], LONG_CHARS, LONG_TEXTS)])
    results = BenchResults(settings=asdict(settings))
    with Resources() as resources:
        sources = arguments.tokenizer or _sources(arguments)
        subjects = resources.subjects(sources, arguments.engine or ["auto"], results.notes)
        results.notes += unsuited_executors(subjects, settings.executors)
        results.provenance = provenance(datasets, subjects, sys.argv)
        planned = experiments(settings, datasets, subjects, resources)
        total = sum(experiment.chars(settings.repeats) for experiment in planned)
        with bar_of(arguments, total) as on_progress:
            bounds = settings.repeats, settings.seed
            run_experiments(planned, *bounds, results, on_progress, settings.seconds)
    return results


def _paper_chunks(arguments: argparse.Namespace) -> int | None:
    """The paper cuts each text into as many chunks as it has processes, 32. None without --paper,
    or with --chunk-chars."""
    return PAPER_CHUNKS if arguments.paper and arguments.chunk_chars is None else None


def _sources(arguments: argparse.Namespace) -> list[str]:
    """The tokenizers to measure: the bundled one; with --paper, the vocabularies of installed
    packages if there are any."""
    from tokpar_bench.vocabulary_packages import packaged_sources

    return (packaged_sources() if arguments.paper else []) or ["default"]


def datasets_of(arguments: argparse.Namespace) -> list[Dataset]:
    """The files as datasets; without files, drawn datasets. Skipped lines are named on stderr.

    Raises OSError, FileFormatError."""
    from tokpar_bench.datasets import read_dataset, synthetic

    if not arguments.files:
        texts, size = QUICK_SYNTHETIC if arguments.quick else SYNTHETIC
        return synthetic(arguments.seed, arguments.limit or texts, size)
    limit = arguments.limit or (QUICK_LIMIT if arguments.quick else None)
    found = []
    for path in arguments.files:
        dataset = read_dataset(path, arguments.field, arguments.skip_bad_lines)
        for problem in dataset.bad_lines:
            print(f"skipped {problem}", file=sys.stderr)
        if dataset.bad_lines:
            print(
                f"{dataset.origin}: {plural(len(dataset.bad_lines), 'bad line')}", file=sys.stderr
            )
        found.append(replace(dataset, texts=dataset.texts[:limit]))
    return found


def _check(arguments: argparse.Namespace) -> None:
    """Raise OptionError for arguments that would fail only after measuring. Makes the directory of
    --out."""
    if arguments.compare is not None and (arguments.files or arguments.read or arguments.out):
        raise OptionError("--compare reads two results.json and nothing else")
    if arguments.read is not None and arguments.files:
        raise OptionError("--read shows what was measured before: give no FILE")
    for name in ("limit", "chars", "repeats", "chunk_chars", "chunks", "overlap_chars"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise OptionError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
    if arguments.seconds is not None and not arguments.seconds > 0:
        raise OptionError(f"--seconds must be above 0, got {arguments.seconds}")
    if arguments.out is not None:
        try:
            for package in () if arguments.no_plots else ("matplotlib", "psutil"):
                import_module(package)
        except ImportError as error:
            raise OptionError(
                f"--out needs matplotlib and psutil ({error}): pip install matplotlib psutil, or "
                "install tokpar with the extra [bench] (or --no-plots, for tables and JSON only)"
            ) from error
        arguments.out.mkdir(parents=True, exist_ok=True)


def _names(names: str | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(name.strip() for name in names.split(","))


def _draw(folder: Path, results: BenchResults, tables: list[Table]) -> None:
    from tokpar_bench.html_page import page
    from tokpar_bench.plots import pictures

    drawn = pictures(results)
    for picture in drawn:
        (folder / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
        (folder / f"{picture.name}.png").write_bytes(picture.png)
    (folder / "report.html").write_text(page(results, tables, drawn), encoding="utf-8")


def _say(arguments: argparse.Namespace, results: BenchResults) -> None:
    said = [] if arguments.quiet else [f"note: {note}" for note in results.notes]
    if not results.complete:
        kept = plural(results.rows, "row")
        said.append(f"interrupted: {kept} measured by then, which are kept; the rest is missing")
    if arguments.out is not None and not arguments.quiet:
        said.append(f"written to {arguments.out}")
    for line in said:
        print(line, file=sys.stderr)
