"""MB/s of new text and of the same text again: tokpar beside other engines, on one core and on two.

    python -m tests.benchmarks.engines --tokenizer FILE [--tokenizer FILE ...] --english FILE
        --chinese FILE [--code FILE] [--size 2000000] [--engines NAMES] [--kinds NAMES]
        [--turns 5] [--cores 1,2] [--csv FILE]

--tokenizer is a tokenizer.json. A FILE of texts is a text, or a .jsonl with a "text" in each row;
without --code the code is that of Python's standard library. JSON lines, access logs, HTML, random
words and base64 are drawn with a fixed seed. "documents" are 4,000 texts of 2,000 characters in one
batch, the other kinds one text of --size bytes, or what the file has.

own     the tokenizer's own library, one call
first   first call with the text, of an object that is new and loaded, and has encoded one sentence
seen    fourth call with the same text
/ best  tokpar over the fastest of the others whose ids are those of the own library
load    programs that wanted a core in the last minute (Unix): at most --cores on a quiet machine

Each turn makes new objects of all engines, and every second turn goes through them in reverse. A
figure is the best of the turns, which other programs on the machine disturb least; on one core the
processor time counts. MB are millions of bytes of UTF-8. All sides return ids in arrays. The
process is pinned to the cores (Linux).

--csv appends each row to a file: docs/data/engines.csv. All ids are compared. If those of tokpar
are not the own library's, the run stops with exit code 1.
Other engines may leave out the special tokens around a text; a "*" marks figures of other ids.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gc
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import tokpar
from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.engines_calls import ENGINES, Calls
from tests.benchmarks.engines_texts import KINDS, Sources
from tests.benchmarks.texts import read_texts, standard_library
from tokpar.arrays import IdArray
from tokpar.process.interrupts import raise_foreign

OURS = "tokpar"
SENTENCE = "This sentence starts the threads of an engine."
Rates = dict[str, tuple[float, float]]
"""By engine: MB/s of new text, and of text that was seen."""


class DifferError(Exception):
    """Ids are not those of the tokenizer's own library: nothing else matters then."""


def main(argv: Sequence[str] | None = None) -> int:
    options = list(sys.argv[1:] if argv is None else argv)
    args = _arguments(options)
    if len(args.cores) > 1:  # engines count the cores once, so each count has a process
        command = [sys.executable, "-m", "tests.benchmarks.engines", *options, "--cores"]
        return max(subprocess.run([*command, str(count)]).returncode for count in args.cores)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores[0]])
    english, chinese = ("\n".join(read_texts(file)) for file in (args.english, args.chinese))
    code = "\n".join(read_texts(args.code)) if args.code else standard_library()
    texts = [*Sources(english, chinese, code, args.size).texts(args.kinds)]
    print(_about(args.cores[0]), *_head(args.engines), sep="\n", flush=True)
    total = len(args.tokenizer) * len(texts) * args.turns
    with tqdm(total=total, unit="turn") as bar, tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(args.tokenizer):
            clock = time.process_time if args.cores == [1] else time.perf_counter
            subject = Subject(file, Path(folder, f"{number}.json"), args.engines, clock)
            for kind, rows in texts:
                bar.set_description(f"{subject.name}, {kind}")
                try:
                    cells = subject.measured(kind, rows, args.turns, bar)
                except DifferError as error:
                    tqdm.write(f"error: {error}", file=sys.stderr)
                    return 1
                print(_line(*cells), flush=True)
                if args.csv:
                    _append(args.csv, _columns(args.engines), args.cores[0], cells)
    return 0


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.engines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    engines = [engine for engine in ENGINES if find_spec(engine)]
    add("--tokenizer", type=Path, required=True, action="append", metavar="FILE")
    add("--english", type=Path, required=True, metavar="FILE")
    add("--chinese", type=Path, required=True, metavar="FILE")
    add("--code", type=Path, metavar="FILE", help="Python sources (the standard library's)")
    add("--size", type=int, default=2_000_000, metavar="BYTES", help="of each text (2,000,000)")
    add("--engines", default=",".join(engines), metavar="NAMES", help="by comma (all installed)")
    add("--kinds", default=",".join(KINDS), metavar="NAMES", help="of rows, by comma (all)")
    add("--turns", type=int, default=5, metavar="N", help="of each row (5)")
    add("--cores", default="1,2", metavar="N", help="counts, by comma: a table each (1,2)")
    add("--csv", type=Path, metavar="FILE", help="append the rows to it")
    args = parser.parse_args(argv)
    for option, known in (("engines", engines), ("kinds", KINDS)):
        wanted = [name for name in getattr(args, option).split(",") if name]
        setattr(args, option, wanted)
        if unknown := sorted(set(wanted) - set(known)):
            parser.error(
                f"--{option}: got {', '.join(unknown)}; there are {', '.join(known) or 'none'}"
            )
    if not all(count.isdigit() and int(count) for count in args.cores.split(",")):
        parser.error(f"--cores: got {args.cores!r}; give numbers from 1 on, by comma")
    args.cores = [int(count) for count in args.cores.split(",")]
    if args.size < 1 or args.turns < 1:
        parser.error("--size and --turns must be at least 1")
    for file in (*args.tokenizer, args.english, args.chinese, *filter(None, [args.code])):
        if not file.is_file():
            parser.error(f"there is no file {file}")
    return args


class Subject:
    """A tokenizer.json, and the engines that read it. `copy`: where a copy of the file without
    truncation and padding is written. `clock`: returns seconds."""

    def __init__(
        self, file: Path, copy: Path, engines: Sequence[str], clock: Callable[[], float]
    ) -> None:
        from tokenizers import Tokenizer

        self.name = file.parent.name if file.stem == "tokenizer" else file.stem
        own = Tokenizer.from_file(str(file))
        own.no_truncation()
        own.no_padding()
        own.save(str(copy))
        self._file, self._own, self._clock = copy, own, clock
        self._engines = [OURS, *filter(self._is_loaded, engines)]
        self._columns = [OURS, *engines]
        frame: Any = own.encode("").ids
        self._frames = [(frame[:k], frame[k:]) for k in range(len(frame) + 1)]

    def _is_loaded(self, engine: str) -> bool:
        try:
            ENGINES[engine](self._file).one(SENTENCE)
        except BaseException as error:  # a panic is no Exception
            raise_foreign(error)
            tqdm.write(f"{self.name}: {engine} is left out, {error}"[:150], file=sys.stderr)
            return False
        return True

    def _calls(self, engine: str) -> Calls:
        """The calls of a new object. tokpar's has no cache of another one: caches belong to the
        tokenizer object."""
        gc.collect()
        if engine != OURS:
            return ENGINES[engine](self._file)
        encoder = tokpar.Encoder(tokpar.load(type(self._own).from_file(str(self._file))))
        encoder.prepare()
        return Calls(
            lambda text: encoder.encode(text).ids,
            encoder.encode_batch,
            lambda batch: [row.ids for row in batch],
        )

    def measured(self, kind: str, texts: list[str], turns: int, bar: Any) -> list[str]:
        """The cells of one row of the table. Raises DifferError."""
        seconds, encodings = self._timed(partial(self._own.encode_batch_fast, texts))
        expected = [np.array(each.ids, dtype=np.uint32) for each in encodings]
        size = sum(len(text.encode()) for text in texts) / 1e6
        best: Rates = {}
        wrong: set[str] = set()
        for number in range(turns):
            for engine in self._engines[:: -1 if number % 2 else 1]:
                rates, is_equal = self._turn(engine, texts, expected)
                if not is_equal and engine == OURS:
                    raise DifferError(f"{self.name}, {kind}: tokpar has other ids")
                wrong |= {engine} - ({engine} if is_equal else set())
                known = best.get(engine, (0.0, 0.0))
                best[engine] = max(known[0], size / rates[0]), max(known[1], size / rates[1])
            bar.update()
        own = f"{size / seconds:.1f}"
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "-"
        return [self.name, kind, f"{size:.1f}", own, *self._cells(best, wrong), load]

    def _turn(
        self, engine: str, texts: list[str], expected: Sequence[IdArray]
    ) -> tuple[tuple[float, float], bool]:
        """Seconds of new and of seen text, and whether the ids of both are those expected."""
        calls = self._calls(engine)
        calls.one(SENTENCE)
        is_one = len(texts) == 1
        call = partial(calls.one, texts[0]) if is_one else partial(calls.many, texts)
        first, found = self._timed(call)
        call(), call()
        seen, again = self._timed(call)
        rows = [[found], [again]] if is_one else [calls.rows(each) for each in (found, again)]
        return (first, seen), all(self._is_equal(engine, expected, each) for each in rows)

    def _timed(self, call: Callable[[], Any]) -> tuple[float, Any]:
        start = self._clock()
        result = call()
        return self._clock() - start, result

    def _is_equal(self, engine: str, expected: Sequence[IdArray], rows: Sequence[IdArray]) -> bool:
        frames = [([], [])] if engine == OURS else [([], []), *self._frames]
        return len(rows) == len(expected) and any(
            all(
                np.array_equal(ids, np.concatenate([before, row, after]))
                for ids, row in zip(expected, rows, strict=True)
            )
            for before, after in frames
        )

    def _cells(self, best: Rates, wrong: set[str]) -> Iterator[str]:
        for engine in self._columns:
            mark = "*" if engine in wrong else ""
            yield from (f"{rate:.0f}{mark}" for rate in best[engine]) if engine in best else "--"
        for state in (0, 1):
            others = [best[each][state] for each in best if each not in {OURS, *wrong}]
            yield f"{best[OURS][state] / max(others):.2f}" if others else "-"


PACKAGES = (
    *("fastokens", "gigatoken", "numpy", "pluggy", "regex", "snaptokens", "tiktoken", "tokenizers"),
    *("tokie", "tokpar", "transformers", "tuetoken"),
)


def _about(cores: int) -> str:
    """The processor, the cores that are used, and the versions of Python and of packages."""
    processor = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = next(iter(named), processor)
    here = [name for name in PACKAGES if find_spec(name)]
    packages = ", ".join(f"{name} {version(name)}" for name in here)
    count = "1 core" if cores == 1 else f"{cores} cores"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"\n{processor}, {count}, {python}; {packages}.\n"


def _append(file: Path, columns: Sequence[str], cores: int, cells: Sequence[str]) -> None:
    is_new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        if is_new:
            rows.writerow(["cores", *columns])
        rows.writerow([cores, *cells])


def _columns(engines: Sequence[str]) -> list[str]:
    states = [f"{engine} {state}" for engine in (OURS, *engines) for state in ("first", "seen")]
    return ["tokenizer", "text", "MB", "own", *states, "first / best", "seen / best", "load"]


def _head(engines: Sequence[str]) -> Iterator[str]:
    names = _columns(engines)
    yield _line(*names)
    yield "|---" * len(names) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    refuse_without_kernel()
    raise SystemExit(main())
