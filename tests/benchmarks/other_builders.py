"""Compares `tokpar corpus build` with Megatron-LM's and datatrove's tools on the same .jsonl.

    python -m tests.benchmarks.other_builders --tokenizer FOLDER --megatron FOLDER
        --megatron-python PYTHON --datatrove-python PYTHON
        [--texts FILE.jsonl ...] [--megabytes 200] [--workers 2] [--only NAME ...]

`--tokenizer` is a folder that transformers' AutoTokenizer loads: tokenizer.json, and
tokenizer_config.json with an eos_token. `--megatron` is a checkout of Megatron-LM. The Python (3.12
or newer) of `--megatron-python` has torch, transformers, gigatoken and awkward; the one of
`--datatrove-python` has datatrove[processing], orjson and tokenizers. Each tool runs in a process
of its own, first on the first 10 documents (its start), then on all; "times" divides its seconds by
tokpar's. The corpus is the one of `tests.benchmarks.corpora`; it has no empty documents, for which
preprocess_data_fast.py stores an end token and preprocess_data.py nothing. Megatron's .bin and .idx
must equal tokpar's byte for byte; datatrove's documents must have the same ids, in order."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from tests.benchmarks.corpora import documents
from tests.benchmarks.machine import processor

BASELINE = "tokpar"
Bytes = tuple[bytes, bytes]
"""The bytes of a Megatron .bin and .idx."""


@dataclass(frozen=True)
class Corpus:
    """Documents in one .jsonl, and the same in `parts`, a folder of a .jsonl for each worker.

    `size`: UTF-8 bytes of the texts."""

    path: Path
    parts: Path
    documents: int
    size: int


@dataclass(frozen=True)
class Tool:
    """A tool to time. `command` makes the command line for a corpus and an output prefix; `agrees`
    says whether the output at that prefix equals tokpar's .bin and .idx."""

    name: str
    command: Callable[[Corpus, Path], list[str]]
    agrees: Callable[[Path, Bytes], bool]
    python_path: Path


def write_corpus(folder: Path, texts: list[str], workers: int) -> Corpus:
    """Writes the texts as one .jsonl, and again as one .jsonl of consecutive texts a worker."""
    lines = [json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts]
    parts = folder / "parts"
    parts.mkdir(parents=True)
    path = folder / "all.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    edges = [k * len(lines) // workers for k in range(workers + 1)]
    for k in range(workers):
        part = "".join(lines[edges[k] : edges[k + 1]])
        (parts / f"{k:05d}.jsonl").write_text(part, encoding="utf-8")
    return Corpus(path, parts, len(lines), sum(len(text.encode()) for text in texts))


def tokpar_tool(name: str, options: argparse.Namespace, *more: str) -> Tool:
    """`tokpar corpus build`, which writes one shard."""

    def command(corpus: Corpus, prefix: Path) -> list[str]:
        given = ["--tokenizer", str(options.tokenizer / "tokenizer.json"), "--out", str(prefix)]
        given += ["--append-eod", "--eod-token", eos_token_of(options.tokenizer)]
        given += ["--workers", str(options.workers), "--quiet", *more]
        return [sys.executable, "-m", "tokpar", "corpus", "build", str(corpus.path), *given]

    return Tool(name, command, lambda prefix, own: own_bytes(prefix) == own, Path.cwd())


def eos_token_of(tokenizer: Path) -> str:
    """The text of the eos_token in a tokenizer's tokenizer_config.json."""
    token = json.loads((tokenizer / "tokenizer_config.json").read_text("utf-8"))["eos_token"]
    return str(token if isinstance(token, str) else token["content"])


def own_bytes(prefix: Path) -> Bytes:
    """The .bin and .idx of the only shard of a build."""
    (data,) = prefix.glob("*.bin")
    return data.read_bytes(), data.with_suffix(".idx").read_bytes()


def megatron_tool(script: str, options: argparse.Namespace, *more: str) -> Tool:
    """A script in Megatron's tools. Its folder goes before an installed megatron-core."""

    def command(corpus: Corpus, prefix: Path) -> list[str]:
        given = ["--input", str(corpus.path), "--output-prefix", str(prefix), "--append-eod"]
        given += ["--tokenizer-type", "HuggingFaceTokenizer"]
        given += ["--tokenizer-model", str(options.tokenizer), *more]
        return [options.megatron_python, str(options.megatron / "tools" / script), *given]

    def agrees(prefix: Path, own: Bytes) -> bool:
        stem = f"{prefix}_text_document"
        return (Path(f"{stem}.bin").read_bytes(), Path(f"{stem}.idx").read_bytes()) == own

    return Tool(script, command, agrees, options.megatron)


def datatrove_tool(options: argparse.Namespace) -> Tool:
    """datatrove's `DocumentTokenizer`, run by its local executor."""
    eos_token = eos_token_of(options.tokenizer)
    tokenizer = str(options.tokenizer / "tokenizer.json")

    def command(corpus: Corpus, prefix: Path) -> list[str]:
        given = [str(corpus.parts), str(prefix), tokenizer, eos_token, str(options.workers)]
        return [options.datatrove_python, "-m", "tests.benchmarks.datatrove_builder", *given]

    return Tool("DocumentTokenizer", command, datatrove_agrees, Path.cwd())


def datatrove_agrees(prefix: Path, own: Bytes) -> bool:
    """Whether the documents of all .ds files, in order, are those of tokpar's .bin and .idx."""
    data, index = own
    (sequences,) = np.frombuffer(index, "<u8", 1, 18).tolist()
    ids = np.frombuffer(data, {4: "<i4", 8: "<u2"}[index[17]])
    lengths = np.frombuffer(index, "<i4", sequences, 34)
    shards = sorted(prefix.glob("*.ds"))
    ends = [np.fromfile(path.with_suffix(".ds.index"), "<u8") for path in shards]
    sizes = [path.stat().st_size // int(end[-1]) for path, end in zip(shards, ends, strict=True)]
    found = [
        np.fromfile(path, {2: "<u2", 4: "<u4"}[size])
        for path, size in zip(shards, sizes, strict=True)
    ]
    found_lengths = [np.diff(end, prepend=np.uint64(0)) for end in ends]
    return np.array_equal(np.concatenate(found_lengths), lengths) and np.array_equal(
        np.concatenate(found), ids
    )


def seconds_of(tool: Tool, corpus: Corpus, prefix: Path) -> float:
    """Wall-clock seconds of one process. Ends the comparison with the tool's stderr if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(tool.python_path), "HF_HUB_OFFLINE": "1"}
    command = tool.command(corpus, prefix)
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{tool.name} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return seconds


def tools_of(options: argparse.Namespace) -> list[Tool]:
    """The tools to time: tokpar first, with which the others are compared."""
    workers = ("--workers", str(options.workers))
    tools = [
        tokpar_tool(BASELINE, options),
        tokpar_tool("tokpar --engine gigatoken", options, "--engine", "gigatoken"),
        megatron_tool("preprocess_data.py", options, *workers),
        megatron_tool("preprocess_data_fast.py", options, "--use-gigatoken"),
        datatrove_tool(options),
    ]
    return [
        tool
        for tool in tools
        if tool.name == BASELINE or not options.only or tool.name in options.only
    ]


def ratio(seconds: float, base: float) -> str:
    """How many times tokpar's seconds, or "-" where a start took as long as the whole."""
    return f"{seconds / base:.2f}" if min(seconds, base) > 0 else "-"


def compare(options: argparse.Namespace, folder: Path) -> bool:
    """Prints a row for each tool; returns whether all outputs are equal."""
    texts = list(documents(options.texts, options.megabytes * 10**6))
    start = write_corpus(folder / "start", list(islice(texts, 10)), options.workers)
    corpus = write_corpus(folder / "corpus", texts, options.workers)
    del texts
    print(f"{processor()}, {corpus.documents} documents, {corpus.size / 1e6:.1f} MB")
    print("| tool | start, s | all, s | documents/s | MB/s | times | times, no start | equal |")
    print("|---|---|---|---|---|---|---|---|")
    own, base, base_start, all_equal = (b"", b""), 0.0, 0.0, True
    for k, tool in enumerate(tools_of(options)):
        started = seconds_of(tool, start, folder / f"start-{k}")
        prefix = folder / f"out-{k}"
        seconds = seconds_of(tool, corpus, prefix)
        if tool.name == BASELINE:
            own, base, base_start = own_bytes(prefix), seconds, started
        equal = tool.agrees(prefix, own)
        all_equal &= equal
        row = f"{started:.1f} | {seconds:.1f} | {corpus.documents / seconds:.0f} | "
        row += f"{corpus.size / 1e6 / seconds:.2f} | {ratio(seconds, base)} | "
        row += ratio(seconds - started, base - base_start)
        print(f"| {tool.name} | {row} | {'yes' if equal else 'NO'} |", flush=True)
    return all_equal


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True, type=Path)
    parser.add_argument("--megatron", required=True, type=Path)
    parser.add_argument("--megatron-python", required=True)
    parser.add_argument("--datatrove-python", required=True)
    parser.add_argument("--texts", nargs="*", type=Path, default=[])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--keep", type=Path, help="an empty folder for corpus and outputs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not compare(options, options.keep or Path(folder)):
            sys.exit("outputs differ")


if __name__ == "__main__":
    main()
