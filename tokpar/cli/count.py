"""Count the ids that `tokpar encode` gives: one line per file, and their total.

Files are read and encoded part by part where the tokenizer has certified cuts. A file that cannot
be used is named on stderr, left out of the total, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from tokpar.arrays import IdArray
from tokpar.cli import options
from tokpar.cli.encodings import (
    TEXT,
    InputEncoder,
    Problems,
    blamed_on,
    input_encoder,
    inputs,
)
from tokpar.cli.options import print_json
from tokpar.cli.progress import bar_of
from tokpar.cli.screen import visible
from tokpar.cli.texts import STDIN, Source, byte_blocks, decoded, has_rows

PART_BYTES = 1 << 23


@dataclass
class Counted:
    """The counts of one file: ids and texts.

    `untruncated`: the ids without truncation and padding, or None if no text was truncated.
    `lossless`: False if any encoding is not certified."""

    ids: int = 0
    texts: int = 0
    untruncated: int | None = None
    lossless: bool = True


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_encoding(parser)


def run(arguments: argparse.Namespace) -> int:
    problems, counts, lossless = Problems(), list[int](), True
    names = inputs(arguments)
    with input_encoder(arguments, options.tokenizer_of(arguments)) as encoder:
        for name in names:
            with problems.of_input(name):
                counted = _counted(encoder, name)
                counts.append(counted.ids)
                lossless &= counted.lossless
                _print(arguments, name, counted)
    if len(names) > 1 and not arguments.json:
        print(f"{sum(counts)} total")
    return problems.code(lossless)


def _print(arguments: argparse.Namespace, name: str, counted: Counted) -> None:
    if not arguments.json:
        print(f"{counted.ids} {visible(name)}")
        return
    more = {"texts": counted.texts} if has_rows(name) else {}
    if counted.untruncated is not None:
        more["truncated_from"] = counted.untruncated
    print_json({"file": name, "ids_count": counted.ids, **more})


def _counted(encoder: InputEncoder, name: str) -> Counted:
    if _in_parts(encoder, name):
        return Counted(_of_parts(encoder, name), 1)
    counted = Counted()
    for _, encoding in encoder.encodings(name):
        counted.ids += len(encoding)
        counted.texts += 1
        counted.lossless &= encoding.lossless
        if encoder.may_truncate and encoding.truncated:
            counted.untruncated = (counted.untruncated or 0) + encoding.untruncated
    return counted


def _in_parts(encoder: InputEncoder, name: str) -> bool:
    """True if a file is one text, and all options are default ones that allow to encode it part by
    part."""
    from tokpar.streaming import encodes_parts

    asked = encoder.arguments
    usual = (asked.strategy, asked.executor, asked.option, asked.chunk_chars)
    if name == TEXT or has_rows(name) or usual != ("auto", "auto", None, None):
        return False
    return encodes_parts(encoder.tokenizer)


def _of_parts(encoder: InputEncoder, name: str) -> int:
    """The number of ids of a file. A few megabytes of it are in memory at a time
    (proofs/stream.md)."""
    from tokpar.streaming import stream_parts

    tokenizer, arguments = encoder.tokenizer, encoder.arguments

    def encode(text: str) -> IdArray:
        return encoder.row_encoder.unprocessed_batch([text], tokenizer).rows.ids

    size = None if name == STDIN else os.path.getsize(name)
    with bar_of(arguments, size, "B") as moved, blamed_on(Source(name, "")):
        blocks = byte_blocks(name, PART_BYTES, moved)
        return sum(map(len, stream_parts(decoded(blocks, name), tokenizer, encode)))
