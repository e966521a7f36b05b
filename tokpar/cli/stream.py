"""Print the ids of a text while it arrives, each as soon as nothing that follows can change it.

Reads what is there, encodes, prints one line of ids, and reads on; all lines together are the ids
that `tokpar encode` prints. How soon depends on the tokenizer: see docs/streaming.md. For a text
that waits for nobody `tokpar encode` is much faster: here one core encodes about 1 MB/s. Each row
of a .jsonl is a text of its own; an empty line stands between two.
"""

import argparse
from collections.abc import Iterable, Iterator

from tokpar.cli import options
from tokpar.cli.encodings import blamed_on
from tokpar.cli.options import OR_STDIN
from tokpar.cli.text_files import (
    STDIN,
    TextSource,
    byte_blocks,
    decode_blocks,
    has_rows,
    read_sources,
)

BYTES = 1 << 16


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default=STDIN, metavar="FILE", help=OR_STDIN)
    options.declare_field(parser)
    options.declare_tokenizer(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar.encoder import Encoder

    encoder = Encoder(options.tokenizer_of(arguments))
    for number, (name, chunks) in enumerate(_texts(arguments)):
        if number:
            print()
        with blamed_on(TextSource(name, "")):
            for ids in encoder.stream(chunks):
                print(*ids.tolist(), flush=True)
    return 0


def _texts(arguments: argparse.Namespace) -> Iterator[tuple[str, Iterable[str]]]:
    """Each text: its name, and an iterator of the parts of it that have arrived."""
    name = arguments.file
    if has_rows(name):
        for source in read_sources(name, arguments.field):
            yield source.name, [source.text]
    else:
        yield name, decode_blocks(byte_blocks(name, BYTES), name)
