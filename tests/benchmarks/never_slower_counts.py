"""The forms of `never_slower --counts`, beside the whole text counted again: edits of sessions,
chunks, budgets, streams and counts.

A cell has two ratios: the time of the tokenizer's own call for the whole text over the time of the
form, and that of `Encoder.count` for the whole text, which has seen it. Above 1 the form is faster.
Every side gets the same text in turn, and the least of many rounds counts. The time is that of the
processor, of all threads."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Sequence

from tokenizers import Tokenizer
from tqdm import tqdm

import tokpar
from tests.benchmarks.never_slower_shapes import SHAPES, pages, passage

KINDS = ("byte-level (GPT-2)", "Gemma's", "BERT's", "Llama 2's", "Unigram, Metaspace")
SIZES = (200, 2000, 20_000, 200_000)
LEAST = 0.9
EDITS = "append", "replace"
"""The forms that make two edits, each with the new count: there and back."""
EDITED, PIECE, CHUNK = 250, 200, 512
"""Code points of an edit and of a piece of a stream, and ids of a chunk."""
ROUNDS_CHARS, LEAST_ROUNDS, MOST_ROUNDS = 2_000_000, 7, 60
Form = Callable[[], object]
Cell = tuple[float, float]


def print_counts(sizes: Sequence[int] = SIZES, names: Sequence[str] = ()) -> int:
    """Prints the table. Returns the number of cells in which the own call is faster."""
    kinds = [kind for kind in KINDS if not names or any(name in kind for name in names)]
    below = 0
    for kind in tqdm(kinds, disable=None):
        own = SHAPES[kind]()
        encoder = tokpar.Encoder(Tokenizer.from_str(own.to_str()))
        encoder.prepare()
        for size in sizes:
            cells = cells_of(own, encoder, size)
            below += sum(cell[0] < LEAST for cell in cells.values())
            shown = "  ".join(f"{name} {a:.3g} {b:.2g}" for name, (a, b) in cells.items())
            tqdm.write(f"{kind[:20]:21}{size:>9,}  {shown}")
    print(f"{below} cells in which the own call for the whole text is faster")
    return below


def cells_of(own: Tokenizer, encoder: tokpar.Encoder, size: int) -> dict[str, Cell]:
    """Returns the two ratios of each form, for a text of `size` code points."""
    text, added = (passage(random.Random(k), pages(), n) for k, n in ((7, size), (8, EDITED)))
    forms = _forms(encoder, text, added)
    sides: dict[str, Form] = {
        "own": lambda: own.encode(text),
        "count": lambda: encoder.count(text),
        **forms,
    }
    least = dict.fromkeys(sides, float("inf"))
    gc.disable()
    for _ in range(min(MOST_ROUNDS, max(LEAST_ROUNDS, ROUNDS_CHARS // size))):
        for name, side in sides.items():
            start = time.process_time()
            side()
            least[name] = min(least[name], time.process_time() - start)
    gc.enable()
    for name in EDITS:
        least[name] /= 2
    return {name: (least["own"] / least[name], least["count"] / least[name]) for name in forms}


def _forms(encoder: tokpar.Encoder, text: str, added: str) -> dict[str, Form]:
    """Returns one call for each form; those of EDITS make two edits."""
    pieces = [text[k : k + PIECE] for k in range(0, len(text), PIECE)]
    budget, session = max(1, encoder.count(text) // 2), encoder.session(text)
    end, middle = len(text), len(text) // 2
    kept = text[middle : middle + 20]

    def append() -> int:
        session.append(added)
        count = session.count
        session.truncate(end)
        return count + session.count

    def replace() -> int:
        session.replace(middle, middle + len(kept), added)
        count = session.count
        session.replace(middle, middle + len(added), kept)
        return count + session.count

    return {
        "append": append,
        "replace": replace,
        "make": lambda: encoder.session(text),
        "chunks": lambda: [*encoder.chunks(text, CHUNK)],
        "limit": lambda: encoder.count(text, limit=100),
        "fit": lambda: encoder.fit(pieces, budget),
        "stream": lambda: [*encoder.stream(pieces)],
    }
