"""Many texts, one long text, short texts, certificates and the import, in one run.

    python -m tests.benchmarks.batches --vocab DIR --texts FILE.jsonl [--markdown OUT] [--json OUT]
        [--only NAMES] [--parts batch,long,short,check,import] [--megabytes 8] [--rounds 3]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; rows whose file or
engine plugin is missing are left out. FILE.jsonl has English in the field "text" of each row.

batch   `encode_batch` of 4,000 documents of 2 KB, of 40,000 of 200 bytes, and of one of 8 MB among
        2,000 of 2 KB, against the fastest batch call that the engine has
long    `encode` of one text of 8 MB, against the fastest call that the engine has for one
short   microseconds over that call at 1 KB and 10 KB
check   `tokpar.check` of the certificate of the long text
import  `import tokpar` after `import numpy`, whose own threads may still be starting: the time of
        the importing thread

Both sides end with ids in arrays: the own call and the cheapest conversion that its users have.
Both keep their objects and take turns (of four calls: own, tokpar, tokpar, own). Figures are
medians, least and most in brackets; a ratio below 1 means that tokpar is slower. Both have seen
the texts, which some engines remember, as tokpar does for some; "unseen" is the ratio of the first
calls of new objects. Ids are compared: a row whose ids differ is not shown, and the exit code is 1.
--megabytes sets the 8 of all texts, and with them the number of documents.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tokpar
from tests.benchmarks.batches_tables import Checked, Imported, Row, line, markdown
from tests.benchmarks.machine import provenance
from tests.benchmarks.speed_engines import Own, Subject, subjects
from tests.benchmarks.texts import documents, long_text, read_texts, text_hash
from tests.benchmarks.turns import in_turns, spread, timed
from tokpar.arrays import IdArray

PARTS = ("batch", "long", "short", "check", "import")
SHORT = {"1 KB": 1_000, "10 KB": 10_000}
IMPORT = """
import time, numpy
start = time.thread_time()
import tokpar
print(time.thread_time() - start)
"""


@dataclass(frozen=True)
class Work:
    """Texts to be encoded together, or one alone."""

    part: str
    name: str
    texts: list[str]

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.texts)


@dataclass(frozen=True)
class Side:
    """A call that ends with ids in arrays, and what takes them apart."""

    call: Callable[[], Any]
    rows: Callable[[Any], Sequence[IdArray]]


class DifferError(Exception):
    """Ids are not those of the engine's own call: nothing else matters then."""


Result = Row | Checked | Imported


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    english = read_texts(args.texts)
    works = [work for work in _works(english, args.megabytes) if work.part in args.parts]
    about = provenance(sys.argv) | {
        "texts": {work.name: text_hash("".join(work.texts)) for work in works}
    }
    found: list[Result] = []
    differing = 0
    for subject in subjects(args.vocab, [name for name in args.only.split(",") if name]):
        for name, job in _jobs(subject, works, args):
            print(f"{subject.name}, {name} ...", file=sys.stderr, flush=True)
            try:
                found.append(job())
            except DifferError as error:
                differing += 1
                print(f"left out: {error}", file=sys.stderr)
                continue
            print(f"    {line(found[-1])}", file=sys.stderr)
            _write(args, about, found)
    if "import" in args.parts:
        found.append(_imported(args.rounds))
    _write(args, about, found)
    print(markdown(found), end="")
    return 1 if differing else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.batches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--vocab", type=Path, required=True, metavar="DIR")
    add("--texts", type=Path, required=True, metavar="FILE.jsonl")
    add("--only", default="", metavar="NAMES", help="of subjects, or parts of them, by comma")
    add("--parts", default=",".join(PARTS), help="those to measure, by comma (all)")
    add("--megabytes", type=float, default=8.0, metavar="N", help="of all texts (8)")
    add("--rounds", type=int, default=3, metavar="N", help="turns, or more up to two seconds (3)")
    add("--markdown", type=Path, metavar="OUT", help="the tables, also printed")
    add("--json", type=Path, metavar="OUT", help="all figures, and how they were made")
    args = parser.parse_args(argv)
    args.parts = args.parts.split(",")
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts are {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    if args.megabytes < 0.01 or args.rounds < 1:
        parser.error("--megabytes must be at least 0.01, --rounds at least 1")
    return args


def _works(english: list[str], megabytes: float) -> Iterator[Work]:
    """English has about one byte for each code point."""
    size = int(megabytes * 1e6)
    whole = long_text(english, size + size // 2)
    for length, unit in ((2_000, "2 KB"), (200, "200 bytes")):
        cut = documents(whole[:size], length)
        yield Work("batch", f"{len(cut):,} of {unit}", cut)
    small = documents(whole[size:], 2_000)
    half = len(small) // 2
    mixed = [*small[:half], whole[:size], *small[half:]]
    yield Work("batch", f"{megabytes:g} MB among {len(small):,} of 2 KB", mixed)
    yield Work("long", f"{megabytes:g} MB", [whole[:size]])
    for name, length in SHORT.items():
        yield Work("short", name, [whole[:length]])
    yield Work("check", f"{megabytes:g} MB", [whole[:size]])


def _jobs(
    subject: Subject, works: Sequence[Work], args: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], Result]]]:
    """By name, with the same own object and the same adapter, loaded once."""
    own = subject.own()
    with tokpar.Encoder(subject.load()) as encoder:
        for work in works:
            if work.part == "check":
                job = partial(_checked, subject, encoder, work, args.rounds)
                yield f"check of {work.name}", job
            else:
                yield work.name, partial(_row, subject, own, encoder, work, args.rounds)


def _sides(own: Own, work: Work) -> dict[str, Side]:
    """The own calls that can do this work."""
    if work.part == "batch":
        return {
            name: Side(partial(each.call, work.texts), each.rows) for name, each in own.many.items()
        }
    [text] = work.texts
    return {name: Side(partial(call, text), _alone) for name, call in own.one.items()}


def _alone(ids: IdArray) -> list[IdArray]:
    return [ids]


def _row(subject: Subject, own: Own, encoder: tokpar.Encoder, work: Work, rounds: int) -> Row:
    """Raises DifferError."""
    sides, ours = _sides(own, work), _ours(encoder, work)
    _require_same(subject, work, ours(), sides)
    name = min(sides, key=lambda each: timed(sides[each].call)[0])
    taken = list(in_turns(sides[name].call, ours, lambda _: None, rounds))
    return Row(
        subject=subject.name,
        part=work.part,
        work=work.name,
        bytes=work.bytes,
        call=name,
        rounds=len(taken),
        own=spread([turn.own for turn in taken]),
        tokpar=spread([turn.tokpar for turn in taken]),
        ratio=spread([turn.ratio for turn in taken]),
        added=spread([turn.tokpar - turn.own for turn in taken]),
        unseen=_unseen(subject, work, name),
    )


def _unseen(subject: Subject, work: Work, name: str) -> float:
    first, _ = timed(_sides(subject.own(), work)[name].call)
    with tokpar.Encoder(subject.load()) as fresh:
        return first / timed(_ours(fresh, work))[0]


def _ours(encoder: tokpar.Encoder, work: Work) -> Callable[[], Any]:
    """Ids in arrays: those of a batch are one array, made before the clock stops."""
    if work.part == "batch":
        return lambda: encoder.encode_batch(work.texts)
    return lambda: encoder.encode(work.texts[0])


def _require_same(subject: Subject, work: Work, ours: Any, sides: Mapping[str, Side]) -> None:
    rows = np.split(ours.ids, ours.offsets[1:-1]) if work.part == "batch" else [ours.ids]
    for name, side in sides.items():
        own = side.rows(side.call())
        if len(own) != len(rows) or not all(map(np.array_equal, rows, own)):
            raise DifferError(f"{subject.name}, {work.name}: the ids differ from those of {name}")


def _checked(subject: Subject, encoder: tokpar.Encoder, work: Work, rounds: int) -> Checked:
    """Raises DifferError if the certificate does not hold."""
    [text] = work.texts
    seconds = []
    encoding = encoder.encode(text)
    for _ in range(rounds + 4):  # the first of them touch memory that the process never had
        taken, report = timed(
            partial(tokpar.check, encoding, text, encoder.tokenizer, level="seams")
        )
        if not report.ok:
            raise DifferError(f"{subject.name}, {work.name}: {report}")
        seconds.append(taken)
    seconds = seconds[2:]
    encoded = min(timed(partial(encoder.encode, text))[0] for _ in range(rounds))
    return Checked(subject.name, work.name, work.bytes, spread(seconds), encoded)


def _imported(rounds: int) -> Imported:
    """Processor time, which a busy machine changes less; the first import writes bytecode."""
    command = [sys.executable, "-c", IMPORT]
    outputs = [
        subprocess.run(command, check=True, capture_output=True).stdout
        for _ in range(max(5, rounds) + 1)
    ]
    return Imported(spread([float(output) for output in outputs[1:]]))


def _write(args: argparse.Namespace, about: dict[str, Any], found: Sequence[Result]) -> None:
    """After each row, so that an interrupt keeps what was measured."""
    if args.json:
        record = {"provenance": about, "rows": [asdict(each) for each in found]}
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if args.markdown:
        args.markdown.write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
