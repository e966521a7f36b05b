"""Compares `tokpar.corpus.build` with the engine's own batch call on the same documents in memory.

    python -m tests.benchmarks.corpora --engine tokenizers --tokenizer tokenizer.json
        [--texts FILE.jsonl ...] [--megabytes 200] [--long-document 100]

Documents of about 2 KB, taken in turn from the texts, the standard library of this Python, and its
sources as JSON, are written into one .jsonl.zst. Each side runs in a process of its own.
--long-document: one more document in their midst, of so many MB of the same texts."""

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


def own(path: Path, tokenizer: str, engine: str) -> dict[str, Any]:
    """The engine's own batch call, documents in memory."""
    from tokpar.decompression import uncompressed_blocks

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


def built(path: Path, tokenizer: str, engine: str, folder: Path) -> dict[str, Any]:
    from tokpar.corpus import Progress, build

    progress = Progress()
    named = engine if engine == "gigatoken" else None
    build(path, folder, tokenizer=tokenizer, engine=named, progress=progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": progress.elapsed, "stages": progress.seconds, "peak_mb": round(peak)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--engine", choices=("tokenizers", "tiktoken", "gigatoken"), required=True)
    parser.add_argument("--texts", nargs="*", type=Path, default=[])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--long-document", type=int, default=0, metavar="MB")
    parser.add_argument("--side", choices=("own", "build"))
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.side == "own":
            print(json.dumps(own(arguments.file, arguments.tokenizer, arguments.engine)))
            return
        if arguments.side == "build":
            out = Path(folder) / "out"
            found = built(arguments.file, arguments.tokenizer, arguments.engine, out)
            print(json.dumps(found))
            return
        path = Path(folder) / "documents.jsonl.zst"
        total, long = arguments.megabytes * 10**6, arguments.long_document * 10**6
        texts = documents(arguments.texts, total)
        if long:
            texts = with_long_document(texts, documents(arguments.texts, long), total)
        size = write(path, texts) / 1e6
        command = [sys.executable, "-m", "tests.benchmarks.corpora", "--file", str(path)]
        command += ["--tokenizer", arguments.tokenizer, "--engine", arguments.engine, "--side"]
        for side in ("own", "build", "own", "build"):
            said = subprocess.run([*command, side], check=True, stdout=subprocess.PIPE)
            seen = json.loads(said.stdout)
            print(f"{side:6} {size / seen['seconds']:8.1f} MB/s  {seen}", flush=True)


if __name__ == "__main__":
    main()
