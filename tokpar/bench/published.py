"""Accuracy and latency of every strategy, in the shape of the tables of the LoPT paper, in one run.

    python -m tokpar.bench.published --vocab DIR --texts FILE.jsonl [FILE.jsonl ...] [--repetitive]

Accuracy: the share of texts whose ids are all the tokenizer's own. Latency: seconds per text, mean.
`--repetitive` takes the texts of the paper's appendix G instead: each character of a text replaced
by one letter, drawn for that text; it reports how often everything was encoded again.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters
from typing import Any

import numpy as np
from tqdm import tqdm

import tokpar
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.bench.texts import read_texts
from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import IdArray

FILES = {
    "BERT": "bert.json",
    "DeepSeek-V3": "deepseek.json",
    "o200k": "o200k_base.tiktoken",
    "cl100k": "cl100k_base.tiktoken",
}
Serial = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A strategy with options, under the name the table gives it."""

    name: str
    strategy: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one tokenizer over all texts; times in seconds, summed over the texts."""

    accuracy: float
    seconds: float
    serial_seconds: float
    retries: int
    repairs: int
    lossless: float


def methods(chunk_chars: int, overlap_chars: int) -> list[Method]:
    """Every published method as published, then hardened."""
    size = {"chunk_chars": chunk_chars}
    both = {**size, "overlap_chars": overlap_chars}
    paper = {"acceptance": "paper"}
    return [
        Method("delimiter ','", "delimiter", {**size, "delimiter": ","}),
        Method("delimiter '.'", "delimiter", {**size, "delimiter": "."}),
        Method("delimiter ' '", "delimiter", {**size, "delimiter": " "}),
        Method("overlap, longest", "overlap", both),
        Method("overlap, window", "overlap", {**both, "match": "window"}),
        Method("recursive, paper", "recursive", {**paper, "depth": 3}),
        Method("blocks, paper", "blocks", {**size, **paper}),
        Method("lopt, paper", "lopt", {**both, **paper, "on_failure": "restart"}),
        Method("lopt", "lopt", both),
        Method("recursive", "recursive", {"depth": 3}),
        Method("blocks", "blocks", size),
        Method("cut", "cut", size),
        Method("auto", "auto", {}),
    ]


def repetitive_methods(chunk_chars: int, overlap_chars: int) -> list[Method]:
    both = {"chunk_chars": chunk_chars, "overlap_chars": overlap_chars}
    paper = {"acceptance": "paper"}
    return [
        Method("lopt, paper, restart", "lopt", {**both, **paper, "on_failure": "restart"}),
        Method("lopt, paper, repair", "lopt", {**both, **paper, "on_failure": "repair"}),
        Method("lopt, restart", "lopt", {**both, "on_failure": "restart"}),
        Method("lopt, repair", "lopt", {**both, "on_failure": "repair"}),
        Method("auto", "auto", {}),
    ]


def repetitive(texts: Sequence[str], seed: int) -> list[str]:
    """Each text as one letter, drawn for it, as many times as it has characters."""
    draw = random.Random(seed)
    return [draw.choice(ascii_letters) * len(text) for text in texts]


def measure(
    method: Method,
    adapter: TokenizerAdapter,
    texts: Sequence[str],
    expected: Sequence[IdArray],
    serial_seconds: float,
) -> Row:
    """The method on all texts, with one encoder."""
    seconds, equal, lossless, retries, repairs = 0.0, [], [], 0, 0
    with tokpar.Encoder(
        adapter, strategy=method.strategy, allow_approximate=True, **method.options
    ) as encoder:
        encoder.encode(texts[0])
        for text, ids in zip(texts, expected, strict=True):
            start = time.perf_counter()
            encoding = encoder.encode(text)
            seconds += time.perf_counter() - start
            equal.append(np.array_equal(encoding.ids, ids))
            lossless.append(encoding.lossless)
            retries += encoding.report.retries
            repairs += encoding.report.repairs
    return Row(
        statistics.mean(equal), seconds, serial_seconds, retries, repairs, statistics.mean(lossless)
    )


def serial_ids(serial: Serial, texts: Iterable[str]) -> tuple[list[IdArray], float]:
    """The own ids of each text and the seconds they took."""
    found, seconds = [], 0.0
    for text in texts:
        start = time.perf_counter()
        ids = serial(text)
        seconds += time.perf_counter() - start
        found.append(np.asarray(ids, dtype=np.uint32))
    return found, seconds


def load(path: Path) -> tuple[TokenizerAdapter, Serial]:
    """The adapter and the own serial call, truncation and padding off."""
    if path.suffix == ".json":
        from tokenizers import Tokenizer

        own = Tokenizer.from_file(str(path))
        own.no_truncation()
        own.no_padding()
        return tokpar.load(own), lambda text: own.encode(text).ids
    adapter = tokpar.load(path, disallowed_special=())
    assert isinstance(adapter, TiktokenTokenizer)
    return adapter, adapter.encoding.encode_ordinary


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vocab", type=Path, required=True, help="directory of vocabularies")
    parser.add_argument("--texts", type=Path, nargs="+", required=True, help='rows with a "text"')
    parser.add_argument("--chunk-chars", type=int, default=4096)
    parser.add_argument("--overlap-chars", type=int, default=512)
    parser.add_argument("--repetitive", action="store_true", help="texts of appendix G")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, help="only the first so many texts of each file")
    args = parser.parse_args(argv)
    kind = repetitive_methods if args.repetitive else methods
    chosen = kind(args.chunk_chars, args.overlap_chars)
    for path in args.texts:
        texts = read_texts(path)[: args.limit]
        texts = repetitive(texts, args.seed) if args.repetitive else texts
        print(f"\n{path.name}: {len(texts)} texts, {sum(map(len, texts)):,} code points\n")
        _print_table(chosen, texts, args.vocab, args.repetitive)
    return 0


def _print_table(
    chosen: Sequence[Method], texts: Sequence[str], vocab: Path, repetitive_texts: bool
) -> None:
    names = [name for name, file in FILES.items() if (vocab / file).is_file()]
    rows: dict[tuple[str, str], Row] = {}
    with tqdm(total=len(names) * len(chosen), unit="method", leave=False) as progress:
        for name in names:
            adapter, serial = load(vocab / FILES[name])
            expected, seconds = serial_ids(serial, texts)
            for method in chosen:
                progress.set_description(f"{name} {method.name}")
                rows[name, method.name] = measure(method, adapter, texts, expected, seconds)
                progress.update()
    print("| method | " + " | ".join(names) + " |\n|---" * 1 + "|---" * len(names) + "|")
    show = _repetitive_cell if repetitive_texts else _cell
    serials = [rows[name, chosen[0].name].serial_seconds / len(texts) for name in names]
    print("| serial | " + " | ".join(f"1.000, {1000 * s:.1f} ms" for s in serials) + " |")
    for method in chosen:
        cells = [show(rows[name, method.name], len(texts)) for name in names]
        print(f"| {method.name} | " + " | ".join(cells) + " |")


def _cell(row: Row, texts: int) -> str:
    return f"{row.accuracy:.3f}, {1000 * row.seconds / texts:.1f} ms"


def _repetitive_cell(row: Row, texts: int) -> str:
    again = f"{row.retries} retries, {row.repairs} repairs"
    return f"{row.accuracy:.3f}, {again}, time {row.seconds / row.serial_seconds:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
