"""Print the ids of a text while it arrives, each as soon as nothing that follows can change it.

Reads what is there, encodes, prints one line of ids, and reads on; all lines together are the ids
that `tokpar encode` prints. How soon depends on the tokenizer: see docs/streaming.md.
"""

import argparse
import codecs
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from tokpar.cli import options
from tokpar.cli.options import OR_STDIN, STDIN, Source
from tokpar.errors import FileFormatError

BYTES = 1 << 16


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default=STDIN, metavar="FILE", help=OR_STDIN)
    options.declare_tokenizer(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar.calls import stream

    with options.blamed_on(Source(arguments.file, "")):
        for ids in stream(_texts(arguments.file), options.tokenizer_of(arguments)):
            print(*ids.tolist(), flush=True)
    return 0


def _texts(name: str) -> Iterator[str]:
    """What has arrived, again and again; a character that is not complete waits for its end."""
    decoder, final = codecs.getincrementaldecoder("utf-8")(), False
    with nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb") as file:
        read = getattr(file, "read1", file.read)
        while not final:
            data = read(BYTES)
            final = not data
            try:
                text = decoder.decode(data, final)
            except UnicodeDecodeError as error:
                where = "standard input" if name == STDIN else name
                raise FileFormatError(
                    f"{where}: expected UTF-8 text, got the byte "
                    f"0x{error.object[error.start]:02x} ({error.reason})"
                ) from None
            yield text
