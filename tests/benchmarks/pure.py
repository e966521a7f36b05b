"""Speed of the tokenizers in Python against the native engines' serial calls, in one run.

    python -m tests.benchmarks.pure --vocab DIR --texts FILE.jsonl [--size 1000000] [--rounds 5]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; those that are
missing are left out. Both sides take turns, each on a tokenizer that has seen no text yet, loading
not counted; figures are the least of the rounds (seconds) and their ratio. Ids are compared too.
Two processes, or threads, have been started, and have seen eight words, when they are measured.
Threads do not help: `regex` releases the GIL by itself, but match by match, and the rest holds it.
The run is one pre-token of the letter "a"; its size doubles.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tokpar
from tests.benchmarks.texts import long_text, read_texts, text_hash
from tokpar.errors import TokparError
from tokpar.pure.bpe import RankBPE
from tokpar.pure.formats import read_ranks
from tokpar.pure.model import EncodesAll, read_model

FILES = {
    "DeepSeek-V3": "deepseek.json",
    "BERT": "bert.json",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
}
RUN = 1_000_000
Encode = Callable[[str], Sequence[int]]
Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--run", type=int, default=RUN)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    text = long_text(read_texts(args.texts), args.size)
    about = _provenance(text)
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    rows = []
    for row in _rows(args, text):
        rows.append(row)
        print(row["line"], flush=True)
    if args.json:
        args.json.write_text(json.dumps({"provenance": about, "rows": rows}, indent=1))
    return 0


def _rows(args: argparse.Namespace, text: str) -> Iterator[Row]:
    for name, file in FILES.items():
        path = args.vocab / file
        if not path.is_file():
            continue
        try:
            yield _text_row(name, path, text, args.rounds)
        except TokparError as error:
            yield {"tokenizer": name, "line": f"{name:12} not read: {error}"}
        if name == "DeepSeek-V3":
            for executor in ("threads", "processes"):
                yield _parallel_row(name, path, text, args.rounds, executor)
        if name in ("DeepSeek-V3", "cl100k"):
            yield _run_row(name, path, args.run, args.rounds)


def _text_row(name: str, path: Path, text: str, rounds: int) -> Row:
    ours, theirs, warm = [], [], []
    for _ in range(rounds):
        native, pure = native_call(path), _pure_call(path)
        seconds, expected = _timed(native, text)
        theirs.append(seconds)
        seconds, ids = _timed(pure, text)
        ours.append(seconds)
        _require_equal(name, ids, expected)
        warm.append(_timed(pure, text)[0])
    ratio = min(theirs) / min(ours)
    return {
        "tokenizer": name,
        "native": min(theirs),
        "pure": min(ours),
        "warm": min(warm),
        "ratio": ratio,
        "line": f"{name:12} {len(text):>9,} characters  native {min(theirs):7.3f} s  "
        f"pure {min(ours):7.3f} s  ratio {ratio:5.2f}  memo filled {min(theirs) / min(warm):5.2f}",
    }


def _parallel_row(name: str, path: Path, text: str, rounds: int, executor: str) -> Row:
    """Two workers, warmed up."""
    ours, theirs = [], []
    for _ in range(rounds):
        native = native_call(path)
        adapter = tokpar.load(path, engine="pure")
        with tokpar.Encoder(adapter, executor=executor, workers=2) as encoder:
            encoder.encode("one two three four five six seven eight " * 10_000)
            seconds, expected = _timed(native, text)
            theirs.append(seconds)
            seconds, ids = _timed(lambda given: encoder.encode(given).ids.tolist(), text)
            ours.append(seconds)
        _require_equal(name, ids, expected)
    ratio = min(theirs) / min(ours)
    return {
        "tokenizer": name,
        "native": min(theirs),
        executor: min(ours),
        "ratio": ratio,
        "line": f"{name:12} {len(text):>9,} characters  native {min(theirs):7.3f} s  "
        f"two {executor} {min(ours):.3f} s  ratio {ratio:5.2f}",
    }


def _run_row(name: str, path: Path, size: int, rounds: int) -> Row:
    """One pre-token of `size` letters, and of half as many."""
    half, whole = [], []
    for _ in range(min(rounds, 3)):
        model = _model(path)
        half.append(_timed(model.encode, "a" * (size // 2))[0])
        whole.append(_timed(model.encode, "a" * size)[0])
    ratio = min(whole) / min(half)
    return {
        "tokenizer": name,
        "half": min(half),
        "whole": min(whole),
        "doubling": ratio,
        "line": f'{name:12} {size:>9,} times "a"  {min(half):.2f} s for half, {min(whole):.2f} s '
        f"for all, ratio {ratio:.2f}",
    }


def native_call(path: Path) -> Encode:
    """The native engine's own serial call, on a fresh tokenizer without stored truncation."""
    if path.suffix == ".json":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    import tiktoken

    from tokpar.pure.openai import KNOWN_ENCODINGS

    encoding = tiktoken.Encoding(
        path.stem,
        pat_str=KNOWN_ENCODINGS[path.stem].pattern,
        mergeable_ranks=read_ranks(path),
        special_tokens={},
    )
    return encoding.encode_ordinary  # type: ignore[no-any-return]


def _require_equal(name: str, ids: Sequence[int], expected: Sequence[int]) -> None:
    if list(ids) != list(expected):
        raise SystemExit(f"{name}: the ids differ from the serial ids: nothing else matters")


def _pure_call(path: Path) -> Encode:
    adapter = tokpar.load(path, engine="pure")
    return lambda text: adapter.encode(text).tolist()


def _model(path: Path) -> EncodesAll:
    if path.suffix == ".tiktoken":
        return RankBPE(read_ranks(path))
    return read_model(json.loads(path.read_text(encoding="utf-8"))["model"], byte_level=True)


def _timed(call: Encode, text: str) -> tuple[float, Sequence[int]]:
    start = time.perf_counter()
    ids = call(text)
    return time.perf_counter() - start, ids


def _provenance(text: str) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "tokpar": tokpar.__version__,
        **{name: version(name) for name in ("tokenizers", "tiktoken", "regex")},
        "text": f"{len(text):,} characters, {len(text.encode()):,} bytes, {text_hash(text)}",
    }


if __name__ == "__main__":
    raise SystemExit(main())
