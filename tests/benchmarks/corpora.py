"""Compares `tokpar.corpus.build` with the engine's own batch call on the same documents in memory.

    python -m tests.benchmarks.corpora --engine tokenizers --tokenizer tokenizer.json
        [--texts FILE.jsonl ...] [--megabytes 200] [--long-document 100] [--backend ray] [--audit]

Documents of about 2 KB, taken in turn from the texts, the standard library of this Python, and its
sources as JSON, are written into one .jsonl.zst. Each side runs in a process of its own.
--long-document: one more document in their midst, of so many MB of the same texts. --backend ray:
the documents are in 8 files, and the local build of the same files is timed beside the one on Ray,
with the same number of workers. --audit: audits of the shards, without and with --against."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

SIZE = 2048
"""Code points of a document."""


def documents(texts: list[Path], size: int) -> Iterator[str]:
    """Documents of all kinds in turn, `size` UTF-8 bytes together."""
    code = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    kinds: list[list[str]] = [
        *([json.loads(row)["text"] for row in path.open(encoding="utf-8")] for path in texts),
        [path.read_text(encoding="utf-8") for path in code],
    ]
    lines = [line for text in kinds[-1] for line in text.splitlines()]
    kinds.append(["\n".join(json.dumps({"n": k, "line": line}) for k, line in enumerate(lines))])
    turns = [cycle(parts(kind)) for kind in kinds]
    written = 0
    for turn in cycle(turns):
        text = next(turn)
        written += len(text.encode())
        yield text
        if written >= size:
            return


def parts(texts: list[str]) -> list[str]:
    return [text[k : k + SIZE] for text in texts for k in range(0, len(text), SIZE)]


def with_long_document(short: Iterator[str], long: Iterator[str], size: int) -> Iterator[str]:
    """The short documents of `size` UTF-8 bytes, and after half of them one of all the texts of
    `long`."""
    written, whole = 0, "".join(long)
    for text in short:
        if whole and written >= size // 2:
            yield whole
            whole = ""
        written += len(text.encode())
        yield text


def write(path: Path, texts: Iterator[str]) -> int:
    """Writes a .jsonl.zst; returns the UTF-8 bytes of the texts."""
    import zstandard

    total = 0
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as out:
        for text in texts:
            total += len(text.encode())
            out.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
    return total


def own(paths: list[Path], tokenizer: str, engine: str) -> dict[str, Any]:
    """The engine's own batch call, documents in memory."""
    from tokpar.decompression import uncompressed_blocks

    (path,) = paths
    with path.open("rb") as file:
        data = b"".join(uncompressed_blocks(file, path.name, 1 << 20))
    texts = [json.loads(line)["text"] for line in data.splitlines()]
    del data
    call: Any
    if engine == "gigatoken":
        import gigatoken  # type: ignore[import-not-found,unused-ignore]

        written = Path(tokenizer).read_text(encoding="utf-8")
        call = gigatoken.Tokenizer.from_json(written).encode_batch
    elif engine == "tiktoken":
        import tokpar

        adapter: Any = tokpar.load(tokenizer)
        call = adapter.encoding.encode_ordinary_batch
    else:
        from tokenizers import Tokenizer

        call = Tokenizer.from_file(tokenizer).encode_batch
    begun = time.perf_counter()
    for k in range(0, len(texts), 4096):  # all objects of 200 MB at once take many gigabytes
        call(texts[k : k + 4096])
    return {"seconds": time.perf_counter() - begun}


def built(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """A build. On Ray, `seconds` is without the start and end of the cluster."""
    from tokpar.corpus import Progress, build

    progress = Progress()
    engine = options.engine if options.engine == "gigatoken" else None
    backend = "ray" if options.side == "ray" else "local"
    asked: dict[str, Any] = {"tokenizer": options.tokenizer, "engine": engine, "backend": backend}
    if options.backend:  # each file is a part of its own
        asked |= {"workers": 2, "shard_size": max(path.stat().st_size for path in options.files)}
    if backend == "ray":
        import ray

        ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    begun = time.perf_counter()
    build(options.files, folder, progress=progress, **asked)
    seconds = time.perf_counter() - begun if options.backend else progress.elapsed
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "stages": progress.seconds, "peak_mb": round(peak)}


def audited(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """An audit of the shards in `folder`, with the time to load the tokenizer."""
    from tokpar.corpus import audit

    begun = time.perf_counter()
    against = options.files if options.side == "against" else ()
    report = audit(folder, options.tokenizer, against=against)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "clean": bool(report), "peak_mb": round(peak)}


def one_side(options: argparse.Namespace) -> dict[str, Any]:
    """What one process does."""
    if options.side == "own":
        return own(options.files, options.tokenizer, options.engine)
    if options.side in ("audit", "against"):
        return audited(options, options.out)
    with tempfile.TemporaryDirectory() as folder:
        return built(options, options.out or Path(folder) / "out")


def written(options: argparse.Namespace, folder: Path) -> tuple[list[Path], int]:
    """The .jsonl.zst of the documents, 8 with --backend, and the UTF-8 bytes of their texts."""
    total, long = options.megabytes * 10**6, options.long_document * 10**6
    texts = documents(options.texts, total)
    if long:
        texts = with_long_document(texts, documents(options.texts, long), total)
    files = 8 if options.backend else 1
    paths, size = [folder / f"documents-{k}.jsonl.zst" for k in range(files)], 0
    for path in paths:
        size += write(path, within(texts, total / files) if files > 1 else texts)
    return paths, size


def within(texts: Iterator[str], size: float) -> Iterator[str]:
    """The next texts, `size` UTF-8 bytes together."""
    for text in texts:
        yield text
        size -= len(text.encode())
        if size <= 0:
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--engine", choices=("tokenizers", "tiktoken", "gigatoken"), required=True)
    parser.add_argument("--texts", nargs="*", type=Path, default=[])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--long-document", type=int, default=0, metavar="MB")
    parser.add_argument("--backend", choices=("ray",))
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--side", choices=("own", "build", "ray", "audit", "against"))
    parser.add_argument("--files", type=Path, nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(one_side(options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        paths, size = written(options, Path(folder))
        command = [sys.executable, "-m", "tests.benchmarks.corpora", "--files", *map(str, paths)]
        command += ["--tokenizer", options.tokenizer, "--engine", options.engine]
        sides = [[side] for side in ("own", "build", "own", "build")]
        if options.backend:
            command += ["--backend", options.backend]
            sides = [["build"], ["ray"], ["build"], ["ray"]]
        elif options.audit:
            kept = ["--out", str(Path(folder) / "shards")]
            sides = [["build", *kept], *([side, *kept] for side in ("audit", "against") * 2)]
        for side in sides:
            said = subprocess.run(
                [*command, "--side", *side], check=True, stdout=subprocess.PIPE
            ).stdout.splitlines()[-1]
            seen = json.loads(said)
            print(f"{side[0]:8} {size / 1e6 / seen['seconds']:8.1f} MB/s  {seen}", flush=True)


if __name__ == "__main__":
    main()
