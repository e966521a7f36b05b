"""What tokpar remembers of texts, against each engine's own calls and other engines, in one run.

    python -m tests.benchmarks.remembered --vocab DIR --texts FILE [--chinese FILE] [--code FILE]
        [--files DIR] [--only NAMES] [--kinds NAMES] [--states cold,warm,seen] [--parts NAMES]
        [--turns 5] [--size 8000000] [--others 1000000] [--markdown OUT] [--json OUT]

DIR of --vocab holds deepseek.json, bert.json, cl100k_base.tiktoken and o200k_base.tiktoken; DIR of
--files holds tokenizers of SentencePiece, as tokenizer.json under the names in `remembered_sides`,
or as .model for the plugin tokpar-sentencepiece; what is missing is left out. FILE is a text, or a
.jsonl with a "text" in each row.

Texts: English, --size code points of it as one text, then in documents of 2,000; of the other
kinds --others code points, or what the file has: Chinese; source code (the standard library's
without --code); base64 and minified JSON, whose stretches never repeat.

cold    a new object's first call
warm    the second half of the text (of the documents) after the first half
seen    the same text again, with objects that are kept

In each state all objects have seen the same: own calls, other engines and tokpar, whose two calls
are in the middle of a turn (own, others, tokpar, tokpar, others, own). Ids are arrays on all sides.
Loading is not timed. A ratio is the median of the turns' (quartiles); above 1 tokpar is faster.
tokpar's `encode` and `encode_batch` give the certificate with the ids. "tokpar without memory",
beside texts that never repeat, is the straight way. MB are of UTF-8.

The ids of all calls are compared with the own call's, which for other engines may have special
tokens around them, and `tokpar.check` judges a result of tokpar in each row: a row whose ids differ
is named and not shown, and the exit code is 1. Another engine whose ids differ is left out.

Then two threads and one, on the text seen; and bytes: of the table that the memory holds after the
text, and the most that a call takes beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.machine import provenance
from tests.benchmarks.parity import DifferError
from tests.benchmarks.remembered_bytes import held
from tests.benchmarks.remembered_rows import Sides, measured, threads
from tests.benchmarks.remembered_sides import STATES, Text, every_subject
from tests.benchmarks.remembered_tables import Found, line, markdown
from tests.benchmarks.speed import minified
from tests.benchmarks.speed_engines import Subject, peers
from tests.benchmarks.texts import (
    documents,
    in_base64,
    long_text,
    read_texts,
    standard_library,
    text_hash,
)

ENGLISH, DOCUMENTS = "English", "English in documents"
KINDS = (ENGLISH, DOCUMENTS, "Chinese", "code", "base64", "minified JSON")
PARTS = ("speed", "threads", "bytes")
DOCUMENT = 2_000


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    texts = [text for text in _texts(args) if text.kind in args.kinds]
    about = provenance(sys.argv) | {
        "texts": {text.kind: text_hash("".join(text.texts)) for text in texts}
    }
    found: list[Found] = []
    differing = 0
    for subject in every_subject(args.vocab, args.files, args.only):
        for name, job in _jobs(subject, texts, args):
            print(f"{subject.name}, {name} ...", file=sys.stderr, flush=True)
            try:
                found.append(job())
            except DifferError as error:
                differing += 1
                print(f"left out: {error}", file=sys.stderr, flush=True)
                continue
            print(f"    {line(found[-1])}", file=sys.stderr, flush=True)
            _write(args, about, found)
    _write(args, about, found)
    print(markdown(found, about), end="")
    return 1 if differing else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.remembered",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--vocab", type=Path, required=True, metavar="DIR")
    add("--texts", type=Path, required=True, metavar="FILE", help="English")
    add("--chinese", type=Path, metavar="FILE")
    add("--code", type=Path, metavar="FILE")
    add("--files", type=Path, metavar="DIR", help="of tokenizers of SentencePiece")
    add("--only", default="", metavar="NAMES", help="of tokenizers, or parts of them, by comma")
    add("--kinds", default=",".join(KINDS), metavar="NAMES", help="of texts, by comma (all)")
    add("--states", default=",".join(STATES), metavar="NAMES", help="by comma (all)")
    add("--parts", default=",".join(PARTS), metavar="NAMES", help="speed, threads, bytes (all)")
    add("--turns", type=int, default=5, metavar="N", help="of each row (5)")
    add("--size", type=int, default=8_000_000, metavar="CHARS", help="of English (8,000,000)")
    add("--others", type=int, default=1_000_000, metavar="CHARS", help="of the others (1,000,000)")
    add("--markdown", type=Path, metavar="OUT", help="the tables, also printed")
    add("--json", type=Path, metavar="OUT", help="all figures, and how they were made")
    args = parser.parse_args(argv)
    for name, known in (("kinds", KINDS), ("states", STATES), ("parts", PARTS)):
        asked = getattr(args, name).split(",")
        setattr(args, name, asked)
        if unknown := set(asked) - set(known):
            parser.error(f"--{name} are {', '.join(known)}, got {', '.join(sorted(unknown))}")
    args.only = [name for name in args.only.split(",") if name]
    if min(args.turns, args.size, args.others) < 1:
        parser.error("--turns, --size and --others must be at least 1")
    return args


def _texts(args: argparse.Namespace) -> Iterator[Text]:
    english = long_text(read_texts(args.texts), args.size)
    yield Text(ENGLISH, [english])
    yield Text(DOCUMENTS, documents(english, DOCUMENT), together=True)
    if args.chinese:
        yield Text("Chinese", ["\n".join(read_texts(args.chinese))[: args.others]])
    code = "\n".join(read_texts(args.code)) if args.code else standard_library()
    yield Text("code", [code[: args.others]])
    yield Text("base64", [in_base64(args.others)])
    yield Text("minified JSON", [minified(args.others)])


def _jobs(
    subject: Subject, texts: Sequence[Text], args: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], Found]]]:
    """By name."""
    others = peers(subject) if "speed" in args.parts else {}
    for text in texts:
        if "speed" in args.parts:
            sides = Sides.of(subject, others, text)
            for state in args.states:
                job = partial(measured, subject, sides, text, state, args.turns)
                yield f"{text.kind}, {state}", job
        if "threads" in args.parts and text.kind in (ENGLISH, DOCUMENTS):
            yield f"{text.kind}, threads", partial(threads, subject, text, args.turns)
        if "bytes" in args.parts:
            yield f"{text.kind}, bytes", partial(held, subject, text)


def _write(args: argparse.Namespace, about: dict[str, Any], found: Sequence[Found]) -> None:
    """After each row, so that an interrupt keeps what was measured."""
    if args.json:
        rows = [{"part": type(each).__name__.lower(), **asdict(each)} for each in found]
        record = {"provenance": about, "rows": rows}
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if args.markdown:
        args.markdown.write_text(markdown(found, about), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
