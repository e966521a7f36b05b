"""Drawn models: what rounding, order, merges and types of pieces decide."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from typing import Any

import sentencepiece

ALPHABETS = (
    *("ab", "abc", "abé", "▁ab", "aé語😀", "語日本▁", "a▁b語👩\u200d"),
    *("abcdefghij▁", "▁abc", "\x01a▁", "a b▁", "ﬁ½a\u0301e"),
)
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
Piece = tuple[str, float, int]


def message(*fields: tuple[int, Any]) -> bytes:
    """A protocol buffer message: an int is a varint, a float has 32 bits, bytes have a length."""
    found = b""
    for number, value in fields:
        if isinstance(value, float):
            found += varint(number << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, int):
            found += varint(number << 3) + varint(value)
        else:
            found += varint(number << 3 | 2) + varint(len(value)) + value
    return found


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def single(number: float) -> float:
    """The number in 32 bits."""
    (found,) = struct.unpack("<f", struct.pack("<f", number))
    return float(found)


def serialized(
    pieces: Sequence[Piece],
    settings: Sequence[bool],
    charsmap: bytes = b"",
    suffix: bool = False,
    model_type: int = 1,
) -> bytes:
    """A ModelProto. `settings`: byte_fallback, add_dummy_prefix, remove_extra_whitespaces,
    escape_whitespaces."""
    rows = [(1, message((1, t.encode()), (2, score), (3, kind))) for t, score, kind in pieces]
    trainer = message((3, model_type), (24, int(suffix)), (35, int(settings[0])))
    normalizer = message(
        (1, b"x"), (2, charsmap), *zip((3, 4, 5), map(int, settings[1:]), strict=True)
    )
    return message(*rows, (2, trainer), (3, normalizer))


def score(draw: random.Random, mode: int) -> float:
    """A score: equal ones, last-bit differences, sums beyond 100,000, infinities, NaN."""
    if mode == 2:
        return single(-(3.0 + draw.randint(0, 3) * 2.0**-22))
    if mode == 3:
        return single(-draw.random() * 12)
    if mode == 8:
        return single(-900 - draw.random())
    kinds: dict[int, tuple[float, ...]] = {
        0: (0.0,),
        1: (-1.0, -2.0, -3.0),
        4: (-0.1, -0.2, -0.3, -0.7, -12.3, -11.9),
        5: (0.0, -0.0, 1.0, -1.0, 5.0),
        6: (-30000.1, -20000.7, -1.1, -12.3),
        7: (-1e30, 3e38, -1e5, 1.0, -1.0, -99999.9),
        9: (math.nan, -1.0, -2.0, -0.5),
        10: (math.inf, -math.inf, math.nan, -1.0, 1.0),
    }
    if mode in kinds:
        return single(draw.choice(kinds[mode]))
    return single(draw.choice([-7.1, -7.2]) - draw.randint(0, 5) * 2.0**-20)


def add_other_pieces(draw: random.Random, pieces: list[Piece]) -> bool:
    """Add the unknown piece, perhaps those of bytes and a control piece. Returns True if the model
    falls back to bytes."""
    pieces.insert(draw.randrange(len(pieces) + 1), ("<unk>", 0.0, UNKNOWN))
    falls_back = draw.random() < 0.4
    if falls_back:
        pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    if draw.random() < 0.3:
        pieces.insert(0, ("<s>", 0.0, CONTROL))
    return falls_back


def drawn_model(draw: random.Random, maps: Sequence[bytes]) -> tuple[str, list[Piece], bytes]:
    """An alphabet, the pieces, and the serialized model. `maps`: replacement tables."""
    alphabet = draw.choice(ALPHABETS)
    mode, longest = draw.randrange(12), draw.choice([1, 2, 3, 4, 8])
    texts = {
        "".join(draw.choice(alphabet) for _ in range(draw.randint(1, longest)))
        for _ in range(draw.choice([1, 2, 3, 5, 8, 20, 60]))
    }
    if draw.random() < 0.6:
        texts |= {char for char in alphabet if draw.random() < 0.8}
    if draw.random() < 0.5:
        texts = {text for text in texts if "▁" not in text[1:]}
    names = sorted(texts)
    draw.shuffle(names)
    kinds = [
        NORMAL if draw.random() < 0.9 else draw.choice([NORMAL, USER_DEFINED, UNUSED])
        for _ in names
    ]
    pieces = [(name, score(draw, mode), kind) for name, kind in zip(names, kinds, strict=True)]
    falls_back = add_other_pieces(draw, pieces)
    plain = draw.random() < 0.5
    settings = [falls_back, *([False, False, True] if plain else draw.choices([False, True], k=3))]
    suffix = not plain and draw.random() < 0.2
    return alphabet, pieces, serialized(pieces, settings, draw.choice(maps), suffix)


def drawn_merges(draw: random.Random, maps: Sequence[bytes]) -> tuple[str, list[Piece], bytes]:
    """As `drawn_model`, a BPE, or a model of characters: scores by rank, some equal, some of one
    another's order; pieces that lack a character or a part."""
    alphabet, longest = draw.choice(ALPHABETS), draw.choice([2, 3, 4, 8])
    texts = set(alphabet) if draw.random() < 0.7 else {c for c in alphabet if draw.random() < 0.7}
    for _ in range(draw.choice([0, 3, 8, 20, 60])):
        parts = [*sorted(texts), *alphabet]
        made = draw.choice(parts) + draw.choice(parts)
        texts |= {made[: draw.choice([longest, len(made)])]}
    if draw.random() < 0.6:
        texts = {text for text in texts if "▁" not in text.lstrip("▁")}
    names = sorted(texts)
    draw.shuffle(names)
    step = draw.choice([1, 1, 2, 5, 60])
    symbols = draw.choice([0.0, 0.0, 0.1])
    pieces = [
        (name, -float(k // step), USER_DEFINED if draw.random() < symbols else NORMAL)
        for k, name in enumerate(names)
    ]
    draw.shuffle(pieces)
    falls_back = add_other_pieces(draw, pieces)
    plain = draw.random() < 0.5
    settings = [falls_back, *([True, True, True] if plain else draw.choices([False, True], k=3))]
    suffix, kind = not plain and draw.random() < 0.2, draw.choice([2, 2, 2, 4])
    return alphabet, pieces, serialized(pieces, settings, draw.choice(maps), suffix, kind)


def drawn_texts(draw: random.Random, alphabet: str, pieces: Sequence[Piece]) -> list[str]:
    """Texts of the alphabet and some other characters; some are long enough for large sums."""
    more = alphabet + draw.choice(["", "x", "語", "\u0301", "  ", " ﬁ½\u3000\u200b\t\x00"])
    sizes = [1, 2, 3, 5, 8, 16, 16, 40, 200, 1000]
    texts = ["".join(draw.choice(more) for _ in range(size)) for size in draw.choices(sizes, k=50)]
    if draw.random() < 0.1:
        texts.append("".join(draw.choice(more) for _ in range(10_000)))
    return [*texts, "", " ", *(name for name, *_ in draw.sample(pieces, min(8, len(pieces))))]


def processor_of(data: bytes) -> Any:
    """The library's object. Raises RuntimeError for a model that the library refuses."""
    return sentencepiece.SentencePieceProcessor(model_proto=data)
