"""Tokenizers by patterns of the user's own, drawn patterns, and texts of their atoms."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any

from tokpar_pure.adapter import PureTokenizer

from tests.conftest import below_one
from tokpar.formats.vocabulary import Vocabulary
from tokpar.patterns.shipped_patterns import CL100K
from tokpar.types import AddedToken

ATOMS = ("a", "A", "b", "1", "12", " ", "  ", "\n", "\t", "'s", ".", "中", "é", "e\u0301", "Σ", "ſ")
CLASSES = (
    "a",
    "b",
    "'",
    r"\p{L}",
    r"\p{Lu}",
    r"\p{N}",
    r"\s",
    r"\S",
    r"[^\s\p{L}\p{N}]",
    r"[\r\n]",
)
COUNTS = ("", "", "?", "*", "+", "{1,2}", "{2}", "{2,3}", "+?", "*?", "++", "*+")
IN_TWOS = CL100K.replace("{1,3}", "{1,2}")
GAPS = r"[A-Z]?[a-z]+(?!\s)|\p{N}{2}|\s+(?!\S)|\S\s"
LINES = r"\p{L}+\n|\p{L}{1,3}| ?\p{N}{3}|\s+?(?=\S)|[\s\S]"
PATTERNS = (IN_TWOS, GAPS, LINES, r"a(?:b*+aa)|b{1,2}+|aba*|[^a]a*|a+")
ADDED = ("<s>", "aA", " .")


@cache
def tokens() -> dict[bytes, int]:
    """All bytes, and all pairs of those of the atoms: a piece that ends elsewhere has other ids."""
    some = sorted({byte for atom in (*ATOMS, *ADDED) for byte in atom.encode()})
    pairs = [bytes(pair) for pair in product(some, repeat=2)]
    longer = [one + other for one, other in zip(pairs[::5], pairs[3::7], strict=False)]
    every = [*(bytes([byte]) for byte in range(256)), *pairs, *longer]
    return {token: rank for rank, token in enumerate(dict.fromkeys(every))}


def by_regex(patterns: tuple[str, ...], **_: Any) -> Any:
    added = tuple(AddedToken(content, 100_000 + k) for k, content in enumerate(ADDED))
    return PureTokenizer(Vocabulary("own", tokens(), "ranks", patterns, {}, True, True, added))


def by_hugging_face(
    patterns: tuple[str, ...], normalizer: Any = None, flags: Any = None, prefix: bool = False
) -> Any:
    tokenizers = below_one()
    from tokpar.formats.vocabulary import byte_alphabet

    letter = {byte: char for char, byte in byte_alphabet().items()}

    def spelled(token: bytes) -> str:
        return "".join(letter[byte] for byte in token)

    vocab = {spelled(token): id_ for token, id_ in tokens().items()}
    merges = [
        (spelled(t[: len(t) // 2]), spelled(t[len(t) // 2 :])) for t in tokens() if len(t) > 1
    ]
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=merges))
    pre = tokenizers.pre_tokenizers
    row = [pre.Split(tokenizers.Regex(pattern), "isolated") for pattern in patterns]
    made.pre_tokenizer = pre.Sequence(
        [*row, pre.ByteLevel(add_prefix_space=prefix, use_regex=False)]
    )
    if normalizer is not None:
        made.normalizer = normalizer
    contents = [tokenizers.AddedToken(text, normalized=False, **(flags or {})) for text in ADDED]
    made.add_special_tokens(contents)
    return made


def drawn_pattern(source: random.Random) -> str:
    """Rows of counted classes, most of them with a last resort."""

    def row() -> str:
        ends = ("", "", "", r"(?!\S)", r"(?=\s)", "$" if source.random() < 0.2 else "")
        items = source.choices(CLASSES, k=source.randint(1, 3))
        return "".join(item + source.choice(COUNTS) for item in items) + source.choice(ends)

    rows = [row() for _ in range(source.randint(1, 4))]
    return "|".join([*rows, *source.choice(([r"[\s\S]"], [r"\s+|\S"], []))])
