"""Speed of incremental BPE and of eager output, against merging by heap and the native models.

    python -m tests.benchmarks.incremental --vocab DIR --texts FILE.jsonl [--rounds 3] [--largest N]

DIR holds deepseek.json and cl100k_base.tiktoken, o200k_base.tiktoken; those that are missing are
left out. Three kinds of rows, figures are microseconds per byte, the least of the rounds:

* one pre-token, the letters of the text, at 10 KB, 100 KB, ...: last tokens of all prefixes and the
  way back; the same bytes eagerly, in pieces of 16 bytes, with the tables of what may follow empty
  ("first") and filled ("again"); tokpar's heap; the native model, on a tokenizer without a regex;
* the text through the pipeline, memos empty: incremental, pure, native;
* a dictionary of all of a, aa, ... up to t letters, and a text of them: by halving the tree of the
  suffixes, by trying them from the longest down, by heap.

Seconds are those of the processor. Ids are compared, too. Loading is shown in seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tokpar
from tests.benchmarks.pure import native_call
from tests.benchmarks.texts import long_text, read_texts, text_hash
from tokpar.adapters.incremental import PrefixTokenizer
from tokpar.pure.eager import EagerBPE
from tokpar.pure.formats import read_ranks
from tokpar.pure.incremental_bpe import IncrementalBPE, Tables
from tokpar.pure.incremental_dictionary import Dictionary, Following, dictionary
from tokpar.pure.merging import ID_BITS, merge_ids
from tokpar.pure.tokenizer import exact_model
from tokpar.pure.vocabulary import byte_alphabet

FILES = ("deepseek.json", "cl100k_base.tiktoken", "o200k_base.tiktoken")
SIZES = (10_000, 100_000, 1_000_000)
PIECE = 16
Call = Callable[[], Sequence[int]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    args = parser.parse_args(argv)
    texts = read_texts(args.texts)
    for file in FILES:
        if (args.vocab / file).is_file():
            for line in _vocabulary_rows(args.vocab / file, texts, args.rounds, args.largest):
                print(line, flush=True)
    for bits in (6, 8, 10):
        print(_worst_row(bits, args.rounds), flush=True)
    return 0


def _vocabulary_rows(path: Path, texts: list[str], rounds: int, largest: int) -> Iterator[str]:
    start = time.process_time()
    adapter = tokpar.load(path, engine="incremental", **_settings(path))
    assert isinstance(adapter, PrefixTokenizer)
    yield f"{path.stem}: loaded in {time.process_time() - start:.1f} s"
    native = _native_model(path)
    heap = exact_model(adapter.vocabulary)
    for size in (size for size in SIZES if size <= largest):
        text = "".join(filter(str.isalpha, long_text(texts, 2 * size)))[:size]
        yield _letters_row(adapter._tables, text, native, heap.encode, rounds)
    yield _pipeline_row(path, long_text(texts, min(largest, SIZES[-1])), rounds)


def _letters_row(
    tables: Tables,
    text: str,
    native: Callable[[str], Sequence[int]],
    heap: Callable[[str], Sequence[int]],
    rounds: int,
) -> str:
    data = text.encode()
    tables.following = Following(tables.dictionary)
    first, ids = _least(lambda: _eagerly(tables, data), 1)
    figures = {"eager first": first}
    calls: dict[str, Call] = {
        "incremental": lambda: _incrementally(tables, data),
        "eager again": lambda: _eagerly(tables, data),
        "heap": lambda: heap(text),
        "native": lambda: native(text),
    }
    for name, call in calls.items():
        figures[name], found = _least(call, rounds)
        _require_equal(name, found, ids)
    shown = "  ".join(f"{name} {figures[name] / len(data) * 1e6:6.2f}" for name in sorted(figures))
    against = figures["native"] / figures["incremental"], figures["heap"] / figures["incremental"]
    return (
        f"  {len(data):>9,} bytes of letters  {shown}  "
        f"native/incremental {against[0]:.2f}  heap/incremental {against[1]:.2f}"
    )


def _pipeline_row(path: Path, text: str, rounds: int) -> str:
    size = len(text.encode())
    seconds: dict[str, float] = {}
    ids: list[int] = []
    for engine in ("native", "pure", "incremental"):
        times = []
        for _ in range(rounds):
            encode = _encoding(path, engine)
            start = time.process_time()
            found = encode(text)
            times.append(time.process_time() - start)
            ids = ids or list(found)
            _require_equal(engine, found, ids)
        seconds[engine] = min(times)
    shown = "  ".join(f"{name} {took / size * 1e6:.3f}" for name, took in seconds.items())
    ratio = seconds["native"] / seconds["incremental"]
    return (
        f"  {size:>9,} bytes of text ({text_hash(text)})  {shown}  native/incremental {ratio:.2f}"
    )


def _encoding(path: Path, engine: str) -> Callable[[str], Sequence[int]]:
    if engine == "native":
        return native_call(path)
    adapter = tokpar.load(path, engine=engine, **_settings(path))
    return lambda text: adapter.encode(text).tolist()


def _worst_row(bits: int, rounds: int) -> str:
    some = powers(bits)
    data = b"a" * (20 << bits)
    tables, trying = Tables(some), Tables(some, short=1 << bits)
    codes = {
        (some.ids[left], some.ids[right]): priority << ID_BITS | some.ids[token]
        for token, (left, right, priority) in enumerate(
            zip(some.left, some.right, some.priority, strict=True)
        )
        if priority >= 0
    }
    calls: dict[str, Call] = {
        "halving": lambda: _incrementally(tables, data),
        "trying": lambda: _incrementally(trying, data),
        "heap": lambda: merge_ids(list(data), codes),
    }
    ids = list(calls["halving"]())
    figures = []
    for name, call in calls.items():
        took, found = _least(call, rounds)
        _require_equal(name, found, ids)
        figures.append(f"{name} {took / len(data) * 1e6:7.2f}")
    return f"tokens of 1 to {1 << bits} letters, {len(data):,} bytes  {'  '.join(figures)}"


def powers(bits: int) -> Dictionary:
    """All of a, aa, ... up to t = 2**bits letters, proper: doubling comes first, so a text of n is
    n // t of the longest token and one for the rest. At each of its prefixes all tokens are
    suffixes, and those longer than the rest are wrong."""
    tokens = {bytes([byte]): byte for byte in range(256)}
    tokens |= {b"a" * size: 254 + size for size in range(2, (1 << bits) + 1)}
    sizes = sorted(range(2, (1 << bits) + 1), key=lambda size: (size & (size - 1) > 0, size))
    rules = []
    for priority, size in enumerate(sizes):
        left = 1 << (size - 1).bit_length() - 1
        rules.append((tokens[b"a" * left], tokens[b"a" * (size - left)], priority))
    return dictionary(f"a to a^{1 << bits}", tokens, rules)


def _incrementally(tables: Tables, data: bytes) -> list[int]:
    bpe = IncrementalBPE(tables)
    bpe.append(data)
    return bpe.tokens()


def _eagerly(tables: Tables, data: bytes) -> list[int]:
    eager, ids = EagerBPE(tables), []
    for start in range(0, len(data), PIECE):
        ids += eager.feed(data[start : start + PIECE])
    return ids + eager.finish()


def _native_model(path: Path) -> Callable[[str], Sequence[int]]:
    """The engine without a regex: the whole text is one pre-token."""
    if path.suffix == ".tiktoken":
        import tiktoken

        encoding = tiktoken.Encoding(
            path.stem, pat_str=r"[\s\S]+", mergeable_ranks=read_ranks(path), special_tokens={}
        )
        return encoding.encode_ordinary  # type: ignore[no-any-return]
    from tokenizers import Tokenizer

    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    tokenizer = Tokenizer.from_str(json.dumps({"version": "1.0", "model": model}))
    shown = {byte: char for char, byte in byte_alphabet().items()}

    def encode(text: str) -> list[int]:
        spelt = text.encode("utf-8").decode("latin-1").translate(shown)
        ids: list[int] = tokenizer.encode(spelt, add_special_tokens=False).ids
        return ids

    return encode


def _settings(path: Path) -> dict[str, Any]:
    return {} if path.suffix == ".json" else {"name": path.stem}


def _least(call: Call, rounds: int) -> tuple[float, list[int]]:
    times, ids = [], []
    for _ in range(rounds):
        start = time.process_time()
        ids = list(call())
        times.append(time.process_time() - start)
    return min(times), ids


def _require_equal(name: str, ids: Sequence[int], expected: Sequence[int]) -> None:
    if list(ids) != list(expected):
        raise SystemExit(f"{name}: the ids differ: nothing else matters")


if __name__ == "__main__":
    raise SystemExit(main())
