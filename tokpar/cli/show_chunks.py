"""Divide texts into chunks of at most N tokens: one line of JSON per chunk.

Each line has the name of the text, `start` and `stop` (code points), the slice itself, and the ids
that the slice has alone, special tokens included. `certified` says that these ids, without special
tokens, are a slice of the ids of the whole text. The slices of a text tile it, or with --overlap
cover it. A file that cannot be used is named on stderr and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar.cli import options
from tokpar.cli.encodings import Problems, blamed_on, encoder_of, inputs, sources_in
from tokpar.cli.files import new_file
from tokpar.cli.options import json_line
from tokpar.cli.text_files import TextSource
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.chunks.text_chunk import TextChunk
    from tokpar.encoder import Encoder

BOUNDARIES = ("token", "cut", "line", "sentence")


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    add = parser.add_argument
    most = "the most ids of a chunk, special tokens included"
    add("--max-tokens", type=int, required=True, metavar="N", help=most)
    shared = "tokens that a chunk has in common with the next one"
    add("--overlap", type=int, default=0, metavar="N", help=shared)
    ends = f"where a chunk may end, one of {', '.join(BOUNDARIES)}; default: between two tokens"
    add("--boundary", choices=BOUNDARIES, default="token", metavar="WHERE", help=ends)
    add("--no-ids", action="store_true", help="write everything but the ids")
    add("--out", type=Path, metavar="FILE", help="write the lines there: .jsonl")
    options.declare_encoding(parser)


def run(arguments: argparse.Namespace) -> int:
    out, problems = arguments.out, Problems()
    if out is not None and out.suffix != ".jsonl":
        raise OptionError(f"--out {out}: expected a name ending in .jsonl")
    with encoder_of(arguments, options.tokenizer_of(arguments)) as encoder:
        lines = _lines(arguments, encoder, problems)
        if out is None:
            for line in lines:
                print(line)
        else:
            with new_file(out) as file:
                file.writelines(f"{line}\n".encode() for line in lines)
    return problems.code()


def _chunks(
    encoder: Encoder, source: TextSource, arguments: argparse.Namespace
) -> Iterator[TextChunk]:
    with blamed_on(source):
        yield from encoder.chunks(
            source.text, arguments.max_tokens, arguments.overlap, arguments.boundary
        )


def _lines(arguments: argparse.Namespace, encoder: Encoder, problems: Problems) -> Iterator[str]:
    total = 0
    for name in inputs(arguments):
        with problems.record_input(name):
            for source in sources_in(arguments, name):
                for chunk in _chunks(encoder, source, arguments):
                    row = {"file": source.name, "start": chunk.start, "stop": chunk.stop}
                    row |= {"ids_count": len(chunk.ids), "certified": chunk.certified}
                    row["text"] = source.text[chunk.start : chunk.stop]
                    if not arguments.no_ids:
                        row["ids"] = chunk.ids.tolist()
                    total += 1
                    yield json_line(row)
    if not arguments.quiet:
        print(f"{total:,} chunks of at most {arguments.max_tokens:,} tokens", file=sys.stderr)
