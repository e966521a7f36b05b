"""What is measured of one tokenizer: its cuts, its ids, its speed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tokpar_conformance.fixed_texts import hostile_texts

from tests.benchmarks.texts import long_text, read_texts, standard_library
from tests.benchmarks.tokenizers_way import way_of
from tokpar import Encoder, load, strategies
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for

CUT_LETTERS = 30_000
"""Code points of each language that the cuts are counted on."""
LETTERS, PIECES = 1_000, 32
"""Ids are compared on so many code points of each English text and of so many pieces of Chinese and
of code."""
SPEED_LETTERS = 1_000_000
ROUNDS, LEAST_SECONDS = 3, 2.0
"""The two sides take turns so often, and so long, so that a busy minute favours neither."""
SHOWN = 3

SHORT: dict[str, list[dict[str, Any]]] = {
    "auto": [{"chunk_chars": 4}],
    "cut": [{"chunk_chars": 1}],
    "lopt": [{"chunk_chars": 16, "overlap_chars": 8}],
    "blocks": [{"chunk_chars": 16, "overlap_chars": 8}],
    "recursive": [{"depth": 4}],
}
"""Options for the hostile texts, which are short."""
LONG: dict[str, list[dict[str, Any]]] = {
    "auto": [{"chunk_chars": 512}],
    "cut": [{"chunk_chars": 64}],
    "lopt": [{"chunk_chars": 512, "overlap_chars": 64}],
    "blocks": [{"chunk_chars": 512, "overlap_chars": 64}],
    "recursive": [{"depth": 5}],
}

Ids = list[int]


@dataclass(frozen=True)
class Samples:
    """`cut`: one text of each language. `hostile`, `usual`: what ids are compared on."""

    cut: Mapping[str, str]
    hostile: Sequence[str]
    usual: Sequence[str]
    speed: str

    def counts(self) -> dict[str, Any]:
        return {
            "cuts": {language: len(text) for language, text in self.cut.items()},
            "hostile": len(self.hostile),
            "speed": len(self.speed.encode()),
        }


@dataclass(frozen=True)
class Loaded:
    """tokpar's tokenizer, the own call of another object of its file, and what loads one more."""

    adapter: Any
    own: Callable[[str], Ids]
    again: Callable[[], Any]


def samples(corpora: Path, whole: bool) -> Samples:
    """Of the files leval.jsonl (English), chinese.jsonl and the standard library's sources.
    `whole`: ids are compared on each text of the corpora, from its beginning to its end."""
    english = read_texts(corpora / "leval.jsonl")
    chinese = read_texts(corpora / "chinese.jsonl")
    code = standard_library()
    cut = {"English": long_text(english, CUT_LETTERS), "Chinese": "".join(chinese)[:CUT_LETTERS]}
    usual = [*english, *chinese] if whole else [text[:LETTERS] for text in english]
    usual += [*([] if whole else _pieces("".join(chinese))), *_pieces(code)]
    return Samples(
        {**cut, "code": code[:CUT_LETTERS]},
        hostile_texts(),
        usual,
        long_text(english, SPEED_LETTERS),
    )


def _pieces(text: str) -> list[str]:
    return [text[at * LETTERS : (at + 1) * LETTERS] for at in range(PIECES)]


def loaded(path: Path, settings: Mapping[str, Any]) -> Loaded:
    """Special tokens in a text are text to a .tiktoken file's encoding, here."""
    if path.suffix == ".json":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
        own_call = lambda text: list(tokenizer.encode(text).ids)  # noqa: E731
        return Loaded(load(path), own_call, partial(load, path))
    adapter = load(path, disallowed_special=(), **settings)
    encoding: Any = load(path, disallowed_special=(), **settings)
    own: Callable[[str], Ids] = encoding.encoding.encode_ordinary
    return Loaded(adapter, own, partial(load, path, disallowed_special=(), **settings))


def way(subject: Loaded, _: Samples) -> dict[str, Any]:
    """See `way_of`."""
    return dict(way_of(subject.adapter, subject.again))


# ------------------------------------------------------------------------------- cuts


def cuts(subject: Loaded, texts: Samples) -> dict[str, Any]:
    """By language: how many certified cuts of each rule, mean and greatest gap in code points, and
    why there is none."""
    return {language: _cuts(subject.adapter, text) for language, text in texts.cut.items()}


def _cuts(adapter: Any, text: str) -> dict[str, Any]:
    finder = finder_for(facts_of(adapter))
    places = finder.places(text).tolist()
    rules = Counter(seam.rule for p in places if (seam := finder.certify(text, p)) is not None)
    gaps = [right - left for left, right in pairwise([0, *places, len(text)])]
    found = {"rules": dict(sorted(rules.items())), "mean": round(sum(gaps) / len(gaps), 2)}
    why = finder.refusal_for(text) or "no place in the text is a certified cut"
    return found | {"greatest": max(gaps), "why": "" if places else why}


# ------------------------------------------------------------------------------- ids


def compared(subject: Loaded, texts: Samples) -> dict[str, Any]:
    """How many texts have the own call's ids in every lossless strategy, one by one and in a
    batch, and the first few that do not."""
    differ = [*differing(subject, texts.hostile, SHORT), *differing(subject, texts.usual, LONG)]
    names = [record.name for record in strategies() if record.lossless]
    return {
        "texts": len(texts.hostile) + len(texts.usual),
        "code points": sum(map(len, (*texts.hostile, *texts.usual))),
        "strategies": names,
        "differ": differ[:SHOWN],
    }


def differing(
    subject: Loaded, texts: Sequence[str], options: Mapping[str, list[dict[str, Any]]]
) -> Iterator[str]:
    expected = [subject.own(text) for text in texts]
    for record in strategies():
        if not record.lossless:
            continue
        for own in options.get(record.name, [{}]):
            with Encoder(subject.adapter, strategy=record.name, **own) as encoder:
                rows = encoder.encode_batch(list(texts))
                for k, text in enumerate(texts):
                    found = encoder.encode(text), rows[k]
                    if any(row.ids.tolist() != expected[k] for row in found):
                        yield f"{record.name} {own}: {text[:200]!r}"


# ------------------------------------------------------------------------------- speed


def speed(subject: Loaded, texts: Samples) -> dict[str, Any]:
    """Own seconds over tokpar's for one text, both warm, and the own call's MB/s: median, least,
    most of pairs."""
    text = texts.speed
    with Encoder(subject.adapter) as encoder:
        plan = encoder.encode(text).report.plan
        subject.own(text)
        pairs = list(_pairs(lambda: subject.own(text), lambda: encoder.encode(text)))
    size = len(text.encode()) / 1e6
    return {
        "ratio": [round(one, 2) for one in spread([own / ours for own, ours in pairs])],
        "own": [round(one, 2) for one in spread([size / own for own, _ in pairs])],
        "plan": plan,
    }


def timed(call: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, least, most."""
    return median(values), min(values), max(values)


def _pairs(own: Callable[[], object], ours: Callable[[], object]) -> Iterator[tuple[float, float]]:
    """Seconds of both, which of them comes first by turns."""
    started, done = time.perf_counter(), 0
    while done < ROUNDS or time.perf_counter() - started < LEAST_SECONDS:
        if done % 2:
            second, first = timed(ours), timed(own)
        else:
            first, second = timed(own), timed(ours)
        yield first, second
        done += 1
