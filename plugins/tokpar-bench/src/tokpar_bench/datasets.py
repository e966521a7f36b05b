"""Texts to measure on: files, or texts drawn from a seed.

Files are read line by line, so that a bad line can be named. Drawn texts have the shapes that
matter to a method; they do not follow the statistics of a language."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import repeat
from pathlib import Path

from tokpar import FileFormatError
from tokpar.cli.text_files import OnBadRow, TextSource, byte_blocks, has_rows, read_sources


@dataclass(frozen=True)
class Dataset:
    """Texts under one name. `origin`: the path, or how the texts were made.

    `bad_lines`: each bad line that was left out, as "file:line: why"."""

    name: str
    texts: tuple[str, ...]
    origin: str
    bad_lines: tuple[str, ...] = ()
    is_joined: bool = False
    """True if `joined_texts` made it from the texts of another dataset."""

    @property
    def code_points(self) -> int:
        return sum(map(len, self.texts))


def read_dataset(path: Path, field: str | None = None, skip_bad_lines: bool = False) -> Dataset:
    """The texts of a .jsonl, one object per line with the text in `field`; or the one text of
    another file.

    Raises OSError. Raises FileFormatError for the first bad line, unless bad lines are skipped, and
    for a file without any text."""
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
    """At most `most` texts of `size` code points: the dataset's texts joined by newlines, then cut.
    The rest is not used.

    None if the dataset has fewer than `size` code points, or if its texts are that long already."""
    if dataset.code_points >= size * len(dataset.texts):
        return None
    text = "\n".join(dataset.texts)
    texts = tuple(text[i * size : (i + 1) * size] for i in range(min(most, len(text) // size)))
    origin = f"{dataset.origin}, texts joined by a newline, cut every {size:,} code points"
    return Dataset(f"{dataset.name}, joined", texts, origin, is_joined=True) if texts else None


def every(dataset: Dataset, chars: int) -> Dataset:
    """Every n-th text of the dataset, with n chosen so that about `chars` code points are left. The
    new name says n. The dataset itself if n is 1."""
    step = -(-dataset.code_points // chars)
    if step <= 1 or len(dataset.texts) <= step:
        return dataset
    return replace(dataset, name=f"{dataset.name}, 1 text of {step}", texts=dataset.texts[::step])


def _one_text(name: str, field: str | None, on_bad_line: OnBadRow | None) -> Iterator[TextSource]:
    """The text of a file. Lines that are not UTF-8 are given to `on_bad_line` and left out; without
    it, the first bad line raises FileFormatError."""
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
        yield TextSource(name, "".join(good))


def _words() -> list[str]:
    """Three word lists: frequent English words, the most frequent first; Chinese characters; names
    in code."""
    return (files("tokpar_bench") / "words.txt").read_text(encoding="utf-8").split("\n\n")


def english(draw: random.Random) -> Iterator[str]:
    """Sentences and paragraphs of English words. Frequent words are drawn more often."""
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
    """Chinese characters without spaces, in sentences with full-width punctuation."""
    known = _words()[1]
    while True:
        parts = ("".join(draw.choices(known, k=draw.randint(4, 14))) for _ in range(3))
        yield "，".join(parts) + draw.choice(["。", "。", "！", "。\n"])


def code(draw: random.Random) -> Iterator[str]:
    """Python functions: indented lines, underscores, operators, numbers."""
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
    """Numbers of up to 3,000 digits, with a space or a newline after each."""
    while True:
        yield "".join(draw.choices("0123456789", k=draw.randint(1, 3000))) + draw.choice(" \n")


def repetitions(draw: random.Random) -> Iterator[str]:
    """One short string, repeated without end."""
    return repeat(draw.choice(["a", "=", " ", "ab", "the ", "\n", "哈", "-+"]))


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "english": english,
    "chinese": chinese,
    "code": code,
    "digits": digits,
    "repetitive": repetitions,
}


def synthetic(seed: int, texts: int, size: int) -> list[Dataset]:
    """One dataset of each kind, with `texts` texts of `size` code points. The same seed gives the
    same texts."""
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
