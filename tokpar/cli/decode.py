"""Decode ids: exactly the text on standard output, in UTF-8; a terminal gets a newline after it."""

import argparse
import json
import re
import sys
from pathlib import Path

from tokpar.cli.options import declare_tokenizer, tokenizer_of
from tokpar.cli.progress import working
from tokpar.cli.standard_streams import write_exactly
from tokpar.cli.text_files import STDIN, read_source
from tokpar.errors import FileFormatError, OptionError

_SEPARATORS = re.compile(r"[\s,\[\]]+")
_MOST = 2**32
IDS_PER_SECOND = 4e6
"""Roughly the speed at which engines decode; used to predict how long a call takes."""


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help='numbers; "-" is standard input, the default')
    add("--file", metavar="FILE", help="read the ids from a .npy, .txt or .json file instead")
    declare_tokenizer(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar.encoder import Encoder

    where, ids = _ids(arguments)
    wrong = next((id_ for id_ in ids if not 0 <= id_ < _MOST), None)
    if wrong is not None:
        raise OptionError(f"{where}: an id is a number from 0 to {_MOST - 1:,}, got {wrong}")
    expected = len(ids) / IDS_PER_SECOND
    with Encoder(tokenizer_of(arguments)) as encoder, working(arguments, "decoding", expected):
        try:
            text = encoder.decode(ids)
        except LookupError as error:
            raise OptionError(str(error.args[0]) if error.args else "ids unknown") from error
    write_exactly(text)
    return 0


def _ids(arguments: argparse.Namespace) -> tuple[str, list[int]]:
    if arguments.file is not None:
        if arguments.ids:
            raise OptionError("give either ids or --file, not both")
        where = arguments.file
        if Path(where).suffix == ".npy":
            return where, _read_array(where)
        text = read_source(where).text
    elif arguments.ids in ([], [STDIN]):
        if not arguments.ids and sys.stdin.isatty():
            raise OptionError('no ids: give numbers, "-" for standard input, or --file')
        where, text = "standard input", read_source(STDIN).text
    else:
        where, text = "arguments", " ".join(arguments.ids)
    return where, _parse_ids(text, where)


def _read_array(name: str) -> list[int]:
    import numpy as np

    try:
        with open(name, "rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{name}: expected a .npy array ({error})") from error
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FileFormatError(
            f"{name}: expected integers in one dimension, got {array.dtype}, shape {array.shape}"
        )
    ids: list[int] = array.tolist()
    return ids


def _parse_ids(text: str, where: str) -> list[int]:
    """The ids in `text`: numbers separated by white space or commas, or the object that `encode
    --json` prints."""
    if text.lstrip().startswith("{"):
        try:
            ids = json.loads(text)["ids"]
        except (ValueError, KeyError) as error:
            raise FileFormatError(f'{where}: expected an object with "ids" ({error})') from error
        if not isinstance(ids, list) or not all(type(id_) is int for id_ in ids):
            raise FileFormatError(f'{where}: "ids" must be a list of whole numbers')
        return ids
    words = [word for word in _SEPARATORS.split(text) if word]
    strange = next((word for word in words if not (word.isascii() and word.isdigit())), None)
    if strange is not None:
        raise OptionError(f"{where}: expected ids, got {strange[:40]!r}")
    return [int(word) for word in words]
