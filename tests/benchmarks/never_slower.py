"""Texts that somebody would complain of, at every size and door, beside the tokenizer's own call.

    python -m tests.benchmarks.never_slower [--sizes 3,50,500] [--only Unigram,CLIP] [--counts]
    python -m tests.benchmarks.never_slower FILE ... [--added 0,1000,10000]
        [--sizes 50,500,5000,100000] [--doors encode,batch,as_hf] [--texts Thai,DNA]
        [--csv OUT] [--gaps] [--forms]

Without a FILE: 21 shapes that it trains, and the files that installed packages carry, from 3 to
60,000 characters, new and seen; ends with 1 if a cell is below 0.9, see `never_slower_cells`.
--counts measures edits of sessions, chunks, budgets, streams and counts instead, see
`never_slower_counts`.

FILE: a tokenizer.json; or a .tiktoken, of which the forms of a call are printed, see
`tiktoken_forms`. A cell is the time of the own call over the time of the door: above 1 tokpar
is faster. "first": the text is new to the encoder; "seen": the least of three more calls. The own
call is the least of three calls. A cell counts as slower below 0.9, unless the door takes at most
30 microseconds more. The ids of every door are compared with those of the own call. Prints the
worst rows; --csv writes all of them: docs/data/never_slower.csv. --gaps prints
instead how long other threads wait while each FILE is loaded and its tables are made, --forms the
forms of a call of `tokpar.as_tokenizers` and of `tokpar.as_hf`, see `tokenizers_forms` and
`hf_forms`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer
from tqdm import tqdm

import tokpar
from tests.benchmarks import hf_forms, refuse_without_kernel, tokenizers_forms
from tests.benchmarks.loading_gaps import print_gaps
from tests.benchmarks.never_slower_cells import SIZES, print_cells
from tests.benchmarks.never_slower_counts import SIZES as COUNTED_SIZES
from tests.benchmarks.never_slower_counts import print_counts
from tests.benchmarks.never_slower_texts import TEXTS, text_of
from tests.benchmarks.tiktoken_forms import print_forms

LEAST, SLACK = 0.9, 30e-6
SHOWN = 10
FILE_SIZES = [50, 500, 5000, 100_000]
COLUMNS = "tokenizer,added tokens,text,characters,door,call,own microseconds,tokpar microseconds"
Row = dict[str, Any]


def main() -> int:
    options = _options()
    if options.counts:
        return int(print_counts(options.sizes or COUNTED_SIZES, options.only) > 0)
    if not options.files:
        return int(print_cells(options.sizes or SIZES, options.only) > 0)
    if options.gaps:
        print_gaps(options.files)
        return 0
    rows: list[Row] = []
    for path in options.files:
        if path.suffix == ".tiktoken":
            print_forms(path)
            continue
        if options.forms:
            tokenizers_forms.print_forms(path)
            hf_forms.print_forms(path)
            continue
        for added in options.added:
            rows += _rows_of(path, added, options)
    slower = [row for row in rows if row["is_slower"]]
    for row in sorted(rows, key=lambda row: row["ratio"])[:SHOWN]:
        print(
            f"{row['ratio']:8.3f}  {row['tokenizer']} +{row['added']}  {row['text']} of "
            f"{row['size']:,}  {row['door']}, {row['call']}: {row['seconds'] * 1e6:,.0f} us, own "
            f"{row['own'] * 1e6:,.0f} us"
        )
    wrong = sum(not row["is_equal"] for row in rows)
    print(f"{len(rows):,} rows, {len(slower):,} slower, {wrong:,} with other ids")
    if options.csv:
        with options.csv.open("w", newline="", encoding="utf-8") as stream:
            written = csv.writer(stream, lineterminator="\n")
            written.writerow(COLUMNS.split(","))
            written.writerows(map(_written, rows))
    return int(bool(wrong))


def _written(row: Row) -> list[object]:
    about = [row[name] for name in ("tokenizer", "added", "text", "size", "door", "call")]
    return [*about, *(f"{row[name] * 1e6:.1f}" for name in ("own", "seconds"))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--added", type=_numbers, default=[0, 1000, 10000])
    parser.add_argument("--sizes", type=_numbers)
    parser.add_argument("--only", type=_names, default=[])
    parser.add_argument("--doors", type=_names, default=["encode", "batch", "as_hf"])
    parser.add_argument("--texts", type=_names, default=[*TEXTS])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--gaps", action="store_true")
    parser.add_argument("--forms", action="store_true")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [*map(int, text.split(","))]


def _names(text: str) -> list[str]:
    return text.split(",")


def _rows_of(path: Path, added: int, options: argparse.Namespace) -> Iterator[Row]:
    own = Tokenizer.from_file(str(path))
    own.no_truncation()
    own.no_padding()
    contents = [f"<extra_{k}>" for k in range(added)]
    own.add_tokens([AddedToken(content, normalized=False) for content in contents])
    doors = {name: DOORS[name](own) for name in options.doors}
    cells = [(text, size) for text in options.texts for size in options.sizes or FILE_SIZES]
    for name, size in tqdm(cells, desc=f"{path.parent.name or path.name} +{added}"):
        for door, (call, own_call) in doors.items():
            text = text_of(name, size, contents, seed=door)
            about = {"tokenizer": path.parent.name, "added": added, "text": name, "size": size}
            yield from _measured(about | {"door": door}, text, call, own_call)


def _measured(
    about: Row, text: str, call: Callable[[str], Any], own: Callable[[str], Any]
) -> Iterator[Row]:
    expected = own(text)
    least = min(_seconds(own, text) for _ in range(3))
    first, found = _timed(call, text)
    seen = min(_seconds(call, text) for _ in range(3))
    for name, seconds in (("first", first), ("seen", seen)):
        ratio = least / seconds
        yield about | {
            "call": name,
            "seconds": seconds,
            "own": least,
            "ratio": ratio,
            "is_slower": ratio < LEAST and seconds - least > SLACK,
            "is_equal": found == expected,
        }


def _timed(call: Callable[[str], Any], text: str) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(text)
    return time.perf_counter() - start, found


def _seconds(call: Callable[[str], Any], text: str) -> float:
    return _timed(call, text)[0]


Door = tuple[Callable[[str], Any], Callable[[str], Any]]


def _encode(own: Any) -> Door:
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    return lambda text: encoder.encode(text).ids.tolist(), lambda text: own.encode(text).ids


def _batch(own: Any) -> Door:
    encoder = tokpar.Encoder(own)
    encoder.prepare()

    def rows(text: str) -> Sequence[str]:
        return [text[k : k + 250] for k in range(0, len(text), 250)]

    return (
        lambda text: [row.ids.tolist() for row in encoder.encode_batch(rows(text))],
        lambda text: [each.ids for each in own.encode_batch(rows(text))],
    )


def _as_hf(own: Any) -> Door:
    from transformers import PreTrainedTokenizerFast

    original = PreTrainedTokenizerFast(tokenizer_object=own)
    fast = tokpar.as_hf(original)
    return lambda text: fast(text)["input_ids"], lambda text: original(text)["input_ids"]


DOORS: dict[str, Callable[[Any], Door]] = {"encode": _encode, "batch": _batch, "as_hf": _as_hf}


if __name__ == "__main__":
    refuse_without_kernel()
    sys.exit(main())
