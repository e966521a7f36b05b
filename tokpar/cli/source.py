"""Where the text comes from: files, standard input or the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tokpar.errors import FileFormatError, OptionError

STDIN = "-"
OR_STDIN = 'UTF-8 text; "-" is standard input, the default'


@dataclass(frozen=True)
class Source:
    """One text and the name to report it under: a path, "-" or "--text"."""

    name: str
    text: str


def declare_sources(parser: argparse.ArgumentParser) -> None:
    """Any number of files, "-", or --text."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=OR_STDIN)
    parser.add_argument("--text", help="use this text instead of files")


def declare_source(parser: argparse.ArgumentParser) -> None:
    """Exactly one file or "-"."""
    parser.add_argument("file", metavar="FILE", help='UTF-8 text; "-" is standard input')


def sources(arguments: argparse.Namespace) -> Iterator[Source]:
    """The texts in the order given, each read when its turn comes."""
    if arguments.text is not None:
        if arguments.files:
            raise OptionError("give either files or --text, not both")
        yield Source("--text", _argument(arguments.text))
        return
    if arguments.files.count(STDIN) > 1:
        raise OptionError('standard input can be read once, got "-" twice')
    if not arguments.files and sys.stdin.isatty():
        raise OptionError('no text: give files, "-" for standard input, or --text')
    for name in arguments.files or [STDIN]:
        yield read_source(name)


def read_source(name: str) -> Source:
    """The text of a file, or of standard input for "-": every byte of it, newlines as they are.

    Raises OSError if it cannot be read, FileFormatError if it is not UTF-8.
    """
    data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        where = "standard input" if name == STDIN else name
        raise FileFormatError(
            f"{where}: expected UTF-8 text, byte {error.start:,} is "
            f"0x{data[error.start]:02x} ({error.reason})"
        ) from None


def _argument(text: str) -> str:
    """Bytes of an argument that are not UTF-8 arrive as lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise OptionError("--text: expected UTF-8; read such bytes from a file instead") from None
    return text
