"""Arrays of a compiled call with drawn changes: given to `Call`, then asked for ids.

    python -m tests.support.damaged_calls KIND SEED COUNT

A process of its own, because a change that `Call` believes may crash it or never end. Prints how
many calls were refused and how many encoded all texts."""

from __future__ import annotations

import random
import sys
from collections import Counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import tokpar
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tests.support.words_drawn import PAIRS
from tokpar.compiled import call_tables, compiled_build
from tokpar.process import kernel_modules

KINDS = DRAWN | PAIRS
Arrays = dict[str, NDArray[Any]]
EDGES = [0, 1, 2, 3, 4, 5, 14, 15, 16, 127, 128, 254, 255, 256, 1 << 15, (1 << 16) - 1, 1 << 21]
EDGES += [1 << 22, 1 << 27, 1 << 28, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 40]
EDGES += [1 << 56, 1 << 60, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
TYPES = [np.uint8, np.uint16, np.uint32, np.uint64]


def drawn_arrays(draw: random.Random, kind: str) -> tuple[Arrays, list[str]]:
    """Returns all arrays of the call of a drawn tokenizer, and texts for it."""
    given: list[Arrays] = []

    def recorded(arrays: Arrays) -> Any:
        given.append(arrays)
        return real.Call(arrays)

    real: Any = kernel_modules.CALL
    proxy = SimpleNamespace(**{**vars(real), "Call": recorded})
    while True:
        tokenizer = KINDS[kind](draw)
        contents = draw_added(draw, tokenizer)
        given.clear()
        with (
            patch.object(kernel_modules, "CALL", proxy),
            patch.object(compiled_build, "IN_BACKGROUND", False),
            patch.object(call_tables, "LONGEST_FROM", draw.choice([1, 25])),
            patch.object(call_tables, "SAMPLED", draw.choice([1, 4096])),
        ):
            adapter: Any = tokpar.load(tokenizer)
            if adapter.later_call is not None and adapter.later_call.call is not None:
                break
    tokens = [*tokenizer.get_vocab()]
    texts = [draw_text(draw, contents) for _ in range(8)]
    texts += ["".join(draw.choices(tokens, k=30)) for _ in range(4)] + ["ab" * 99, "中 é" * 30, ""]
    return given[-1], texts


def changed(draw: random.Random, arrays: Arrays, texts: list[str]) -> tuple[str, Arrays]:
    """Returns the arrays with one drawn change, and the name of the array that has it."""
    name = draw.choice([*arrays])
    content = bytearray(np.ascontiguousarray(arrays[name]).tobytes())
    kind = draw.choice(TYPES)
    if draw.random() < 0.15:
        content = bytearray(_resized(draw, content))
    items = np.frombuffer(content, kind, count=len(content) // np.dtype(kind).itemsize)
    if len(items):
        places = _places(draw, items, texts)
        bit = kind(1 << draw.randrange(8 * items.itemsize))
        value = kind(draw.choice(EDGES) & (1 << 8 * items.itemsize) - 1)
        how = draw.randrange(4)
        if how == 0:
            items[places] ^= bit
        elif how == 1:
            items[places] = value
        elif how == 2:
            items[places] += kind(1) if draw.random() < 0.5 else kind(np.iinfo(kind).max)
        else:
            items[places] = np.roll(items[places], 1)
    return name, arrays | {name: np.frombuffer(bytes(content), np.uint8)}


def _resized(draw: random.Random, content: bytes) -> bytes:
    sizes = [0, len(content) // 2, max(0, len(content) - 8), len(content) - len(content) // 4]
    return (bytes(content) * 2)[: draw.choice([*sizes, len(content) + 8, 2 * len(content)])]


def _places(draw: random.Random, items: NDArray[Any], texts: list[str]) -> NDArray[np.int64]:
    """Returns where an array changes: at one item, at many, at items that are used, at code points
    of the texts."""
    used = np.flatnonzero(items)
    points = np.array(sorted({ord(char) for text in texts for char in text}))
    choices = [np.arange(len(items)), used, used, points[points < len(items)]]
    places: NDArray[np.int64] = draw.choice([each for each in choices if len(each)])
    if draw.random() < 0.5:
        return places[[draw.randrange(len(places))]]
    return places[np.random.default_rng(draw.randrange(1 << 30)).random(len(places)) < 0.5]


def encode_all(call: Any, texts: list[str]) -> None:
    for text in texts:
        for encode in (call.encode, call.encode_plain, call.encode):
            found = encode(text)
            assert found is None or type(found) in (bytes, tuple)
        call.encode_places(text)
        call.encode_part(text, len(text) // 3, len(text))
    call.encode_rows(tuple(texts))
    data = "".join(texts).encode()
    call.encode_utf8(data, np.array([0, len(data)], np.int64))
    call.is_sure(97, 32)


def main(kind: str, seed: int, count: int) -> None:
    draw, outcomes, real = random.Random(seed), Counter[str](), kernel_modules.CALL
    assert real is not None
    for number in range(count):
        if number % 50 == 0:
            arrays, texts = drawn_arrays(draw, kind)
        name, damaged = changed(draw, arrays, texts)
        print(number, name, file=sys.stderr, flush=True)  # the last line names what crashed
        try:
            call = real.Call(damaged)
        except ValueError:
            outcomes["refused"] += 1
            continue
        encode_all(call, texts)
        outcomes["encoded"] += 1
    print(outcomes["refused"], outcomes["encoded"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
