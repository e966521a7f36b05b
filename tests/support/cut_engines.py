"""The engines behind the frozen cut tables, and random words of their classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import regex
import tiktoken
from tokenizers import Regex, pre_tokenizers

from tests.recipes.atoms import stored_atoms

ATOMS = stored_atoms()


def pieces(patterns: tuple[str, ...], text: str) -> list[int]:
    """Ends of the pieces by the module `regex`, gaps being pieces as in HF's Isolated."""
    ends = [0, len(text)]
    for pattern in map(regex.compile, patterns):
        finer = set(ends)
        for low, high in pairwise(ends):
            for match in pattern.finditer(text[low:high]):
                finer |= {low + match.start(), low + match.end()}
        ends = sorted(finer)
    return ends[1:]


def random_words(count: int, size: int, rng: random.Random) -> list[tuple[list[str], str]]:
    """Words of atoms, and a text of random frozen characters for each."""
    words = []
    often = [a for a in ATOMS if len(a.ranges) < 3 and a.name != "low_block"]
    for _ in range(count):
        pool = rng.choice((ATOMS, often, rng.sample(ATOMS, 4)))
        word = rng.choices(pool, k=rng.randint(1, size))
        text = "".join(chr(rng.randint(*rng.choice(atom.ranges))) for atom in word)
        words.append(([atom.name for atom in word], text))
    return words


def oniguruma(patterns: tuple[str, ...], texts: list[str]) -> Iterator[list[int]]:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    sequence = pre_tokenizers.Sequence(splits)
    for text in texts:
        yield [stop for _, (_, stop) in sequence.pre_tokenize_str(text)]


def fancy(patterns: tuple[str, ...], texts: list[str]) -> Iterator[list[int]]:
    """Every substring is a token, so that tiktoken's tokens are its pieces."""
    parts = {t[i:j] for t in texts for i in range(len(t)) for j in range(i + 1, len(t) + 1)}
    tokens = [bytes([i]) for i in range(256)]
    tokens += sorted({part.encode() for part in parts} - set(tokens))
    ranks = {token: rank for rank, token in enumerate(tokens)}
    encoding = tiktoken.Encoding(
        "pieces", pat_str=patterns[0], mergeable_ranks=ranks, special_tokens={}
    )
    for text in texts:
        ends = [0]
        for token in encoding.encode_ordinary(text):
            ends.append(ends[-1] + len(tokens[token].decode()))
        yield ends[1:]


def python_regex(patterns: tuple[str, ...], texts: list[str]) -> Iterator[list[int]]:
    yield from (pieces(patterns, text) for text in texts)


ENGINES: dict[str, Callable[[tuple[str, ...], list[str]], Iterator[list[int]]]] = {
    "oniguruma": oniguruma,
    "fancy-regex": fancy,
    "regex": python_regex,
}
