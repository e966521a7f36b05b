"""The rows of `tests.benchmarks.kinds`: all engines take turns, and all ids are compared."""

from __future__ import annotations

import base64
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import tokpar
from tests.benchmarks.kinds_texts import Text
from tests.benchmarks.parity import DifferError, same_ids, special_ids
from tests.benchmarks.speed_engines import PEERS, Many, Own, Subject, huggingface_subject
from tests.benchmarks.turns import timed
from tokpar.arrays import IdArray
from tokpar.foreign_errors import INTERRUPTS

OWN, OURS = "own", "tokpar"
FIRST, HALF, SEEN = "first", "second half", "seen"
PASSES = 3
"""Calls after which a text counts as known, and passes of which the median is taken."""
Peers = Mapping[str, Callable[[], Own]]
Step = Callable[[], object]
"""Called after each turn, for the progress bar."""


@dataclass
class Row:
    """One tokenizer on one text. `values`: of each engine and state one value for each turn, in
    MB/s, or for mixed traffic and loading as their functions say. `different`: engines whose ids
    are not those of the own call. `left_out`: why an engine has no values."""

    subject: str
    text: str
    own_call: str = ""
    bytes: int = 0
    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    different: set[str] = field(default_factory=set)
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, engine: str, state: str, value: float) -> None:
        self.values.setdefault((engine, state), []).append(value)

    def ratios(self, ours: str, other: tuple[str, str]) -> list[float]:
        """tokpar's rate over the other one's, turn by turn; empty if one of them is missing."""
        pairs = zip(self.values.get((OURS, ours), ()), self.values.get(other, ()), strict=False)
        return [mine / its for mine, its in pairs]

    def leave_out(self, engine: str, why: str) -> None:
        self.left_out[engine] = why
        for key in [key for key in self.values if key[0] == engine]:
            del self.values[key]


@dataclass(frozen=True)
class RuleChecker:
    """Compares ids with those of the own call."""

    row: Row
    special: IdArray

    def compare(self, engine: str, expected: Sequence[IdArray], rows: Sequence[IdArray]) -> None:
        """Marks another engine whose ids differ. Raises DifferError if tokpar's do."""
        if same_ids(expected, rows, self.special if engine in PEERS else None):
            return
        if engine not in PEERS:
            row = self.row
            raise DifferError(
                f"{row.subject}, {row.text}: the ids of {engine} differ from those "
                f"of the own serial call {row.own_call}"
            )
        self.row.different.add(engine)


def subject_of(file: Path, directory: Path) -> Subject:
    """The tokenizer of a tokenizer.json or a .tiktoken file, special tokens allowed. `directory`:
    for a copy of the file, as long as the subject is used. Raises what its library raises."""
    name = file.parent.name if file.stem == "tokenizer" else file.stem
    if file.suffix == ".tiktoken":
        return _tiktoken_subject(name, file)
    return huggingface_subject(name, file, directory)


def _tiktoken_subject(name: str, file: Path) -> Subject:
    import tiktoken

    known: Any = tokpar.load(file)
    pattern, special = known.encoding._pat_str, known.encoding._special_tokens

    def own() -> Own:
        rows = (line.split() for line in file.read_bytes().splitlines() if line)
        ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
        encoding = tiktoken.Encoding(
            name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
        )
        call = partial(encoding.encode_to_numpy, allowed_special="all")
        many = Many(lambda texts: [call(text) for text in texts])
        return Own({"encode_to_numpy": call}, {"encode_to_numpy": many})

    def load(**settings: Any) -> Any:
        return tokpar.load(file, allowed_special="all", **settings)

    return Subject(f"{name}, tiktoken", "tiktoken", load, own, file)


def ours(subject: Subject, is_batch: bool) -> Many:
    """The call of a new Encoder with a new tokenizer. RuntimeError if the cache is not empty: two
    tokenizers of one fingerprint share a cache as long as both live."""
    encoder = tokpar.Encoder(subject.load())
    counters = {**getattr(encoder.tokenizer, "counters", {})}
    if any(counters.values()):
        raise RuntimeError(f"{subject.name}: the cache of a new object has seen text: {counters}")
    encoder.prepare()  # loading is not timed
    if is_batch:
        return Many(encoder.encode_batch, lambda batch: [row.ids for row in batch])
    return Many(
        lambda texts: [encoder.encode(text) for text in texts],
        lambda encodings: [encoding.ids for encoding in encodings],
    )


def calls_of(new: Callable[[], Own], name: str, is_batch: bool) -> Many:
    """The call `name` of a new object, once for all texts or once for each."""
    own = new()
    if is_batch:
        return own.many[name]
    call = own.one[name]
    return Many(lambda texts: [call(text) for text in texts])


def new_calls(subject: Subject, peers: Peers, text: Text) -> dict[str, Callable[[], Many]]:
    """By engine: makes a new object and returns its fastest call for such texts."""
    found: dict[str, Callable[[], Many]] = {OURS: partial(ours, subject, text.is_batch)}
    for engine, own in peers.items():
        is_short = len(text.texts) > 1 and not text.is_batch
        name = "encode" if engine == "gigatoken" and is_short else PEERS[engine]
        found[engine] = partial(calls_of, own, name, text.is_batch)
    return found


def own_call(subject: Subject, text: Text) -> tuple[str, Many]:
    """The fastest call of the tokenizer's own library, and its name: the last that is listed."""
    own = subject.own()
    name = list(own.many if text.is_batch else own.one)[-1]
    return name, calls_of(lambda: own, name, text.is_batch)


def measured(subject: Subject, peers: Peers, text: Text, turns: int, step: Step) -> Row:
    """MB/s of one text. The own object is kept; every other engine has a new object in each turn.
    Raises DifferError."""
    _check_certificate(subject, text)
    name, own = own_call(subject, text)
    row = Row(subject.name, text.name, name, text.bytes)
    judge = RuleChecker(row, special_ids(subject))
    expected = [ids.copy() for ids in own.rows(own.call(text.texts))]
    learnt, half = text.halves()
    expected_half = [ids.copy() for ids in own.rows(own.call(half.texts))]

    def run(engine: str, many: Many, part: Text = text) -> float:
        seconds, result = timed(partial(many.call, part.texts))
        judge.compare(engine, expected_half if part is half else expected, many.rows(result))
        return part.bytes / seconds / 1e6

    def own_turn() -> None:
        row.add(OWN, SEEN, run(OWN, own))

    def turn(engine: str, new: Callable[[], Many]) -> None:
        many = _made(new)
        row.add(engine, FIRST, run(engine, many))
        run(engine, many)
        row.add(engine, SEEN, mean(run(engine, many) for _ in range(2)))

    def half_turn() -> None:
        many = _made(partial(ours, subject, text.is_batch))
        many.call(learnt.texts)
        row.add(OURS, HALF, run(OURS, many, half))

    sides: list[tuple[str, Callable[[], None]]] = [(OWN, own_turn)]
    for engine, new in new_calls(subject, peers, text).items():
        sides.append((engine, partial(turn, engine, new)))
    sides.append((OURS, half_turn))
    _take_turns(row, sides, turns, step)
    return row


def mixed(
    subject: Subject, peers: Peers, pairs: Sequence[tuple[str, str]], turns: int, step: Step
) -> Row:
    """Ratio of times: known English documents with a new Chinese one after each, over the same
    English documents one after the other. Raises DifferError."""
    text = Text("mixed traffic", [each for pair in pairs for each in pair])
    name, own = own_call(subject, text)
    row = Row(
        subject.name, f"{len(pairs)} English and {len(pairs)} Chinese documents", name, text.bytes
    )
    judge = RuleChecker(row, special_ids(subject))
    expected = [[ids.copy() for ids in own.rows(own.call([each]))] for each in text.texts]

    def english_seconds(engine: str, many: Many, with_chinese: bool) -> float:
        total = 0.0
        for k in range(0, len(text.texts), 1 if with_chinese else 2):
            seconds, result = timed(partial(many.call, [text.texts[k]]))
            judge.compare(engine, expected[k], many.rows(result))
            total += seconds if k % 2 == 0 else 0
        return total

    def turn(engine: str, new: Callable[[], Many]) -> None:
        many = _made(new)
        for _ in range(PASSES):
            english_seconds(engine, many, False)
        known = median(english_seconds(engine, many, False) for _ in range(PASSES))
        row.add(engine, SEEN, english_seconds(engine, many, True) / known)

    calls = {OWN: lambda: own, **new_calls(subject, peers, text)}
    sides = [(engine, partial(turn, engine, new)) for engine, new in calls.items()]
    _take_turns(row, sides, turns, step)
    return row


def _made(new: Callable[[], Many]) -> Many:
    gc.collect()  # the last object's memory
    return new()


def _take_turns(
    row: Row, sides: Sequence[tuple[str, Callable[[], None]]], turns: int, step: Step
) -> None:
    """Every second turn in reverse. An engine that fails on the text has no values in the row."""
    for number in range(turns):
        for engine, side in reversed(sides) if number % 2 else sides:
            if engine in row.left_out:
                continue
            try:
                side()
            except BaseException as error:  # a panic is no Exception
                if isinstance(error, INTERRUPTS) or engine not in PEERS:
                    raise
                row.leave_out(engine, " ".join(f"{type(error).__name__}: {error}".split())[:80])
        step()


def _check_certificate(subject: Subject, text: Text) -> None:
    """Raises DifferError if a certificate of the text does not hold."""
    encoder = tokpar.Encoder(subject.load())
    many = encoder.encode_batch if text.is_batch else partial(map, encoder.encode)
    encodings: Iterator[Any] = iter(many(text.texts))
    for encoding, each in zip(encodings, text.texts, strict=True):
        report = tokpar.check(encoding, each, encoder.tokenizer)
        if not report.ok:
            raise DifferError(f"{subject.name}, {text.name}: {report}")
