"""A recorded conversation, encoded again at every turn: by a session, by an encoder with its cache,
and by the tokenizer's own call on the whole text.

    python -m tests.benchmarks.conversation tokenizer.json text.txt --turns 200 --chars 1000000

The file is cut into turns of equal length. A chat template puts them together, and writes an empty
block of thoughts into the last answer only, so each turn also removes some old characters. Each
side gets the whole text of each turn; the session returns a patch, the others all ids. The ids are
compared while no clock runs. Prints a row of a Markdown table for each tokenizer: the seconds of
all turns, and the median of the last ten."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

import tokpar
from tests.benchmarks import refuse_without_kernel
from tokpar.arrays import IdArray

THOUGHTS = "<think>\n\n</think>\n\n"
LAST = 10
Side = Callable[[str], Callable[[], IdArray]]
"""Encodes a text. What it returns gives all ids."""


def texts_of(text: str, turns: int) -> Iterator[str]:
    """Yield the text of a conversation after each of its turns."""
    size, said = len(text) // turns, ""
    for turn in range(turns):
        part = text[turn * size : (turn + 1) * size]
        if turn % 2:
            yield f"{said}<|assistant|>\n{THOUGHTS}{part}\n"
            said += f"<|assistant|>\n{part}\n"
        else:
            said += f"<|user|>\n{part}\n"
            yield said


def sides_of(tokenizer: str) -> dict[str, Side]:
    """The three ways to the ids of a whole text."""
    session, cached = tokpar.Encoder(tokenizer).session(), tokpar.Encoder(tokenizer)
    own = tokpar.load(tokenizer)

    def updated(text: str) -> Callable[[], IdArray]:
        patch = session.update(text)
        assert len(patch.replacement_ids)  # they are made when somebody asks for them
        return lambda: session.unprocessed_ids

    def encoded(text: str) -> Callable[[], IdArray]:
        ids = cached.unprocessed_batch([text], cached.tokenizer).ids
        return lambda: ids

    def own_call(text: str) -> Callable[[], IdArray]:
        ids = own.encode(text)
        return lambda: ids

    return {"session": updated, "cache": encoded, "own": own_call}


def measure(tokenizer: str, text: str, turns: int, own_every: int) -> dict[str, list[float]]:
    """Returns the seconds of each turn and side. Raises AssertionError for ids that differ.

    The own call encodes each `own_every`-th turn, and the last ones."""
    sides = sides_of(tokenizer)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn, whole in enumerate(texts_of(text, turns)):
        found = {}
        for name, encode in sides.items():
            if name == "own" and turn % own_every and turn < turns - LAST:
                continue
            start = time.perf_counter()
            found[name] = encode(whole)
            seconds[name].append(time.perf_counter() - start)
        for ids in found.values():
            assert np.array_equal(ids(), found["session"]()), f"turn {turn}: other ids"
    return seconds


def row(name: str, seconds: dict[str, list[float]], turns: int) -> str:
    """A row of the table. The own call's sum is scaled to all turns where some were left out."""
    cells = [name]
    for side, each in seconds.items():
        sampled = each[:-LAST] if side == "own" and len(each) < turns else each
        scale = turns / len(sampled)
        about = "" if scale == 1 else "about "
        cells.append(f"{about}{sum(sampled) * scale:,.2f} s, {median(each[-LAST:]) * 1e3:,.1f} ms")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="+", help="files of tokenizers")
    parser.add_argument("text", type=Path, help="what is said in the conversation, UTF-8")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--chars", type=int, default=1_000_000, help="of the last turn's text")
    parser.add_argument("--own-every", type=int, default=1, help="turns between two own calls")
    given = parser.parse_args()
    text = given.text.read_text(encoding="utf-8")[: given.chars]
    print("| tokenizer | session | cache | own call |\n|---|---|---|---|")
    for tokenizer in given.tokenizers:
        seconds = measure(tokenizer, text, given.turns, given.own_every)
        print(row(Path(tokenizer).stem, seconds, given.turns), flush=True)


if __name__ == "__main__":
    refuse_without_kernel()
    main()
