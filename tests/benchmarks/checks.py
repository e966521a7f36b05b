"""Times each level of a check beside the tokenizer's own serial call, on one core.

    python -m tests.benchmarks.checks TOKENIZER ... --texts FILE.jsonl [--megabytes 8]

English is taken from the texts, code from the standard library of this Python. Every figure is the
least processor time of some calls; the first check of a tokenizer, which reads its file, is shown
apart."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.texts import long_text, read_texts, standard_library

LEVELS = ("ids", "model")


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

    size = arguments.megabytes * 10**6
    english = [text for path in arguments.texts for text in read_texts(path)]
    texts = {"english": long_text(english, size), "code": long_text([standard_library()], size)}
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
    refuse_without_kernel()
    main()
