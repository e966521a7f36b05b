"""The forms of a call of a transformers tokenizer, beside the same call of `tokpar.as_hf`.

    python -m tests.benchmarks.hf_forms FILE ... [--sizes 3,10,50,200,800,5000] [--forms 'call;np']

FILE: a tokenizer.json. A cell is the time of the own call over the time of the drop-in: above 1
tokpar is faster. Both take turns, and each time is the least of its turns. "seen": the same text
again; "new": another text at each turn. Results are compared. A cell counts as slower below 0.9.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.never_slower_texts import text_of

Form = Callable[[Any, str], Any]
LEAST = 0.9
SIZES = (3, 10, 50, 200, 800, 5000)
TURNS, NEW_TURNS = 25, 12


def _rows(text: str, count: int = 8) -> list[str]:
    return [text[k:] + text[:k] for k in range(count)]


def _half(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _called(**options: Any) -> Form:
    return lambda tokenizer, text: tokenizer(text, **options)


def _batched(count: int = 8, **options: Any) -> Form:
    return lambda tokenizer, text: tokenizer(_rows(text, count), **options)


CUT = {"truncation": True, "max_length": 64}
FORMS: dict[str, Form] = {
    "call": _called(),
    "encode": lambda tokenizer, text: tokenizer.encode(text),
    "tokenize": lambda tokenizer, text: tokenizer.tokenize(text),
    "no special": _called(add_special_tokens=False),
    "encode no special": lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False),
    "verbose": _called(verbose=False),
    "ids only": _called(return_attention_mask=False, return_token_type_ids=False),
    "offsets": _called(return_offsets_mapping=True),
    "special mask": _called(return_special_tokens_mask=True),
    "length": _called(return_length=True),
    "cut": _called(**CUT),
    "cut, padded": _called(**CUT, padding="max_length"),
    "batch of 1, cut, padded": _batched(1, padding=True, **CUT),
    "batch of 8": _batched(),
    "batch of 8, padded": _batched(padding=True),
    "batch of 8, cut, padded, np": _batched(padding=True, return_tensors="np", **CUT),
    "batch of 8, offsets": _batched(return_offsets_mapping=True),
    "np": _called(return_tensors="np"),
    "encode np": lambda tokenizer, text: tokenizer.encode(text, return_tensors="np"),
    "pair": lambda tokenizer, text: tokenizer(*_half(text)),
    "pair, only second": lambda tokenizer, text: tokenizer(
        text[:9], text, truncation="only_second", max_length=64
    ),
    "batch of pairs, padded": lambda tokenizer, text: tokenizer(
        [text[:9]] * 8, _rows(text), padding=True, truncation=True, max_length=64
    ),
    "words": lambda tokenizer, text: tokenizer(text.split(), is_split_into_words=True),
    "overflow": _called(return_overflowing_tokens=True, stride=8, **CUT),
    "split special": _called(split_special_tokens=True),
    "by keyword": lambda tokenizer, text: tokenizer(text=text, padding=False, truncation=False),
}
"""26 forms. The keys are the names for `--forms`."""
Cell = dict[str, Any]


def cells_of(path: Path, sizes: Sequence[int], forms: Sequence[str]) -> Iterator[Cell]:
    """Yields a cell for each form, size, and for seen and new text."""
    from transformers import PreTrainedTokenizerFast

    engines = [Tokenizer.from_file(str(path)) for _ in range(2)]
    for each in engines:
        each.no_truncation()
        each.no_padding()
        each.add_special_tokens([AddedToken("<pad>")])
    own, source = (
        PreTrainedTokenizerFast(tokenizer_object=each, pad_token="<pad>") for each in engines
    )
    drop_in = tokpar.as_hf(source)
    drop_in("a")
    drop_in._tokpar_state().encoder().prepare()
    numbers = count()
    for size in sizes:
        for form in forms:
            for is_seen in (True, False):
                texts = ("x" if is_seen else f"{next(numbers)}" for _ in count())
                yield {
                    "file": path.stem,
                    "form": form,
                    "size": size,
                    "seen": is_seen,
                } | measured_cell(
                    FORMS[form], own, drop_in, (text_of("English", size, [], t) for t in texts)
                )


def measured_cell(form: Form, own: Any, drop_in: Any, texts: Iterator[str]) -> Cell:
    times: tuple[list[float], list[float]] = ([], [])
    is_equal = True
    first = next(texts)
    turns = TURNS if next(texts) == first else NEW_TURNS
    for _ in range(turns):
        text, found = next(texts), []
        for tokenizer, measured in zip((own, drop_in), times, strict=True):
            start = time.perf_counter()
            found.append(form(tokenizer, text))
            measured.append(time.perf_counter() - start)
        is_equal &= repr(found[0]) == repr(found[1])
    least = min(times[0]), min(times[1])
    return {"own": least[0], "seconds": least[1], "ratio": least[0] / least[1], "equal": is_equal}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--forms", default=";".join(FORMS))
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    forms = options.forms.split(";")
    for path in options.files:
        print_forms(path, sizes, forms)
    return 0


def print_forms(path: Path, sizes: Sequence[int] = SIZES, forms: Sequence[str] = ()) -> None:
    """Measure the forms, or all of them, and print their table."""
    names = [*(forms or FORMS)]
    print_table(path.stem, list(cells_of(path, sizes, names)), sizes, names)


def print_table(name: str, cells: list[Cell], sizes: Sequence[int], forms: Sequence[str]) -> None:
    found = {(cell["form"], cell["size"], cell["seen"]): cell for cell in cells}
    print(f"{name}: own / drop-in of seen text, of new text; microseconds of seen text")
    print(f"{'':28}" + "".join(f"{size:>20,}" for size in sizes))
    for form in forms:
        line = f"{form:28}"
        for size in sizes:
            seen, new = found[form, size, True], found[form, size, False]
            line += f"{seen['ratio']:7.2f}{new['ratio']:6.2f}{seen['seconds'] * 1e6:7.0f}"
        print(line)
    slower = sum(cell["ratio"] < LEAST for cell in cells)
    wrong = sum(not cell["equal"] for cell in cells)
    print(f"{len(cells):,} cells, {slower:,} slower, {wrong:,} with another result", flush=True)


if __name__ == "__main__":
    refuse_without_kernel()
    sys.exit(main())
