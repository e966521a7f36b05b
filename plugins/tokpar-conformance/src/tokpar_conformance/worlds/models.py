"""Models of a `tokenizer.json` with odd vocabularies."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tokpar.formats.vocabulary import letters_of

Config = dict[str, Any]
Drawn = tuple[Config, bool, list[str], list[str]]
"""The model, True if it works on bytes, strings to make texts of, names of what is odd about it."""
MARK = "\u2581"
ATOMS = [*"aabbcABC 12.,'\n\té中😀\u0301\u00a0\u3000ﬁß한<>-\u200d"]
ATOMS += ["\r\n", "  ", " a", " the", MARK]
LONGEST = 100_000
POWERS = (8, 15, 16, 20, 21, 22, 24, 27, 28, 30)


def draw_model(draw: random.Random, largest: int) -> Drawn:
    kinds: list[Callable[[random.Random, int], Drawn]] = [
        *[draw_byte_bpe] * 5,
        *[draw_character_bpe] * 2,
        *[draw_wordpiece, draw_unigram, draw_word_level],
    ]
    return draw.choice(kinds)(draw, largest)


def draw_size(draw: random.Random, largest: int) -> int:
    """Mostly small, now and then up to `largest`."""
    return draw.choice((300, 300, 500, 1000, largest))


def draw_ids(draw: random.Random, tokens: Sequence[str], atoms: int) -> tuple[dict[str, int], str]:
    """Returns an id for each token, and how they were drawn. The first `atoms` tokens are those
    that merges begin with."""
    kind = draw.choice(("dense", "dense", "gaps", "any order", "atoms last", "powers", "far"))
    ids = [*range(len(tokens))]
    if kind == "gaps":
        gaps = {draw.randrange(len(tokens)): draw.choice((1, 3, 1000)) for _ in range(4)}
        for at, gap in gaps.items():
            ids = [id_ + gap * (id_ >= at) for id_ in ids]
    elif kind == "any order":
        ids = draw.sample(range(2 * len(tokens)), len(tokens))
    elif kind == "atoms last":
        ids = [*range(len(tokens) - atoms, len(tokens)), *range(len(tokens) - atoms)]
    elif kind == "powers":
        power = 1 << draw.choice(POWERS)
        ids = [power - len(tokens) // 2 + id_ for id_ in ids]
        ids = [*range(len(tokens))] if min(ids) < 0 else ids
    elif kind == "far":
        taken = {*ids}
        for at in draw.sample(ids, min(9, len(ids))):
            wide = (1 << draw.choice(POWERS)) + draw.choice((-1, 0, 1))
            if wide not in taken:
                taken.add(wide)
                ids[at] = wide
    return dict(zip(tokens, ids, strict=True)), f"ids: {kind}"


def draw_merges(
    draw: random.Random, atoms: Sequence[str], count: int
) -> tuple[list[list[str]], list[str]]:
    """Returns merges and the tokens that they make. Now and then some make very long tokens."""
    parts, merges, seen = [*atoms], list[list[str]](), set[tuple[str, str]]()
    longest = draw.choice((2, 6, 24, 24))
    for _ in range(4 * count):
        pair = draw.choice(parts), draw.choice(parts)
        if len(merges) < count and len("".join(pair)) <= longest and pair not in seen:
            seen.add(pair)
            merges.append([*pair])
            parts.append("".join(pair))
    if draw.random() < 0.15:
        token, most = draw.choice(atoms), draw.choice((200, 5000, LONGEST))
        while 2 * len(token) <= most:
            if (token, token) not in seen:
                merges.append([token, token])
            token += token
    if draw.random() < 0.2:
        draw.shuffle(merges)
    return merges, [*dict.fromkeys(map("".join, merges))]


def with_filling(draw: random.Random, tokens: list[str], size: int, letters: str) -> list[str]:
    """Tokens that no merge makes, up to so many in all."""
    known = {*tokens}
    while len(known) < size:
        known.add("".join(draw.choices(letters, k=draw.choice((2, 3, 5, 9)))))
    return [*tokens, *(known - {*tokens})]


def long_parts(tokens: Sequence[str], text_of: Callable[[str], str]) -> list[str]:
    return [text_of(token) for token in sorted(tokens, key=len)[-3:]]


def draw_byte_bpe(draw: random.Random, largest: int) -> Drawn:
    letters = {letters_of(bytes([byte])): byte for byte in range(256)}
    some = [letters_of(bytes([byte])) for atom in ATOMS for byte in atom.encode()]
    size = draw_size(draw, largest)
    merges, made = draw_merges(draw, some, min(size, 1000) // draw.choice((4, 16)))
    atoms = [*letters]
    if draw.random() < 0.15:
        needed = {part for merge in merges for part in merge}
        atoms = [atom for atom in atoms if atom in needed or draw.random() < 0.8]
    tokens = [*dict.fromkeys((*atoms, *made))]
    tokens = with_filling(draw, tokens, size, "".join(some)) if draw.random() < 0.5 else tokens
    vocabulary, odd = draw_ids(draw, tokens, len(atoms))
    model: Config = {
        "type": "BPE",
        "vocab": vocabulary,
        "merges": merges,
        "ignore_merges": draw.random() < 0.3,
    }

    def text_of(token: str) -> str:
        return bytes(letters[letter] for letter in token).decode(errors="ignore")

    return model, True, long_parts(made, text_of), [odd]


def draw_character_bpe(draw: random.Random, largest: int) -> Drawn:
    atoms = [*dict.fromkeys("".join(ATOMS).replace(" ", MARK))]
    atoms = [atom for atom in atoms if draw.random() < 0.9]
    merges, made = draw_merges(draw, atoms or ["a"], draw.choice((5, 60)))
    falls_back = draw.random() < 0.6
    names = [f"<0x{byte:02X}>" for byte in range(256)] if falls_back else []
    tokens = [*dict.fromkeys(("<unk>", *names, *(atoms or ["a"]), *made))]
    if draw.random() < 0.4:
        tokens = with_filling(draw, tokens, draw_size(draw, largest), "abcé中")
    vocabulary, odd = draw_ids(draw, tokens, 1 + len(names) + len(atoms))
    model: Config = {
        "type": "BPE",
        "vocab": vocabulary,
        "merges": merges,
        "unk_token": "<unk>",
        "fuse_unk": draw.random() < 0.5,
        "byte_fallback": falls_back,
        "ignore_merges": draw.random() < 0.2,
    }
    return model, False, long_parts(made, lambda token: token.replace(MARK, " ")), [odd]


def draw_wordpiece(draw: random.Random, largest: int) -> Drawn:
    letters = "abcABé中12.,'-"
    prefix = draw.choice(("##", "##", "", "@"))
    words = ["".join(draw.choices(letters, k=draw.choice((1, 1, 2, 4)))) for _ in range(120)]
    tokens = [*dict.fromkeys(["[UNK]", *(draw.choice(("", prefix)) + word for word in words)])]
    if draw.random() < 0.4:
        tokens = with_filling(draw, tokens, draw_size(draw, largest), letters)
    vocabulary, odd = draw_ids(draw, tokens, 1)
    model: Config = {
        "type": "WordPiece",
        "vocab": vocabulary,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": draw.choice((100, 100, 5)),
    }
    return model, False, [], [odd]


def draw_unigram(draw: random.Random, largest: int) -> Drawn:
    letters = [*"aabbcé中12.", MARK, MARK]
    pieces = {"".join(draw.choices(letters, k=draw.choice((1, 2, 3, 6)))) for _ in range(150)}
    pieces |= {*letters}
    if draw.random() < 0.3:
        pieces |= {*with_filling(draw, [], draw_size(draw, largest), "".join(letters))}
    scores = draw.choice(((-1.0,), (-1.0, -2.0), (-1.0, -1.5, -2.5, -3.25), (-2.0, -4.0, -6.0)))
    scored = [["<unk>", 0.0], *([piece, draw.choice(scores)] for piece in sorted(pieces))]
    odd = f"unigram of {len(scores)} scores"
    model: Config = {"type": "Unigram", "unk_id": 0, "vocab": scored, "byte_fallback": False}
    return model, False, [], [odd]


def draw_word_level(draw: random.Random, largest: int) -> Drawn:
    words = ["".join(draw.choices("abAé中1.", k=draw.choice((1, 1, 2)))) for _ in range(60)]
    vocabulary, odd = draw_ids(draw, [*dict.fromkeys(["[UNK]", *words])], 1)
    return {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}, False, [], [odd]
