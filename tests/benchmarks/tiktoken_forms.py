"""The forms of a call of a tiktoken.Encoding, beside the same call of `tokpar.as_tiktoken`.

`python -m tests.benchmarks.never_slower cl100k_base.tiktoken` prints the table: see `hf_forms` for
what a cell is. Special tokens stand behind the text, so they add to its size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import tokpar
from tests.benchmarks.hf_forms import Cell, Form, measured_cell, print_table
from tests.benchmarks.never_slower_texts import text_of

SIZES = [3, 10, 50, 200, 800, 5000]
CALLS = 10
"""Calls of a seen text at each turn."""
END = "<|endoftext|>"
FORMS: dict[str, Form] = {
    "encode": lambda own, text: own.encode(text),
    "refusing nothing": lambda own, text: own.encode(text, disallowed_special=()),
    "allowing all": lambda own, text: own.encode(text, allowed_special="all"),
    "allowing none": lambda own, text: own.encode(
        text, allowed_special=set(), disallowed_special="all"
    ),
    "allowing one": lambda own, text: own.encode(text, allowed_special={END}),
    "allowing all, refusing none": lambda own, text: own.encode(
        text, allowed_special="all", disallowed_special=()
    ),
    "ordinary": lambda own, text: own.encode_ordinary(text),
    "array": lambda own, text: own.encode_to_numpy(text).tolist(),
    "batch of 1": lambda own, text: own.encode_batch([text]),
    "batch of 8": lambda own, text: own.encode_batch([text] * 8, disallowed_special=()),
    "ordinary batch of 8": lambda own, text: own.encode_ordinary_batch([text] * 8),
    "an allowed token": lambda own, text: own.encode(text + END, allowed_special="all"),
    "a token as text": lambda own, text: own.encode(text + END, disallowed_special=()),
    "offsets": lambda own, text: own.decode_with_offsets(own.encode_ordinary(text)),
}
"""14 forms."""


def print_forms(path: Path) -> None:
    """Print the table of a .tiktoken file."""
    print_table(path.stem, list(_cells_of(path)), SIZES, [*FORMS])


def _cells_of(path: Path) -> Iterator[Cell]:
    """Yields a cell for each form, size, and for seen and new text."""
    tokenizer: Any = tokpar.load(path)
    own, drop_in = tokenizer.encoding, tokpar.as_tiktoken(tokenizer.encoding)
    tokpar.Encoder(own).prepare()
    while not drop_in.tokpar_texts["compiled"]:  # special tokens as text have a call of their own
        drop_in.encode_ordinary(END)
    numbers = count()
    for size in SIZES:
        for form, call in FORMS.items():
            for is_seen in (True, False):
                seeds = ("x" if is_seen else f"{next(numbers)}" for _ in count())
                texts = (text_of("English", size, [], seed) for seed in seeds)
                about = {"file": path.stem, "form": form, "size": size, "seen": is_seen}
                cell = measured_cell(_repeated(call, is_seen), own, drop_in, texts)
                calls = CALLS if is_seen else 1
                yield about | cell | {"seconds": cell["seconds"] / calls}


def _repeated(call: Form, is_seen: bool) -> Form:
    """Returns a form that calls some times: a seen text takes less time than a look at the clock,
    and the other call of a turn has emptied the processor's caches."""
    return (lambda own, text: [call(own, text) for _ in range(CALLS)][-1]) if is_seen else call
