"""MB/s of each kind of text: the tokenizer's own call, tokpar and other engines, in one run.

    python -m tests.benchmarks.kinds --tokenizer FILE [--tokenizer FILE ...] --english FILE
        --chinese FILE [--code FILE] [--size 2000000] [--engines NAMES] [--kinds NAMES]
        [--turns 5]

--tokenizer is a tokenizer.json or a .tiktoken file. A FILE of texts is a text, or a .jsonl with a
"text" in each row; without --code the code is that of Python's standard library. JSON lines, access
logs, HTML and base64 are drawn with a fixed seed, with words from the English text.

Rows: English, Python code, JSON lines, access logs, HTML, Chinese and base64, --size bytes each or
what the file has; and, for --size 2,000,000, fewer for less: a chat of 500 messages in 300 KB with
the file's special tokens, 4,000 documents of 2,000 characters in one batch, and the English text in
texts of 500 characters, one call each.

own call      the fastest call of the tokenizer's own library for such texts; its object is kept
first         first call of a new object
second half   a new object has encoded the first half; the time of the second half
seen          third and fourth call of the same object with the same text

Each turn makes new objects of tokpar and of every other engine, and every second turn goes through
them in reverse. Figures are the median of the turns (least-most). MB are millions of bytes of
UTF-8. All sides return their ids in arrays; tokpar's `encode` and `encode_batch` give the
certificate, too. tokpar keeps tables of a vocabulary on disk: an object that is then thrown away
encodes each text before the first turn.

All ids are compared. If those of tokpar are not those of the own call, or a certificate does not
hold, the run stops with exit code 1 and prints no table. Other engines may leave out the special
tokens around a text; where their ids differ otherwise, the table says "other ids".

Mixed traffic: English documents of 20 KB that an object knows, with a Chinese document that it does
not know after each: the time of the English ones over their time without the Chinese. Loading:
seconds by the tokenizer's own library, and with tokpar, which calls that library; each in a process
of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tqdm import tqdm

from tests.benchmarks.kinds_loading import loading
from tests.benchmarks.kinds_rows import Row, Step, measured, mixed, subject_of
from tests.benchmarks.kinds_tables import line, markdown
from tests.benchmarks.kinds_texts import MIXED, ROWS, Sources
from tests.benchmarks.machine import provenance
from tests.benchmarks.parity import DifferError
from tests.benchmarks.speed_engines import PEERS, Subject, peers
from tests.benchmarks.texts import read_texts, standard_library

LOADING = "loading"
ALL_KINDS = (*ROWS, LOADING)
LEAST_SIZE = 20_000
"""Bytes of a document of mixed traffic."""
Job = Callable[[Step], Row]


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    sources = _sources(args)
    rows: list[Row] = []
    others: list[Row] = []
    total = len(args.tokenizer) * len(args.kinds) * args.turns
    with tempfile.TemporaryDirectory() as directory, tqdm(total=total, unit="turn") as bar:
        for number, file in enumerate(args.tokenizer):
            folder = Path(directory, str(number))
            folder.mkdir()
            subject = subject_of(file.resolve(), folder)
            for name, job in _jobs(subject, sources, args):
                bar.set_description(f"{subject.name}, {name}")
                try:
                    row = job(bar.update)
                except DifferError as error:
                    tqdm.write(f"error: {error}", file=sys.stderr)
                    return 1
                (others if name in (MIXED, LOADING) else rows).append(row)
                tqdm.write(line(row), file=sys.stderr)
    print(markdown(rows, others, args.engines, provenance(sys.argv)), end="")
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.kinds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    engines = [engine for engine in PEERS if find_spec(engine)]
    add("--tokenizer", type=Path, required=True, action="append", metavar="FILE")
    add("--english", type=Path, required=True, metavar="FILE")
    add("--chinese", type=Path, required=True, metavar="FILE")
    add("--code", type=Path, metavar="FILE", help="Python sources (the standard library's)")
    add("--size", type=int, default=2_000_000, metavar="BYTES", help="of each text (2,000,000)")
    add("--engines", default=",".join(engines), metavar="NAMES", help="by comma (all installed)")
    add("--kinds", default=",".join(ALL_KINDS), metavar="NAMES", help="of rows, by comma (all)")
    add("--turns", type=int, default=5, metavar="N", help="of each row (5)")
    args = parser.parse_args(argv)
    for option, known in (("engines", engines), ("kinds", ALL_KINDS)):
        wanted = [name for name in getattr(args, option).split(",") if name]
        setattr(args, option, wanted)
        if unknown := sorted(set(wanted) - set(known)):
            parser.error(
                f"--{option}: got {', '.join(unknown)}; there are {', '.join(known) or 'none'}"
            )
    if args.size < LEAST_SIZE or args.turns < 1:
        parser.error(f"--size must be at least {LEAST_SIZE:,} and --turns at least 1")
    texts = [args.english, args.chinese, *([args.code] if args.code else [])]
    for file in (*args.tokenizer, *texts):
        if not file.is_file():
            parser.error(f"there is no file {file}")
    return args


def _sources(args: argparse.Namespace) -> Sources:
    code = "\n".join(read_texts(args.code)) if args.code else standard_library()
    english, chinese = ("\n".join(read_texts(file)) for file in (args.english, args.chinese))
    return Sources(english, chinese, code, args.size)


def _jobs(
    subject: Subject, sources: Sources, args: argparse.Namespace
) -> Iterator[tuple[str, Job]]:
    """The rows to measure, by kind, in the order of the table."""
    engines = peers(subject, args.engines)
    special = [token.content for token in subject.load().facts.added_tokens if token.special]
    for text in sources.texts(args.kinds, special):
        yield text.kind, partial(measured, subject, engines, text, args.turns)
    if MIXED in args.kinds:
        yield MIXED, partial(mixed, subject, engines, sources.mixed(), args.turns)
    if LOADING in args.kinds:
        yield LOADING, partial(loading, subject, args.turns)


if __name__ == "__main__":
    raise SystemExit(main())
