"""Times each level of a check beside the tokenizer's own serial call, on one core.

    python -m tests.benchmarks.checks TOKENIZER ... --texts FILE.jsonl [--megabytes 8]

English is taken from the texts, code from the standard library of this Python. Every figure is the
least processor time of some calls; the first check of a tokenizer, which reads its file, is shown
apart."""

from __future__ import annotations

import argparse
import json
import os
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEVELS = ("ids", "model")


def repeated(parts: list[str], size: int) -> str:
    """The parts, one after the other and again, up to `size` code points."""
    text = "\n\n".join(parts)
    return (text * (size // max(1, len(text)) + 1))[:size]


def texts_of(files: list[Path], size: int) -> dict[str, str]:
    code = sorted(Path(sysconfig.get_path("stdlib")).glob("**/*.py"))
    written = [path.read_text(encoding="utf-8", errors="ignore") for path in code[:900]]
    rows = [json.loads(line)["text"] for path in files for line in path.open(encoding="utf-8")]
    return {"english": repeated(rows, size), "code": repeated(written, size)}


def least(call: Callable[[], Any], times: int) -> float:
    """The least processor time of some calls, seconds."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        call()
        found.append(time.process_time() - begun)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizers", nargs="+")
    parser.add_argument("--texts", nargs="+", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=8)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    import tokpar

    texts = texts_of(arguments.texts, arguments.megabytes * 10**6)
    print("| tokenizer | text | own call, s | first check, s | ids | model |")
    print("|---|---|---|---|---|---|")
    for source in arguments.tokenizers:
        for kind, text in texts.items():
            adapter = tokpar.load(source)
            with tokpar.Encoder(adapter, workers=1) as encoder:
                encoding = encoder.encode(text)
            own = least(lambda: adapter.encode(text), arguments.times)  # noqa: B023
            begun = time.process_time()
            tokpar.check(encoding, text, adapter)
            row = [f"{own:.2f}", f"{time.process_time() - begun:.2f}"]
            for level in LEVELS:
                report = tokpar.check(encoding, text, adapter, level=level)
                if not report:
                    row.append(f"refused ({report.refused or report.findings[0].message})"[:60])
                    continue
                seconds = least(
                    lambda: tokpar.check(encoding, text, adapter, level=level),  # noqa: B023
                    arguments.times,
                )
                speed = len(text.encode()) / 1e6 / seconds
                row.append(f"{seconds:.2f} s, {speed:.0f} MB/s, {own / seconds:.1f} times")
            print("|", Path(source).name, "|", kind, "|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
