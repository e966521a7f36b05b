"""Does an engine that a file was loaded with give the ids of the file's own library?

    PYTHONPATH=. python plugins/tokpar-engines/tests/engine_hunt.py --files 90 --texts 3000 --seed 1

makes files (`tests/support/engine_files_drawn.py`), loads each with each engine that is installed,
and compares texts where the file is accepted. It prints how many files were refused, and by what,
and each file that was accepted although a text has other ids, with the smallest; then the exit code
is 1. Nothing is read from or kept in a cache.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tokpar_conformance.differing import show_text, simplest
from tqdm import tqdm

import tokpar
from tests.support.adversarial_texts import adversarial_texts
from tests.support.engine_files_drawn import DrawnFile, drawn_file
from tokpar.errors import EngineError, OptionError, TokparError

ENGINES = ("fastokens", "gigatoken", "tokie")
LONG = 60  # pieces of every twentieth text
OUTCOMES = ("file", "engine", "comparison", "accepted", "wrong")


@dataclass
class Found:
    """What came of the files, by engine."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> str:
        """A line for each engine, then the files that were accepted wrongly."""
        lines = [" ".join(f"{one:>12}" for one in ("engine", *OUTCOMES, "texts"))]
        for engine, counts in self.outcomes.items():
            row = (engine, *(counts[one] for one in OUTCOMES), f"{self.texts[engine]:,}")
            lines.append(" ".join(f"{one:>12}" for one in row))
        return "\n".join([*lines, f"{sum(self.texts.values()):,} texts compared", *self.wrong])


def hunt(files: int, texts: int, seed: int, engines: Sequence[str], folder: Path) -> Found:
    """What comes of `files` files and, of each that is accepted, `texts` texts."""
    found = Found({engine: Counter() for engine in engines})
    with tqdm(total=files * len(engines), disable=not sys.stderr.isatty()) as bar:
        for number in range(files):
            file = drawn_file(number, seed, folder)
            for engine in engines:
                try_file(file, engine, texts, random.Random(f"{seed} {number}"), found)
                bar.update()
    return found


def try_file(file: DrawnFile, engine: str, texts: int, rng: random.Random, found: Found) -> None:
    """Loads the file and counts the outcome in `found`."""
    counts = found.outcomes[engine]
    try:
        adapter = tokpar.load(file.path, engine=engine, **file.settings)
    except (EngineError, OptionError) as error:
        compared, by_engine = "\n" in str(error), " refuses " in str(error)
        counts["comparison" if compared else "engine" if by_engine else "file"] += 1
        return
    counts["accepted"] += 1
    own = tokpar.load(file.path, **file.settings)
    short, long = (adversarial_texts(file.added, file.tokens, most) for most in (7, LONG))
    some = [(short if k % 20 else long).draw(rng) for k in range(texts)]
    found.texts[engine] += len(some)
    text = next((one for one in some if differs(adapter, own, one)), None)
    if text is not None:
        counts["wrong"] += 1
        text = simplest(text, lambda one: differs(adapter, own, one))
        found.wrong.append(f"{engine}: {file.name} ({file.path.name}): {show_text(text)}")


def differs(adapter: Any, own: Any, text: str) -> bool:
    """Other ids, or an error where the library has none; what it fails on itself tells nothing."""
    try:
        expected = own.encode(text)
    except EngineError:
        return False
    try:
        return not np.array_equal(expected, adapter.encode(text))
    except TokparError:
        return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=90)
    parser.add_argument("--texts", type=int, default=5_000, help="of each file that is accepted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--engines", nargs="+", default=[e for e in ENGINES if find_spec(f"tokpar_{e}")]
    )
    parser.add_argument("--keep", type=Path, help="a directory for the files")
    options = parser.parse_args(arguments)
    os.environ["TOKPAR_CACHE"] = ""
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        found = hunt(options.files, options.texts, options.seed, options.engines, kept)
    print(found.told())
    return int(bool(found.wrong))


if __name__ == "__main__":
    raise SystemExit(main())
