"""Texts to measure on: files, read line by line so that a bad line can be named; or drawn from a
seed, the shapes of text that matter to a method, in no language's statistics."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import repeat
from pathlib import Path

from tokpar.plugin import FileFormatError

ROWS = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Dataset:
    """Texts under one name; `origin` is the path, or how they were made. `skipped` names each bad
    line that was left out, "file:line: why"."""

    name: str
    texts: tuple[str, ...]
    origin: str
    skipped: tuple[str, ...] = ()

    @property
    def code_points(self) -> int:
        return sum(map(len, self.texts))


def read_dataset(path: Path, field: str = "text", skip_bad_lines: bool = False) -> Dataset:
    """The texts of a .jsonl (one object per line, the text in `field`), or the one text of another
    file. Raises OSError; FileFormatError for the first bad line unless those are skipped, and where
    no text is left."""
    rows = path.suffix in ROWS
    data = path.read_bytes()
    good: list[str] = []
    bad: list[str] = []
    for number, line in enumerate(data.split(b"\n") if rows else data.splitlines(True), start=1):
        if rows and not line.strip():
            continue
        try:
            good.append(_row(line, field) if rows else line.decode("utf-8"))
        except ValueError as error:
            problem = f"{path}:{number}: {error}"
            if not skip_bad_lines:
                raise FileFormatError(f"{problem} (--skip-bad-lines leaves it out)") from error
            bad.append(problem)
    texts = good if rows or not good else ["".join(good)]
    if not texts:
        raise FileFormatError(f"{path}: expected text, got none")
    return Dataset(path.name, tuple(texts), str(path), tuple(bad))


def _row(line: bytes, field: str) -> str:
    """Raises ValueError that says what was expected."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"expected a JSON object in UTF-8 ({error})") from error
    text = row.get(field) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"expected a JSON object with a str as {field!r}")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("expected text that has a UTF-8 form, got a lone surrogate")
    return text


def _words() -> list[str]:
    """Frequent words of English, the most frequent first; characters of Chinese; names of code."""
    return (files("tokpar_bench") / "words.txt").read_text(encoding="utf-8").split("\n\n")


def english(draw: random.Random) -> Iterator[str]:
    """Words, the frequent ones often, in sentences and paragraphs."""
    known = _words()[0].split()
    weights = [1 / rank for rank in range(1, len(known) + 1)]
    while True:
        words = draw.choices(known, weights, k=draw.randint(4, 22))
        if draw.random() < 0.15:
            words.append(str(draw.randint(1, 99_999)))
        comma = draw.randrange(len(words))
        words[comma] += draw.choice(["", "", ",", ",", ";"])
        end = draw.choice([". ", ". ", ". ", "? ", ".\n\n"])
        yield " ".join(words).capitalize() + end


def chinese(draw: random.Random) -> Iterator[str]:
    """Characters without spaces, sentences of full-width punctuation."""
    known = _words()[1]
    while True:
        parts = ("".join(draw.choices(known, k=draw.randint(4, 14))) for _ in range(3))
        yield "，".join(parts) + draw.choice(["。", "。", "！", "。\n"])


def code(draw: random.Random) -> Iterator[str]:
    """Indented lines, underscores, operators, numbers."""
    known = _words()[2].split()
    while True:
        name, other, third = draw.sample(known, 3)
        number = draw.randint(0, 4096)
        yield (
            f"def {name}_{number}({other}: int, {third}: list[str] | None = None) -> int:\n"
            f'    """Returns {other} of the {third}."""\n'
            f"    if {third} is None or len({third}) >= {number}:\n"
            f"        return {other} * 0x{number:04x} + {number % 7}\n"
            f"    {name} = [{third}[i][{number % 9}:] for i in range({other})]\n"
            f"    return sum(map(len, {name}))\n\n\n"
        )


def digits(draw: random.Random) -> Iterator[str]:
    """Numbers of up to 3,000 digits, a space or a newline between."""
    while True:
        yield "".join(draw.choices("0123456789", k=draw.randint(1, 3000))) + draw.choice(" \n")


def repeated(draw: random.Random) -> Iterator[str]:
    """One short string over and over."""
    return repeat(draw.choice(["a", "=", " ", "ab", "the ", "\n", "哈", "-+"]))


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "english": english,
    "chinese": chinese,
    "code": code,
    "digits": digits,
    "repetitive": repeated,
}


def synthetic(seed: int, texts: int, size: int) -> list[Dataset]:
    """A dataset of each kind: so many texts of `size` code points, the same for the same seed."""
    return [
        Dataset(
            kind,
            tuple(_filled(parts(random.Random(f"{seed} {kind} {i}")), size) for i in range(texts)),
            f"synthetic, seed {seed}",
        )
        for kind, parts in KINDS.items()
    ]


def _filled(parts: Iterator[str], size: int) -> str:
    text = ""
    while len(text) < size:
        text += next(parts)
    return text[:size]
