"""Count the ids that `tokpar encode` gives: one line per file, and their total.

Files are read and encoded part by part where the tokenizer has certified cuts. A file that cannot
be used is named on stderr, left out of the total, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

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
from tokpar.cli.text_files import STDIN, TextSource, byte_blocks, decode_blocks, has_rows

PART_BYTES = 1 << 23


@dataclass
class FileCount:
    """The counts of one file: ids and texts.

    `untruncated_ids`: the ids without truncation and padding, or None if no text was truncated.
    `lossless`: False if any encoding is not certified."""

    ids: int = 0
    texts: int = 0
    untruncated_ids: int | None = None
    lossless: bool = True


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_encoding(parser)
    options.declare_trust(parser)


def run(arguments: argparse.Namespace) -> int:
    problems, counts, lossless = Problems(), list[int](), True
    names = inputs(arguments)
    with input_encoder(arguments, options.tokenizer_of(arguments)) as encoder:
        for name in names:
            with problems.record_input(name):
                file_count = _count_file(encoder, name)
                counts.append(file_count.ids)
                lossless &= file_count.lossless
                _print(arguments, name, file_count)
    if len(names) > 1 and not arguments.json:
        print(f"{sum(counts)} total")
    return problems.code(lossless)


def _print(arguments: argparse.Namespace, name: str, file_count: FileCount) -> None:
    if not arguments.json:
        print(f"{file_count.ids} {visible(name)}")
        return
    more = {"texts": file_count.texts} if has_rows(name) else {}
    if file_count.untruncated_ids is not None:
        more["truncated_from"] = file_count.untruncated_ids
    print_json({"file": name, "ids_count": file_count.ids, **more})


def _count_file(encoder: InputEncoder, name: str) -> FileCount:
    if _counts_in_parts(encoder, name):
        return FileCount(_count_parts(encoder, name), 1)
    file_count = FileCount()
    for _, encoding in encoder.encodings(name):
        file_count.ids += len(encoding)
        file_count.texts += 1
        file_count.lossless &= encoding.lossless
        if encoder.may_truncate and encoding.truncated:
            file_count.untruncated_ids = (file_count.untruncated_ids or 0) + encoding.untruncated
    return file_count


def _counts_in_parts(encoder: InputEncoder, name: str) -> bool:
    """True if a file is one text, and all options are default ones that allow to encode it part by
    part."""
    from tokpar.sessions.streaming import encodes_parts

    asked = encoder.arguments
    usual = (asked.strategy, asked.executor, asked.option, asked.chunk_chars, asked.untrusted)
    if name == TEXT or has_rows(name) or usual != ("auto", "auto", None, None, False):
        return False
    return encodes_parts(encoder.tokenizer)


def _count_parts(encoder: InputEncoder, name: str) -> int:
    """The number of ids of a file. A few megabytes of it are in memory at a time
    (proofs/stream.md)."""
    size = None if name == STDIN else os.path.getsize(name)
    with bar_of(encoder.arguments, size, "B") as moved, blamed_on(TextSource(name, "")):
        blocks = byte_blocks(name, PART_BYTES, moved)
        return sum(map(len, encoder.encoder.stream(decode_blocks(blocks, name))))
