"""`auto` against each engine's own call on texts without words: runs of letters, spaces, newlines,
digits, CJK, emoji, accents and punctuation, of one character and of several.

    python -m tests.benchmarks.runs --vocab DIR [--only NAMES] [--kinds NAMES] [--size 300000]
        [--turns 9] [--first 3]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; rows whose file is
missing are left out. Calls take turns: own, tokpar, tokpar, own; times are medians of all calls in
milliseconds, the ratio, own / tokpar, the median of those of the turns, in brackets its quartiles.
"first": of `--first` new objects on either side, the first calls, either side's before the other's
in turn. The ids of every row are compared with the own call's, and every seam is checked.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

import tokpar
from tests.benchmarks.speed_engines import Call, Subject, subjects
from tests.benchmarks.turns import timed
from tokpar.foreign_errors import INTERRUPTS

CJK = "".join(map(chr, range(0x4E00, 0x9FA5)))
EMOJI = "".join(map(chr, range(0x1F600, 0x1F645)))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
ALPHABETS = {
    "one letter": "a",
    "letters": LETTERS,
    "capitals": LETTERS.upper(),
    "one digit": "7",
    "digits": "0123456789",
    "spaces": " ",
    "newlines": "\n",
    "one CJK": "中",
    "CJK": CJK,
    "one emoji": "😀",
    "emoji": EMOJI,
    "é": "é",
    "full stops": ".",
    "punctuation": PUNCTUATION,
}
PERIODS = {"a + accent": "a\u0301", "space + newline": " \n"}
Times = tuple[list[float], list[float]]
"""Seconds of the own calls and of tokpar's, in the order of the turns."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--only", default="", help="names of subjects, or parts of them, by comma")
    parser.add_argument("--kinds", default="", help="names of runs by comma")
    parser.add_argument("--size", type=int, default=300_000)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--first", type=int, default=3)
    args = parser.parse_args(argv)
    kinds = [name for name in args.kinds.split(",") if name] or [*ALPHABETS, *PERIODS]
    print("| tokenizer | run | own ms | tokpar ms | ratio | first ratio | chunks | plan |")
    print("|---|---|---|---|---|---|---|---|")
    for subject in subjects(args.vocab, [name for name in args.only.split(",") if name]):
        if subject.engine in ("tiktoken", "Hugging Face"):
            own, encoder = _own(subject), tokpar.Encoder(subject.load())
            for kind in kinds:
                print(_row(subject, kind, args, own, encoder), flush=True)
    return 0


def run_of(kind: str, size: int) -> str:
    """The text of a kind, of `size` code points."""
    if kind in PERIODS:
        return PERIODS[kind] * (size // 2)
    return "".join(random.Random(7).choices(ALPHABETS[kind], k=size))


def _row(
    subject: Subject, kind: str, args: argparse.Namespace, own: Call, encoder: tokpar.Encoder
) -> str:
    text = run_of(kind, args.size)
    ours = partial(encoder.encode, text)
    encoding = ours()
    name = f"| {subject.name} | {kind} |"
    try:
        expected = own(text)
    except INTERRUPTS:
        raise
    except BaseException as error:  # a panic is no Exception; the row says what the own call does
        return f"{name} {type(error).__name__} | {timed(ours)[0] * 1e3:.2f} | | | | |"
    report = tokpar.check(encoding, text, encoder.tokenizer)
    if not (np.array_equal(encoding.ids, expected) and report.ok):
        raise SystemExit(f"{name} the ids differ: nothing else matters {report.findings}")
    own_times, our_times = _in_turns(partial(own, text), ours, args.turns)
    first = [_first(subject, text, bool(turn % 2)) for turn in range(args.first)]
    times = f"{median(own_times) * 1e3:.2f} | {median(our_times) * 1e3:.2f}"
    ratios = [a / b for a, b in zip(own_times, our_times, strict=True)]
    low, middle, high = quantiles(ratios, n=4)
    of_first = f"{median(first):.2f}" if first else ""
    found = encoding.report
    ratio = f"{middle:.2f} ({low:.2f}-{high:.2f})"
    return f"{name} {times} | {ratio} | {of_first} | {found.chunks} | {found.plan} |"


def _in_turns(own: Callable[[], Any], ours: Callable[[], Any], turns: int) -> Times:
    own_times, our_times = [], []
    for _ in range(turns):
        before, first = timed(own)[0], timed(ours)[0]
        second, after = timed(ours)[0], timed(own)[0]
        own_times.append((before + after) / 2)
        our_times.append((first + second) / 2)
    return own_times, our_times


def _first(subject: Subject, text: str, own_first: bool) -> float:
    """The ratio of the first calls of new objects."""
    encoder, own = tokpar.Encoder(subject.load()), _own(subject)
    before = timed(partial(own, text))[0] if own_first else 0.0
    ours = timed(partial(encoder.encode, text))[0]
    return (before or timed(partial(own, text))[0]) / ours


def _own(subject: Subject) -> Call:
    calls = subject.own().one
    return calls.get("encode_to_numpy") or next(iter(calls.values()))


if __name__ == "__main__":
    raise SystemExit(main())
