"""Builds a large corpus with `tokpar corpus build`, with Megatron's step and with datatrove's, by
one tokenizer, and compares the ids.

    python -m tests.recipes.corpus_at_scale --tokenizer tokenizer.json --out FOLDER --size 1000 \
        --texts FOLDER [--texts FOLDER ...] [--steps documents megatron datatrove tokpar]

It needs tokpar[corpus], megatron-core with torch, and datatrove[io,processing].
Each step is a process of its own. It prints seconds, seconds of processor time, the peak memory of
the process and all below it, and whether the ids are those of Megatron's step, byte by byte."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.programs.server_processes import memory_below
from tests.programs.turns import processor_time

SIZES = (4.6, 1.6)
"""The mean and the deviation of the logarithm of the lines of a document: 100 in the middle."""
ENDINGS = (".py", ".md", ".txt", ".rst", ".json", ".h", ".c", ".cpp", ".html", ".jsonl", ".pyi")
END = "<｜end▁of▁sentence｜>"
CORES = len(os.sched_getaffinity(0))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 if ids differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.recipes.corpus_at_scale")
    parser.add_argument("--tokenizer", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--size", type=int, default=1_000, help="megabytes of documents")
    parser.add_argument("--texts", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--steps", nargs="+", default=[*STEPS], choices=[*STEPS])
    parser.add_argument("--shard-size", default="100MB")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        STEPS[options.steps[0]](options)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    for step in options.steps:
        load = os.getloadavg()[0]
        command = [sys.executable, "-m", __spec__.name, "--alone", "--steps", step]
        command += ["--tokenizer", options.tokenizer, "--out", options.out]
        command += ["--shard-size", options.shard_size]
        command += [
            "--size",
            options.size,
            *(x for each in options.texts for x in ("--texts", each)),
        ]
        with peak_memory() as peak:
            start, before = time.perf_counter(), processor_time()
            subprocess.run([*map(str, command)], check=True)
        spent = time.perf_counter() - start, processor_time() - before
        print(
            f"{step:10} {spent[0]:7.0f} s, {spent[1]:7.0f} s of processor time, "
            f"{peak[0]:6,.0f} MB, load {load:.1f}",
            flush=True,
        )
    return compare(options.out)


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Yields a list whose only number becomes the most MB that all processes below this one had
    while the block ran; shared pages in parts. It looks each second."""
    peak, is_over = [0.0], threading.Event()

    def look() -> None:
        while not is_over.wait(1):
            peak[0] = max(peak[0], memory_below(os.getpid()))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield peak
    finally:
        is_over.set()
        looking.join()


def write_documents(options: Any) -> None:
    """Writes `documents.jsonl`: parts of files, from a drawn line on, of drawn lengths."""
    rng, target = random.Random(7), options.size * 1_000_000
    files = [
        path for folder in options.texts for path in folder.rglob("*") if path.suffix in ENDINGS
    ]
    rng.shuffle(files)
    written, distinct, rounds = 0, 0, 0
    with (options.out / "documents.jsonl").open("w", encoding="utf-8") as rows:
        while written < target and files:
            for path in files:
                try:
                    lines = path.read_text("utf-8").splitlines(keepends=True)
                except (OSError, UnicodeDecodeError):
                    continue
                start = rng.randrange(len(lines) + 1) if rounds else 0
                while start < len(lines) and written < target:
                    count = 1 + int(rng.lognormvariate(*SIZES))
                    text = "".join(lines[start : start + count]).replace("<|", "< |")
                    written += rows.write(json.dumps({"text": text}) + "\n") if text else 0
                    start += count
                if written >= target:
                    break
            rounds += 1
            distinct = distinct or written
    print(f"{written:,} bytes of {len(files):,} files; {distinct:,} before a file comes again")


def tokpar_step(options: Any) -> None:
    """`tokpar corpus build`, as a command."""
    subprocess.run(_build(options, "tokpar", "--workers", str(CORES)), check=True)


def _build(options: Any, folder: str, *more: str) -> list[str]:
    out = options.out / folder
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "tokpar", "corpus", "build", options.out / "documents.jsonl"]
    command += ["--tokenizer", options.tokenizer, "--out", out, "--append-eod", "--no-bos"]
    command += [
        "--eod-token",
        END,
        "--shard-size",
        options.shard_size,
        "--format",
        "megatron",
        *more,
    ]
    return [*map(str, command)]


def megatron_step(options: Any) -> None:
    """What Megatron's `tools/preprocess_data.py` does: a pool encodes, its builder writes."""
    import multiprocessing

    import torch
    from megatron.core.datasets.indexed_dataset import DType, IndexedDatasetBuilder

    name = options.out / "megatron"
    _initialize(str(options.tokenizer))
    kind = DType.optimal_dtype(_TOKENIZER[0].get_vocab_size())
    builder = IndexedDatasetBuilder(f"{name}.bin", dtype=kind)
    with (
        (options.out / "documents.jsonl").open(encoding="utf-8") as rows,
        multiprocessing.Pool(CORES, _initialize, [str(options.tokenizer)]) as pool,
    ):
        for ids in pool.imap(_ids_of, rows, 32):
            builder.add_item(torch.IntTensor(ids))
            builder.end_document()
    builder.finalize(f"{name}.idx")


_TOKENIZER: list[Any] = []


def _initialize(file: str) -> None:
    from tokenizers import Tokenizer

    _TOKENIZER[:] = [Tokenizer.from_file(file)]


def _ids_of(row: str) -> list[int]:
    [tokenizer] = _TOKENIZER
    text = json.loads(row)["text"]
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return [*ids, tokenizer.token_to_id(END)]


def datatrove_step(options: Any) -> None:
    """datatrove's reader and its step that writes ids, without shuffling."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    folder = options.out / "datatrove"
    shutil.rmtree(folder, ignore_errors=True)
    step = DocumentTokenizer(
        str(folder / "ids"),
        tokenizer_name_or_path=str(options.tokenizer),
        eos_token=END,
        shuffle_documents=False,
    )
    reader = JsonlReader(str(options.out), glob_pattern="documents.jsonl")
    LocalPipelineExecutor([reader, step], tasks=1, logging_dir=str(folder / "logs")).run()


STEPS: dict[str, Callable[[Any], None]] = {
    "documents": write_documents,
    "megatron": megatron_step,
    "datatrove": datatrove_step,
    "tokpar": tokpar_step,
}


def compare(out: Path) -> int:
    """Prints whether all ids are those of Megatron's step. Returns the exit status."""
    if not (out / "megatron.bin").exists():
        return 0
    expected, wrong = _digest([out / "megatron.bin"]), 0
    found = {
        "tokpar": [*(out / "tokpar").glob("*.bin")],
        "datatrove": [*(out / "datatrove/ids").glob("*.ds")],
    }
    for name, files in found.items():
        if not files:
            continue
        is_equal = _digest(files) == expected
        wrong += not is_equal
        print(f"{name}: {len(files)} files, ids {'equal' if is_equal else 'differ'}")
    return 1 if wrong else 0


def _digest(files: Sequence[Path]) -> str:
    digest = sha256()
    for path in sorted(files):
        with path.open("rb") as opened:
            while block := opened.read(1 << 24):
                digest.update(block)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
