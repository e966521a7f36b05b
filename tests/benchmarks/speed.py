"""`auto` against each engine's own fastest call for one text: sizes, kinds of text, in one run.

    python -m tests.benchmarks.speed --vocab DIR --texts FILE.jsonl [--chinese FILE.jsonl]
        [--only NAMES] [--kinds 1M,8M] [--sizes 1K,10K,100K,1M,8M,64M] [--rounds 3] [--json OUT]
        [--markdown OUT]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; rows whose file or
engine plugin is missing are left out. tokpar and one of the own calls take turns (of four calls:
own, tokpar, tokpar, own), then tokpar and the next own call; figures are medians of the ratios of
turns, least and most in brackets. Of the engines that take milliseconds there are several objects
on either side, because where an object's tables lie in memory makes equal objects differ by a
fifth. The ids of every row are compared with the own calls'.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import tokpar
from tests.benchmarks.machine import provenance
from tests.benchmarks.speed_engines import Call, Subject, subjects
from tests.benchmarks.speed_tables import Row, line, markdown
from tests.benchmarks.texts import (
    in_base64,
    long_text,
    read_texts,
    standard_library,
    text_hash,
)
from tests.benchmarks.turns import Turn, in_turns, spread, timed
from tokpar.types import Report

SIZES = {
    "1K": 1_000,
    "10K": 10_000,
    "100K": 100_000,
    "1M": 1_000_000,
    "8M": 8_000_000,
    "64M": 64_000_000,
}
FEW_OBJECTS = {"Hugging Face": 1, "tiktoken": 1}
"""Engines whose calls take longer than what differs from object to object."""
OBJECTS = 6
"""Pairs of an own object and an adapter; several, and an even number, where tenths of a millisecond
count."""
SLOW = {"Hugging Face": {"English": 8_000_000, "others": 1_000_000}}
"""Longest texts of engines that take a second for a megabyte."""


@dataclass(frozen=True)
class Sample:
    """A text, its kind, and its size in words: "English", "1M"."""

    kind: str
    size: str
    text: str

    @property
    def label(self) -> str:
        return f"{self.kind} {self.size}"


Pair = tuple[Mapping[str, Call], Any]
"""An object's own calls by name, and an adapter."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--chinese", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="names of subjects, or parts of them, by comma")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--kinds", default="", help="sizes of the other kinds of text")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path, help="the tables of docs/benchmarks.md")
    args = parser.parse_args(argv)
    samples = list(_samples(args))
    about = provenance(sys.argv) | {
        "texts": {sample.label: text_hash(sample.text) for sample in samples}
    }
    print(json.dumps(about))
    rows: list[Row] = []
    for subject in subjects(args.vocab, [name for name in args.only.split(",") if name]):
        count = FEW_OBJECTS.get(subject.engine, OBJECTS)
        pairs = [_pair(subject, k) for k in range(count)]  # for all texts
        for sample in samples:
            if not _too_long(subject, sample):
                rows.append(measured(subject, pairs, sample, args.rounds))
                print(line(rows[-1]), flush=True)
                _write(args, about, rows)
    return 0


def _pair(subject: Subject, number: int) -> Pair:
    """Which is loaded first alternates: what is loaded next may get the memory that was freed."""
    if number % 2:
        adapter = subject.load()
        return subject.own().one, adapter
    return subject.own().one, subject.load()


def _write(args: argparse.Namespace, about: dict[str, Any], rows: Sequence[Row]) -> None:
    """After each row, so that an interrupt keeps what was measured."""
    if args.json:
        record = {"provenance": about, "rows": [asdict(row) for row in rows]}
        args.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    if args.markdown:
        args.markdown.write_text(markdown(rows), encoding="utf-8")


def _samples(args: argparse.Namespace) -> Iterator[Sample]:
    english = read_texts(args.texts)
    sizes, kinds = args.sizes.split(","), [size for size in args.kinds.split(",") if size]
    for size in (*sizes, *kinds):
        if size not in SIZES:
            raise SystemExit(f"a size is one of {', '.join(SIZES)}, got {size!r}")
    for size in sizes:
        yield Sample("English", size, long_text(english, SIZES[size]))
    for size in kinds:
        count = SIZES[size]
        if args.chinese:
            yield Sample("Chinese", size, _chinese(args.chinese, count))
        yield Sample("Python", size, standard_library()[:count])
        yield Sample("minified JSON", size, minified(count))
        yield Sample("base64", size, in_base64(count))


def _too_long(subject: Subject, sample: Sample) -> bool:
    limits = SLOW.get(subject.engine)
    if limits is None:
        return False
    return len(sample.text) > limits.get(sample.kind, limits["others"])


def _chinese(path: Path, size: int) -> str:
    """The texts, then their lines in other orders."""
    lines = "\n".join(read_texts(path)).splitlines()
    whole, shuffle = "\n".join(lines), random.Random(0)
    while len(whole) < size:
        shuffle.shuffle(lines)
        whole += "\n".join(lines)
    return whole[:size]


def minified(size: int, seed: int = 0) -> str:
    """Records without white space, as services send them: names, numbers, words, flags."""
    draw = random.Random(seed)
    words = sorted(set(standard_library()[:400_000].split()) - {""})
    words = [word for word in words if word.isalpha()]
    records = []
    length = 0
    while length < size:
        record = {
            "id": draw.randrange(10**9),
            "name": draw.choice(words) + "_" + draw.choice(words),
            "score": round(draw.random() * 100, draw.randrange(6)),
            "tags": draw.sample(words, draw.randrange(5)),
            "ok": draw.random() < 0.5,
        }
        records.append(json.dumps(record, separators=(",", ":")))
        length += len(records[-1]) + 1
    return ("[" + ",".join(records) + "]")[:size]


def measured(subject: Subject, pairs: Sequence[Pair], sample: Sample, rounds: int) -> Row:
    """The row of one subject and text. SystemExit if ids differ: nothing else matters then."""
    text = sample.text
    firsts, later = _unseen(subject, text, rounds, next(iter(pairs[0][0].values())))
    turns: dict[str, list[Turn[Report]]] = {name: [] for name in pairs[0][0]}
    for own, adapter in pairs:
        with tokpar.Encoder(adapter) as encoder:
            seams = _seams_of_same(subject, sample, own, encoder)
            ours = partial(encoder.encode, text)
            for name, call in own.items():
                turns[name] += in_turns(partial(call, text), ours, _report, rounds, len(pairs))
    own_seconds = {name: median(turn.own for turn in turns[name]) for name in turns}
    usual, report = next(iter(own_seconds.values())), next(iter(turns.values()))[-1].kept
    return Row(
        subject.name,
        sample.kind,
        sample.size,
        len(text),
        len(next(iter(turns.values()))),
        own_seconds,
        {name: median(turn.tokpar for turn in turns[name]) for name in turns},
        median(firsts),
        {name: spread([turn.ratio for turn in turns[name]]) for name in turns},
        usual / median(firsts),
        None if not later else median(later),
        median(_outside(turn) for name in turns for turn in turns[name]),
        report.executor,
        report.chunks,
        seams,
    )


def _seams_of_same(
    subject: Subject, sample: Sample, own: Mapping[str, Call], encoder: tokpar.Encoder
) -> int:
    """How many seams there are, if the ids are those of the own calls; else SystemExit."""
    encoding = encoder.encode(sample.text)
    if not all(np.array_equal(call(sample.text), encoding.ids) for call in own.values()):
        raise SystemExit(f"{subject.name}, {sample.label}: the ids differ from the own call's")
    return len(encoding.seams)


def _report(encoding: tokpar.Encoding) -> Report:
    return encoding.report


def _outside(turn: Turn[Report]) -> float:
    """Share of tokpar's last time outside the tokenizer's call."""
    return 1 - turn.kept.seconds["tokenize"] / turn.last


def _unseen(subject: Subject, text: str, rounds: int, own: Call) -> tuple[list[float], list[float]]:
    """Seconds of an adapter that has seen no text, and, for engines that tokpar remembers words of,
    the own call's time over that of an adapter that has seen the first half, for the second; each
    time a new one. Once where loading takes longer than that could tell."""
    firsts, later = [], []
    half = len(text) // 2
    has_segment_cache = subject.engine == "Hugging Face"
    for _ in range(rounds if has_segment_cache else 1):
        with tokpar.Encoder(subject.load()) as fresh:
            firsts.append(timed(partial(fresh.encode, text))[0])
        if has_segment_cache:
            with tokpar.Encoder(subject.load()) as fresh:
                fresh.encode(text[:half])
                ours = timed(partial(fresh.encode, text[half:]))[0]
            later.append(timed(partial(own, text[half:]))[0] / ours)
    return firsts, later


if __name__ == "__main__":
    raise SystemExit(main())
