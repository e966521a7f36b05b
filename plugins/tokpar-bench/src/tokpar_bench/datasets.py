"""Texts to measure on: files, read line by line so that a bad line can be named; or drawn from a
seed, the shapes of text that matter to a method, in no language's statistics."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import repeat
from pathlib import Path

from tokpar.cli.texts import OnBadRow, Source, byte_blocks, has_rows, read_sources
from tokpar.plugin import FileFormatError


@dataclass(frozen=True)
class Dataset:
    """Texts under one name; `origin` is the path, or how they were made. `bad_lines` names each
    line that was left out, "file:line: why"."""

    name: str
    texts: tuple[str, ...]
    origin: str
    bad_lines: tuple[str, ...] = ()
    is_joined: bool = False
    """Made of the texts of other datasets, by `joined_texts`."""

    @property
    def code_points(self) -> int:
        return sum(map(len, self.texts))


def read_dataset(path: Path, field: str | None = None, skip_bad_lines: bool = False) -> Dataset:
    """The texts of a .jsonl (one object per line, the text in `field`), or the one text of another
    file. Raises OSError; FileFormatError for the first bad line unless those are skipped, and where
    no text is left."""
    bad: list[str] = []
    keep = (lambda problem: bad.append(str(problem))) if skip_bad_lines else None
    try:
        sources = read_sources if has_rows(str(path)) else _one_text
        texts = tuple(source.text for source in sources(str(path), field, keep))
    except FileFormatError as error:
        raise FileFormatError(f"{error} (--skip-bad-lines leaves it out)") from error
    if not texts:
        raise FileFormatError(f"{path}: expected text, got none")
    return Dataset(path.name, texts, str(path), tuple(bad))


def joined_texts(dataset: Dataset, size: int, most: int) -> Dataset | None:
    """Returns long texts: those of the dataset one after the other, a newline between two, cut to
    `size` code points each, at most `most` texts; the rest is not used. None if the dataset has
    fewer than `size` code points, or if its texts are that long already."""
    if dataset.code_points >= size * len(dataset.texts):
        return None
    text = "\n".join(dataset.texts)
    texts = tuple(text[i * size : (i + 1) * size] for i in range(min(most, len(text) // size)))
    origin = f"{dataset.origin}, texts joined by a newline, cut every {size:,} code points"
    return Dataset(f"{dataset.name}, joined", texts, origin, is_joined=True) if texts else None


def every(dataset: Dataset, chars: int) -> Dataset:
    """Returns every n-th text, as few as `chars` code points need, named so; n = 1: all of it."""
    step = -(-dataset.code_points // chars)
    if step <= 1 or len(dataset.texts) <= step:
        return dataset
    return replace(dataset, name=f"{dataset.name}, 1 text of {step}", texts=dataset.texts[::step])


def _one_text(name: str, field: str | None, on_bad_line: OnBadRow | None) -> Iterator[Source]:
    """The text of a file without the lines that are not UTF-8, if `on_bad_line` takes those."""
    good: list[str] = []
    for number, line in enumerate(b"".join(byte_blocks(name)).splitlines(True), start=1):
        try:
            good.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            problem = FileFormatError(f"{name}:{number}: {error}")
            if on_bad_line is None:
                raise problem from error
            on_bad_line(problem)
    if good:
        yield Source(name, "".join(good))


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


def repetitions(draw: random.Random) -> Iterator[str]:
    """One short string over and over."""
    return repeat(draw.choice(["a", "=", " ", "ab", "the ", "\n", "哈", "-+"]))


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "english": english,
    "chinese": chinese,
    "code": code,
    "digits": digits,
    "repetitive": repetitions,
}


def synthetic(seed: int, texts: int, size: int) -> list[Dataset]:
    """A dataset of each kind: so many texts of `size` code points, the same for the same seed."""
    return [
        Dataset(
            kind,
            tuple(_fill(parts(random.Random(f"{seed} {kind} {i}")), size) for i in range(texts)),
            f"synthetic, seed {seed}",
        )
        for kind, parts in KINDS.items()
    ]


def _fill(parts: Iterator[str], size: int) -> str:
    text = ""
    while len(text) < size:
        text += next(parts)
    return text[:size]
