"""The forms of a call of a `tokenizers.Tokenizer`, beside the same call of `tokpar.as_tokenizers`.

    python -m tests.benchmarks.tokenizers_forms FILE ... [--sizes 3,10,50,200,800,5000]

FILE: a tokenizer.json. The cells are those of `hf_forms`. `never_slower FILE --forms` prints the
same table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

import tokpar
from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.hf_forms import Cell, Form, measured_cell, print_table
from tests.benchmarks.never_slower_texts import text_of
from tokpar.integrations.tokenizers_functions import KEY

SIZES = (3, 10, 50, 200, 800, 5000)


def _eight(text: str) -> list[str]:
    return [text[k:] + text[:k] for k in range(8)]


def _ids(encodings: Sequence[Any]) -> list[list[int]]:
    return [each.ids for each in encodings]


def _embedded(own: Any, text: str) -> object:
    """What an embedder asks for."""
    rows = own.encode_batch(_eight(text))
    return [(row.ids, row.attention_mask, row.type_ids) for row in rows]


FORMS: dict[str, Form] = {
    "encode": lambda own, text: own.encode(text).ids,
    "encode, no special": lambda own, text: own.encode(text, add_special_tokens=False).ids,
    "encode, tokens": lambda own, text: own.encode(text).tokens,
    "encode, offsets": lambda own, text: own.encode(text).offsets,
    "batch of 8": lambda own, text: _ids(own.encode_batch(_eight(text))),
    "batch of 8, fast": lambda own, text: _ids(own.encode_batch_fast(_eight(text))),
    "batch of 8, masks": _embedded,
    "pair": lambda own, text: own.encode(text, text).ids,
}
"""8 forms of encoding. Two of decoding take ids of the text."""
DECODING: dict[str, Form] = {
    "decode": lambda own, ids: own.decode(ids),
    "decode of 8": lambda own, ids: own.decode_batch([ids] * 8),
}


def print_forms(path: Path, sizes: Sequence[int] = SIZES) -> None:
    """Print the cells of one file."""
    print_table(path.stem, [*_cells_of(path, sizes)], [*sizes], [*FORMS, *DECODING])


def _cells_of(path: Path, sizes: Sequence[int]) -> Iterator[Cell]:
    own, mine = (Tokenizer.from_file(str(path)) for _ in range(2))
    for each in (own, mine):
        each.no_truncation()
        each.no_padding()
    tokpar.as_tokenizers(mine)
    known = mine.__dict__[KEY].learn()
    known.front.later.wait()
    for skip in (True, False):
        known.table(skip).wait()
    numbers = count()
    for size in sizes:
        for form, call in (FORMS | DECODING).items():
            for is_seen in (True, False):
                names = ("x" if is_seen else f"{next(numbers)}" for _ in count())
                given: Iterator[Any] = (text_of("English", size, [], name) for name in names)
                if form in DECODING:
                    given = (own.encode(text).ids for text in given)
                about = {"file": path.stem, "form": form, "size": size, "seen": is_seen}
                yield about | measured_cell(call, own, mine, given)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    options = parser.parse_args()
    for path in options.files:
        print_forms(path, [*map(int, options.sizes.split(","))])
    return 0


if __name__ == "__main__":
    refuse_without_kernel()
    sys.exit(main())
