"""The table of `never_slower` without files: each shape and each carried file, at each size.

A cell is the time of the own call over that of tokpar, three times: a text that the encoder has not
seen, the same text again, and a new text with a made-up word in each fifty characters. The time is
that of the processor, of all threads of a long text. Both sides get each text in turn, and the
middle of many texts counts, so that a busy machine slows both.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tokenizers import Tokenizer
from tqdm import tqdm

import tokpar
from tests.benchmarks.never_slower_shapes import (
    SHAPES,
    carried_files,
    pages,
    passage,
    with_new_words,
)

SIZES = (3, 20, 50, 200, 500, 2000, 10_000, 60_000)
LEAST, LEAST_BY_ENGINE = 0.9, 0.8
"""Below these a cell counts; the second is for made-up words that the engine is asked for."""
SHORT = 2000
"""Code points up to which one thread encodes a text."""
ROUNDS_CHARS, LEAST_ROUNDS, MOST_ROUNDS = 400_000, 7, 300
WARM_UP = 20
BY_ENGINE = "words by the engine"
Cell = tuple[float, float, float]
"""New text, seen text, made-up words: the time of the own call over that of tokpar."""


def print_cells(sizes: Sequence[int] = SIZES, names: Sequence[str] = ()) -> int:
    """Prints the table. Returns the number of cells below 0.9, or with other ids. `names`: parts of
    the names of the tokenizers to be measured; empty: all."""
    chosen = [(name, make) for name, make in _tokenizers() if _is_named(name, names)]
    print(f"{'':34}" + "".join(f"{size:>18,}" for size in sizes) + "  way")
    below, wrong = 0, 0
    for name, make in tqdm(chosen, disable=None):
        own = make()
        twin = Tokenizer.from_str(own.to_str())  # a shared model would cache words for both
        encoder = tokpar.Encoder(twin)
        encoder.prepare()
        cells, others = _cells(own, encoder, sizes)
        wrong += others
        low = _low_ones(cells, encoder)
        below += len(low)
        shown = "".join("".join(f"{ratio:6.3g}" for ratio in cell) for cell in cells)
        mark = f"  low: {', '.join(low)}" if low else ""
        tqdm.write(f"{name[:33]:34}{shown}  {_way_of(encoder)}{mark}")
    print(f"{below} cells below {LEAST}, or {LEAST_BY_ENGINE} for made-up words by the engine")
    print(f"{wrong} texts with other ids")
    return below + wrong


def _low_ones(cells: Sequence[Cell], encoder: tokpar.Encoder) -> list[str]:
    made_up = LEAST_BY_ENGINE if _way_of(encoder) == BY_ENGINE else LEAST
    limits = (LEAST, LEAST, made_up)
    return [
        f"{ratio:.2f}"
        for cell in cells
        for ratio, least in zip(cell, limits, strict=True)
        if ratio < least
    ]


def _is_named(name: str, names: Sequence[str]) -> bool:
    return not names or any(part in name for part in names)


def _tokenizers() -> Iterator[tuple[str, Callable[[], Tokenizer]]]:
    yield from SHAPES.items()
    for path in carried_files():
        yield f"{path.parent.name}/{path.name}", lambda path=path: _of_file(path)  # type: ignore[misc]


def _of_file(path: Path) -> Tokenizer:
    own = Tokenizer.from_file(str(path))
    own.no_truncation()
    own.no_padding()
    return own


def _way_of(encoder: tokpar.Encoder) -> str:
    adapter: Any = encoder.tokenizer
    call = adapter.later_call and adapter.later_call.call
    if call is None:
        return f"the engine: {adapter.why_not_compiled}"[:60]
    return BY_ENGINE if call.why_by_engine else "by the file"


def _cells(own: Tokenizer, encoder: tokpar.Encoder, sizes: Sequence[int]) -> tuple[list[Cell], int]:
    draw, some_pages = random.Random(7), pages()
    for _ in range(WARM_UP):
        encoder.encode(passage(draw, some_pages, 300))
    found, wrong = [], 0
    for size in sizes:
        rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, ROUNDS_CHARS // size))
        plain = [passage(draw, some_pages, size) for _ in range(rounds)]
        made_up = [with_new_words(draw, passage(draw, some_pages, size)) for _ in range(rounds)]
        new, seen, different = _ratios(own, encoder, plain)
        word, _, others = _ratios(own, encoder, made_up)
        found.append((new, seen, word))
        wrong += different + others
    return found, wrong


def _ratios(
    own: Tokenizer, encoder: tokpar.Encoder, texts: Sequence[str]
) -> tuple[float, float, int]:
    """Returns the ratios for new and for seen texts, and how many texts have other ids."""
    own_times, new, seen, wrong = [], [], [], 0
    clock = time.thread_time if len(texts[0]) <= SHORT else time.process_time
    gc.disable()
    for text in texts:
        first, found = _timed(clock, lambda text: encoder.encode(text).ids, text)
        theirs, expected = _timed(clock, lambda text: own.encode(text).ids, text)
        again = min(_timed(clock, encoder.encode, text)[0] for _ in range(3))
        new.append(first)
        own_times.append(theirs)
        seen.append(again)
        wrong += found.tolist() != expected
    gc.enable()
    middle = median(own_times)
    return middle / median(new), middle / median(seen), wrong


def _timed(clock: Callable[[], float], call: Callable[[str], Any], text: str) -> tuple[float, Any]:
    start = clock()
    found = call(text)
    return clock() - start, found
