"""Speed and memory of `auto` against each tokenizer's own serial call, in one run.

    python -m tests.benchmarks.foundation --vocab DIR --texts FILE.jsonl [--rounds 5] [--json OUT]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; those that are
missing are left out. Serial and parallel calls take turns; figures are medians and their ratio.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tokpar
from tests.benchmarks.machine import processor
from tests.benchmarks.texts import long_text, read_texts, text_hash
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.interfaces import TokenizerAdapter, own_call_of
from tokpar.limits import worker_count

SIZES = {"10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000, "8 MB": 8_000_000}
HF_FILES = {"DeepSeek-V3": "deepseek.json", "BERT": "bert.json"}
TIKTOKEN_FILES = {"cl100k": "cl100k_base.tiktoken", "o200k": "o200k_base.tiktoken"}
WARM_UP = 24_000_000  # code points that a reused encoder has seen before it is measured
Serial = Callable[[str], Sequence[int]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    texts = read_texts(args.texts)
    if args.peak:
        return _report_peak(args.vocab, texts, *args.peak)
    rows = [row for name in _present(args.vocab) for row in _measure(name, args, texts)]
    rows += [_segment_cache(name, args) for name in _present(args.vocab)]
    rows += [_overhead(name, args.vocab, texts[0][:100]) for name in _present(args.vocab)]
    print(_provenance(texts))
    if args.json:
        args.json.write_text(json.dumps({"provenance": _provenance(texts), "rows": rows}, indent=1))
    return 0


def _present(vocab: Path) -> list[str]:
    files = HF_FILES | TIKTOKEN_FILES
    return [name for name, file in files.items() if (vocab / file).is_file()]


def _tokenizer(name: str, vocab: Path) -> tuple[Any, Serial]:
    """The tokenizer object and its own serial call."""
    if name in HF_FILES:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(vocab / HF_FILES[name]))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer, lambda text: tokenizer.encode(text).ids
    adapter = tokpar.load(vocab / TIKTOKEN_FILES[name])
    assert isinstance(adapter, TiktokenTokenizer)
    return adapter.encoding, adapter.encoding.encode_ordinary


def _adapter(name: str, tokenizer: Any, vocab: Path) -> TokenizerAdapter:
    """The same tokenizer for tokpar: from its file, unless the file stores a truncation that the
    serial side switches off."""
    if name not in HF_FILES:
        return tokpar.load(tokenizer, disallowed_special=())
    from_file = tokpar.load(vocab / HF_FILES[name])
    own_call = own_call_of(from_file)
    assert own_call is not None
    stored = len(own_call("a " * 1000)) < 1000
    return tokpar.load(tokenizer) if stored else from_file


def _measure(name: str, args: argparse.Namespace, texts: list[str]) -> list[dict[str, Any]]:
    tokenizer, serial = _tokenizer(name, args.vocab)
    rows = []
    with tokpar.Encoder(_adapter(name, tokenizer, args.vocab)) as encoder:
        for label, size in SIZES.items():
            text = long_text(texts, size)
            rounds = args.rounds * max(1, min(20, 1_000_000 // size))
            row = _pair(encoder, serial, text, rounds)
            rows.append({"tokenizer": name, "size": label, **row})
            print(_line(name, label, row), flush=True)
    return rows


def _line(name: str, label: str, row: dict[str, Any]) -> str:
    times = f"serial {row['serial']:8.4f} s  tokpar {row['tokpar']:8.4f} s"
    ratio = f"ratio {row['ratio']:5.2f} ({row['least']:.2f}-{row['most']:.2f})"
    rest = f"framework {row['framework']:5.1%}  chunks {row['chunks']}"
    return f"{name:12} {label:>7}  {times}  {ratio}  {rest}"


def _pair(encoder: tokpar.Encoder, serial: Serial, text: str, rounds: int) -> dict[str, Any]:
    if list(encoder.encode(text)) != list(serial(text)):
        raise SystemExit("the ids differ from the serial ids: nothing else matters")
    for _ in range(max(3, WARM_UP // len(text))):  # threads have caches of their own to fill
        encoder.encode(text)
    ours, theirs, shares = [], [], []
    for _ in range(rounds):
        start = time.perf_counter()
        serial(text)
        middle = time.perf_counter()
        encoding = encoder.encode(text)
        ours.append(time.perf_counter() - middle)
        theirs.append(middle - start)
        shares.append(1 - encoding.report.seconds["tokenize"] / ours[-1])
    ratios = [a / b for a, b in zip(theirs, ours, strict=True)]
    return {
        "serial": statistics.median(theirs),
        "tokpar": statistics.median(ours),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "framework": statistics.median(shares),
        "chunks": encoding.report.chunks,
    }


def _segment_cache(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Growth of the peak resident set during one call at 8 MB, each in a process of its own."""
    peaks = {}
    for way in ("serial", "tokpar"):
        command = [sys.executable, "-m", "tests.benchmarks.foundation", "--vocab", str(args.vocab)]
        command += ["--texts", str(args.texts), "--peak", name, "8 MB", way]
        peaks[way] = float(subprocess.run(command, check=True, capture_output=True).stdout)
    print(
        f"{name:12}    8 MB  peak memory over the text's size: "
        f"serial {peaks['serial']:6.1f}  tokpar {peaks['tokpar']:6.1f}",
        flush=True,
    )
    return {"tokenizer": name, "peak_over_text": peaks}


def _report_peak(vocab: Path, texts: list[str], name: str, label: str, way: str) -> int:
    tokenizer, serial = _tokenizer(name, vocab)
    text = long_text(texts, SIZES[label])
    with tokpar.Encoder(_adapter(name, tokenizer, vocab)) as encoder:
        encoder.encode(text[:20_000])
        before = _reset_peak()
        kept = serial(text) if way == "serial" else encoder.encode(text).ids
        grown = _status("VmHWM") - before
    assert len(kept) > 0
    print(grown * 1024 / len(text.encode()))
    return 0


def _reset_peak() -> int:
    """Resident set now, in KiB, from which the kernel counts the peak anew (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def _overhead(name: str, vocab: Path, text: str) -> dict[str, Any]:
    """Microseconds that a reused Encoder adds to the base call on a short text."""
    tokenizer, serial = _tokenizer(name, vocab)
    with tokpar.Encoder(_adapter(name, tokenizer, vocab)) as encoder:
        base, ours = [], []
        for _ in range(200):
            base.append(_microseconds(serial, text))
            ours.append(_microseconds(encoder.encode, text))
    added = statistics.median(ours) - statistics.median(base)
    print(
        f"{name:12} {len(text)} characters: base {statistics.median(base):.1f} us, "
        f"tokpar {statistics.median(ours):.1f} us, added {added:.1f} us",
        flush=True,
    )
    return {"tokenizer": name, "added_us": added}


def _microseconds(call: Callable[[str], Any], text: str) -> float:
    start = time.perf_counter()
    for _ in range(20):
        call(text)
    return (time.perf_counter() - start) / 20 * 1e6


def _provenance(texts: list[str]) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "processor": processor(),
        "cores": worker_count(None),
        "tokpar": tokpar.__version__,
        **{name: version(name) for name in ("tokenizers", "tiktoken", "numpy")},
        "texts": {label: text_hash(long_text(texts, size)) for label, size in SIZES.items()},
    }


if __name__ == "__main__":
    raise SystemExit(main())
