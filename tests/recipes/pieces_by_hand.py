"""Pre-tokens and ids by the kernel against the engine, as many as there is time for:

    python -m tests.recipes.pieces_by_hand FILE... [--pieces N] [--boundaries N] [--seed S]

For each `tokenizer.json`: every token, N pieces drawn from tokens, bytes and words, N boundaries of
pre-tokens in drawn texts. Prints how many were compared; ends with 1 at the first difference."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from tokenizers import Tokenizer
from tqdm import tqdm

import tokpar
from tests.support import texts as kit
from tests.support.kernel_edges import SEEDS, edges_by_kernel
from tests.support.merges_drawn import LETTERS
from tokpar import kernel_modules
from tokpar.cache.machine_tables import machine_for
from tokpar.cache.new_segments import Pieces

BATCH = 2000
ATOMS = (
    *(*kit.WORDS, *kit.SUFFIXES, *kit.SUFFIXES_ODD, *kit.DIGITS.values(), *kit.HANGUL, *kit.NEW),
    *(*kit.JAPANESE, *kit.CHINESE, *kit.EMOJI, *kit.COMBINING, *kit.SCRIPTS, *kit.ODD),
    *(*kit.WHITESPACE, *kit.ALMOST_WHITESPACE, *kit.PUNCTUATION, *" \n\t\r aAzZ019.'-/"),
)
_LATIN = dict(enumerate(LETTERS))


def engine_ids(model: Any, piece: bytes) -> list[int]:
    letters = piece.decode("latin-1").translate(_LATIN)
    return [token.id for token in model.tokenize(letters)]


def drawn_pieces(draw: random.Random, tokens: Sequence[bytes]) -> Iterator[bytes]:
    """Tokens side by side, tokens with a byte changed, a word again and again, bytes, text."""
    while True:
        kind = draw.randrange(32)
        if kind < 14:
            yield b"".join(draw.choices(tokens, k=draw.randrange(1, 6)))
        elif kind < 22:
            whole = bytearray(b"".join(draw.choices(tokens, k=draw.randrange(1, 4))))
            at = draw.randrange(len(whole))
            whole[at : at + draw.randrange(2)] = draw.randbytes(draw.randrange(2))
            yield bytes(whole) or b"x"
        elif kind < 26:
            yield "".join(draw.choices(ATOMS, k=draw.randrange(1, 12))).encode() or b"x"
        elif kind < 30:
            yield draw.randbytes(draw.randrange(1, 48))
        elif kind < 31:
            yield bytes(draw.choices(draw.randbytes(3), k=draw.randrange(1, 400)))
        else:
            word = draw.choice(tokens) + draw.choice(tokens)
            yield (word * 3000)[: draw.randrange(1, 1 + draw.choice([100, 3000]))]


def compare_pieces(
    pieces: Pieces, model: Any, drawn: Iterator[bytes], count: int, unit: str
) -> bytes | None:
    """A piece of which the engine has other ids, or None."""
    with tqdm(total=count, unit=unit, unit_scale=True) as bar:
        while bar.n < count:
            some = list(islice(drawn, min(BATCH, count - bar.n)))
            for piece, own in zip(some, pieces.whole_ids(some), strict=True):
                if own.tolist() != engine_ids(model, piece):
                    return piece
            bar.update(len(some))
    return None


def compare_boundaries(
    machine: Any, pre_tokenizer: Any, draw: random.Random, count: int
) -> str | None:
    """A text of which the engine has other pre-tokens, or None. Of atoms that have symbols; one
    text in 20 of others, too."""
    symbol_of, none = machine.symbol_of, machine.symbols
    known = [atom for atom in ATOMS if all(symbol_of[ord(char)] != none for char in atom)]
    with tqdm(total=count, unit="boundary", unit_scale=True) as bar:
        while bar.n < count:
            some = ["".join(draw.choices(known, k=draw.randrange(1, 120))) for _ in range(190)]
            some += ["".join(draw.choices(ATOMS, k=draw.randrange(1, 30))) for _ in range(10)]
            for text, own in zip(
                some, edges_by_kernel(kernel_modules.PRETOKENS, machine, some), strict=True
            ):
                if own is None:
                    if all(symbol_of[ord(char)] != none for char in text):
                        return text
                    continue
                found = pre_tokenizer.pre_tokenize_str(text)
                if own != [0, *(stop for _, (_, stop) in found)]:
                    return text
                bar.update(len(own) - 1)
    return None


def compare(path: str, pieces_: int, boundaries: int, seed: int) -> bool:
    """Whether the kernel has the engine's pre-tokens and ids; prints what was compared."""
    tokenizer = Tokenizer.from_file(path)
    adapter: Any = tokpar.load(tokenizer)
    machine, pieces = machine_for(adapter.facts), adapter.made_pieces(SEEDS)
    if pieces is None or isinstance(machine, str):
        print(
            f"{path}: outside of the gate: {machine if isinstance(machine, str) else 'its model'}"
        )
        return True
    tokens = pieces._merges.tokens
    every = tokens.bytes_of(range(len(tokens.ids)))
    draw = random.Random(seed)
    wrong = compare_pieces(pieces, tokenizer.model, iter(every), len(every), "token")
    if wrong is None:
        own = drawn_pieces(draw, every)
        wrong = compare_pieces(pieces, tokenizer.model, own, pieces_, "piece")
    if wrong is not None:
        print(f"{path}: the engine has other ids for the piece {wrong!r}")
        return False
    text = compare_boundaries(machine, tokenizer.pre_tokenizer, draw, boundaries)
    if text is not None:
        print(f"{path}: the engine has other pre-tokens in the text {text!r}")
        return False
    print(
        f"{path}: {len(every):,} tokens, {pieces_:,} pieces, {boundaries:,} boundaries: all equal"
    )
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--pieces", type=int, default=100_000)
    parser.add_argument("--boundaries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rest = given.pieces, given.boundaries, given.seed
    return max([int(not compare(path, *rest)) for path in given.files])


if __name__ == "__main__":
    sys.exit(main())
