"""Microseconds of prompts that are encoded one by one, beside the tokenizer's own call.

    python -m tests.benchmarks.prompts FILE TEXT [--sizes 50,200,1000,2000,4000] [--rows 200]

FILE: a tokenizer.json. TEXT: a file of text with 3 * rows * size characters or more, the first half
is read first. "new": the first call of other prompts of the text; "seen": the same prompts again,
the least of five rounds; "as_hf": transformers' own object and ours, seen. The ids of all calls
are compared. Prints rows separated by commas: docs/data/prompts.csv.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

import tokpar
from tests.benchmarks import refuse_without_kernel


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--sizes", default="50,200,1000,2000,4000")
    parser.add_argument("--rows", type=int, default=200)
    options = parser.parse_args()
    from transformers import PreTrainedTokenizerFast  # an optional package

    own = Tokenizer.from_file(str(options.file))
    own.no_truncation()
    own.no_padding()
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    original = PreTrainedTokenizerFast(tokenizer_object=own)
    fast = tokpar.as_hf(original)
    text = options.text.read_text(encoding="utf-8")
    encoder.encode(text[: len(text) // 2])
    print("characters,own call,new,seen,transformers,as_hf")
    for size in map(int, options.sizes.split(",")):
        start = len(text) // 2
        rows = [text[start + k * size : start + (k + 1) * size] for k in range(options.rows)]
        new = _microseconds(encoder.encode, rows, 1)
        for row in rows:
            assert encoder.encode(row).ids.tolist() == own.encode(row).ids
            assert fast(row)["input_ids"] == original(row)["input_ids"]
        found = [
            _microseconds(own.encode, rows, 2),
            new,
            _microseconds(encoder.encode, rows, 5),
            _microseconds(original, rows, 2),
            _microseconds(fast, rows, 5),
        ]
        print(size, *(f"{value:.1f}" for value in found), sep=",", flush=True)


def _microseconds(call: Callable[[str], Any], rows: Sequence[str], rounds: int) -> float:
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for row in rows:
            call(row)
        least = min(least, time.perf_counter() - start)
    return least / len(rows) * 1e6


if __name__ == "__main__":
    refuse_without_kernel()
    main()
