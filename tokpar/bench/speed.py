"""`auto` against each engine's own fastest call for one text: sizes, kinds of text, in one run.

    python -m tokpar.bench.speed --vocab DIR --texts FILE.jsonl [--chinese FILE.jsonl] [--json OUT]
        [--only NAMES] [--kinds 1M] [--sizes 1K,10K,100K,1M,8M,64M] [--rounds 5]

DIR holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; rows whose file or
engine plugin is missing are left out. tokpar and one of the own calls take turns, then the next
own call; figures are medians of the pairs' ratios, least and most in brackets. The ids of every
row are compared with the own calls'.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import tokpar
from tokpar.bench.provenance import provenance
from tokpar.bench.texts import long_text, read_texts, standard_library, text_hash
from tokpar.kernels import IdArray
from tokpar.types import Report

SIZES = {
    "1K": 1_000,
    "10K": 10_000,
    "100K": 100_000,
    "1M": 1_000_000,
    "8M": 8_000_000,
    "64M": 64_000_000,
}
LEAST_SECONDS = 0.3
"""A row repeats its calls until they took so long."""
MOST_SECONDS = 60.0
SLOW = {"Hugging Face": 8_000_000}
"""Largest text of engines that take a second for a megabyte."""
Call = Callable[[str], IdArray]


@dataclass(frozen=True)
class Subject:
    """An engine with a vocabulary: how to load it for tokpar, and its own calls by name; the first
    is the one that the engine's users make."""

    name: str
    engine: str
    load: Callable[[], Any]
    own: dict[str, Call]


@dataclass(frozen=True)
class Row:
    """Seconds of one subject on one text: medians, and ratios own / tokpar as median, least, most.

    `tokpar`: in the turns with each of the own calls. `first`: with an adapter that has seen no
    text. `later_ratio`: the second half of the text, with one that has seen the first half.
    `framework`: share outside the tokenizer."""

    subject: str
    text: str
    size: int
    rounds: int
    own: dict[str, float]
    tokpar: dict[str, float]
    first: float
    ratios: dict[str, tuple[float, float, float]]
    first_ratio: float
    later_ratio: float | None
    framework: float
    executor: str
    chunks: int
    seams: int


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--chinese", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names of subjects, or parts of them, by comma")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--kinds", metavar="SIZE", help="other kinds of text of this size, too")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    texts = dict(_texts(args))
    rows = []
    for subject in subjects(args.vocab, [name for name in args.only.split(",") if name]):
        adapter = subject.load()  # one for all texts, as the own calls have one object
        for label, text in texts.items():
            if len(text) <= SLOW.get(subject.engine, len(text)):
                rows.append(measured(subject, adapter, label, text, args.rounds))
                print(line(rows[-1]), flush=True)
    about = provenance([], [], sys.argv) | {
        "texts": {label: text_hash(text) for label, text in texts.items()}
    }
    print(json.dumps(about))
    if args.json:
        record = {"provenance": about, "rows": [asdict(row) for row in rows]}
        args.json.write_text(json.dumps(record, indent=1))
    return 0


def _texts(args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    english = read_texts(args.texts)
    for size in (*args.sizes.split(","), *([args.kinds] if args.kinds else [])):
        if size not in SIZES:
            raise SystemExit(f"a size is one of {', '.join(SIZES)}, got {size!r}")
    for size in args.sizes.split(","):
        yield f"English {size}", long_text(english, SIZES[size])
    if not args.kinds:
        return
    size, count = args.kinds, SIZES[args.kinds]
    if args.chinese:
        yield f"Chinese {size}", _chinese(args.chinese, count)
    yield f"Python {size}", standard_library()[:count]
    yield f"minified JSON {size}", minified(count)
    yield f"base64 {size}", base64.b64encode(random.Random(0).randbytes(count * 3 // 4)).decode()


def _chinese(path: Path, size: int) -> str:
    """The texts, then their lines in other orders."""
    lines = "\n".join(read_texts(path)).splitlines()
    whole, shuffle = "\n".join(lines), random.Random(0)
    while len(whole) < size:
        shuffle.shuffle(lines)
        whole += "\n".join(lines)
    return whole[:size]


def minified(size: int, seed: int = 0) -> str:
    """Records without white space, as services send them: names, numbers, words, flags."""
    draw = random.Random(seed)
    words = sorted(set(standard_library()[:400_000].split()) - {""})
    words = [word for word in words if word.isalpha()]
    records = []
    length = 0
    while length < size:
        record = {
            "id": draw.randrange(10**9),
            "name": draw.choice(words) + "_" + draw.choice(words),
            "score": round(draw.random() * 100, draw.randrange(6)),
            "tags": draw.sample(words, draw.randrange(5)),
            "ok": draw.random() < 0.5,
        }
        records.append(json.dumps(record, separators=(",", ":")))
        length += len(records[-1]) + 1
    return ("[" + ",".join(records) + "]")[:size]


def subjects(vocab: Path, only: Sequence[str]) -> Iterator[Subject]:
    """Those whose files and packages are there."""
    for make in (_huggingface, _tiktoken, _engines):
        for subject in make(vocab):
            if not only or any(name in f"{subject.name} {subject.engine}" for name in only):
                yield subject


def _huggingface(vocab: Path) -> Iterator[Subject]:
    from tokenizers import Tokenizer

    for name, file in (("DeepSeek-V3", "deepseek.json"), ("BERT", "bert.json")):
        if (vocab / file).is_file():
            own = Tokenizer.from_file(str(vocab / file))
            own.no_truncation()
            own.no_padding()

            def load(config: str = own.to_str()) -> Any:
                return tokpar.load(Tokenizer.from_str(config))

            def encode(text: str, own: Any = own) -> IdArray:
                return np.array(own.encode(text).ids, dtype=np.uint32)

            yield Subject(f"{name}, Hugging Face", "Hugging Face", load, {"encode": encode})


def _tiktoken(vocab: Path) -> Iterator[Subject]:
    for name in ("cl100k", "o200k"):
        path = vocab / f"{name}_base.tiktoken"
        if path.is_file():
            adapter: Any = tokpar.load(path)
            own = adapter.encoding

            def encode(text: str, own: Any = own) -> IdArray:
                return np.array(own.encode_ordinary(text), dtype=np.uint32)

            def to_numpy(text: str, own: Any = own) -> IdArray:
                ids: IdArray = own.encode_to_numpy(text, disallowed_special=())
                return ids

            calls: dict[str, Call] = {"encode_ordinary": encode, "encode_to_numpy": to_numpy}

            def load(path: Path = path) -> Any:
                return tokpar.load(path, disallowed_special=())

            yield Subject(f"{name}, tiktoken", "tiktoken", load, calls)


def _engines(vocab: Path) -> Iterator[Subject]:
    files = {"DeepSeek-V3": "deepseek.json", "BERT": "bert.json"}
    here = Path(tempfile.mkdtemp())
    engines = {"fastokens": _fastokens, "gigatoken": _gigatoken, "tokie": _tokie}
    for engine, own in engines.items():
        for name, file in files.items():
            try:
                whole = _without_cutting(vocab / file, here)
                calls = own(import_module(engine), str(whole))

                def load(path: Path = whole, engine: str = engine) -> Any:
                    return tokpar.load(path, engine=engine, trust=True, add_special_tokens=False)

                load()
            except Exception as error:
                print(f"{name}, {engine}: left out, {error}", file=sys.stderr)
                continue
            yield Subject(f"{name}, {engine}", engine, load, calls)


def _without_cutting(path: Path, directory: Path) -> Path:
    """A copy of a tokenizer.json that stores no truncation and no padding."""
    config = json.loads(path.read_text(encoding="utf-8")) | {"truncation": None, "padding": None}
    copy = directory / path.name
    copy.write_text(json.dumps(config), encoding="utf-8")
    return copy


def _fastokens(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json_str(Path(path).read_text(encoding="utf-8"))
    return {
        "encode_batch_flat": lambda t: np.frombuffer(own.encode_batch_flat([t])[0], np.uint32),
    }


def _gigatoken(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json(Path(path).read_text(encoding="utf-8"))
    return {
        "encode": own.encode,
        "encode_batch": lambda text: np.asarray(own.encode_batch([text])[0]),
    }


def _tokie(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json(path)
    own.no_truncation()
    own.no_padding()
    return {
        "encode": lambda t: np.array(own.encode(t, add_special_tokens=False).ids, np.uint32),
        "encode_batch_flat": lambda t: own.encode_batch_flat([t], add_special_tokens=False)[0],
    }


def measured(subject: Subject, adapter: Any, label: str, text: str, rounds: int) -> Row:
    """The row of one subject and text. SystemExit if ids differ: nothing else matters then."""
    firsts, later = _unseen(subject, text, rounds)
    own: dict[str, list[float]] = {}
    ours: dict[str, list[float]] = {}
    shares: list[float] = []
    with tokpar.Encoder(adapter) as encoder:
        seams = _seams_of_same(subject, label, text, encoder)
        for name, call in subject.own.items():
            own[name], ours[name] = [], []
            for theirs, mine, report in _in_turns(call, encoder.encode, text, rounds):
                own[name].append(theirs)
                ours[name].append(mine)
                shares.append(1 - report.seconds["tokenize"] / mine)
    ratios = {
        name: _spread([a / b for a, b in zip(own[name], ours[name], strict=True)]) for name in own
    }
    usual = statistics.median(next(iter(own.values())))
    return Row(
        subject.name,
        label,
        len(text),
        len(next(iter(own.values()))),
        {name: statistics.median(times) for name, times in own.items()},
        {name: statistics.median(times) for name, times in ours.items()},
        statistics.median(firsts),
        ratios,
        usual / statistics.median(firsts),
        None if not later else statistics.median(later),
        statistics.median(shares),
        report.executor,
        report.chunks,
        seams,
    )


def _seams_of_same(subject: Subject, label: str, text: str, encoder: tokpar.Encoder) -> int:
    """How many seams there are, if the ids are those of the own calls; else SystemExit."""
    encoding = encoder.encode(text)
    if not all(np.array_equal(call(text), encoding.ids) for call in subject.own.values()):
        raise SystemExit(f"{subject.name}, {label}: the ids differ from the own call's")
    return len(encoding.seams)


def _in_turns(
    own: Call, encode: Callable[[str], tokpar.Encoding], text: str, rounds: int
) -> Iterator[tuple[float, float, Report]]:
    """Seconds of both, and tokpar's report; no ids are kept, which would cost the next call new
    memory. Only two calls take turns, because an object that is called twice in a row, by two
    names, has its tables in the processor's cache, and the other has not."""

    def reported(text: str) -> Report:
        return encode(text).report

    started, done = time.perf_counter(), 0
    while not _enough(done, rounds, time.perf_counter() - started):
        if done % 2:
            ours, report = _timed(reported, text)
            theirs = _timed(own, text)[0]
        else:
            theirs = _timed(own, text)[0]
            ours, report = _timed(reported, text)
        yield theirs, ours, report
        done += 1


def _unseen(subject: Subject, text: str, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of an adapter that has seen no text, and, for engines that tokpar remembers words of,
    the own call's time over that of an adapter that has seen the first half, for the second; each
    time a new one. Once where loading takes longer than that could tell."""
    firsts, later = [], []
    half = len(text) // 2
    remembers = subject.engine == "Hugging Face"
    for _ in range(rounds if remembers else 1):
        with tokpar.Encoder(subject.load()) as fresh:
            firsts.append(_timed(fresh.encode, text)[0])
        if remembers:
            with tokpar.Encoder(subject.load()) as fresh:
                fresh.encode(text[:half])
                ours = _timed(fresh.encode, text[half:])[0]
            later.append(_timed(next(iter(subject.own.values())), text[half:])[0] / ours)
    return firsts, later


def _enough(done: int, rounds: int, seconds: float) -> bool:
    return seconds > MOST_SECONDS or (done >= rounds and seconds > LEAST_SECONDS)


def _timed(call: Callable[[str], Any], text: str) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call(text)
    return time.perf_counter() - start, result


def _spread(ratios: Sequence[float]) -> tuple[float, float, float]:
    return statistics.median(ratios), min(ratios), max(ratios)


def line(row: Row) -> str:
    """One row in words."""
    own = "  ".join(
        f"over {name} {middle:5.2f} ({least:.2f}-{most:.2f})"
        for name, (middle, least, most) in row.ratios.items()
    )
    fastest = min(row.own, key=lambda name: row.own[name])
    added = (row.tokpar[fastest] - row.own[fastest]) * 1e6
    speed = row.size / row.tokpar[fastest] / 1e6
    later = "" if row.later_ratio is None else f"  second half {row.later_ratio:.2f}"
    extra = f"  {added:+.0f} us" if row.size <= 100_000 else ""
    return (
        f"{row.subject:26} {row.text:16} {speed:8.1f} M/s  {own}{extra}  "
        f"first {row.first_ratio:.2f}{later}  framework {row.framework:.1%}  "
        f"{row.executor} {row.seams}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
