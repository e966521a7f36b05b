"""Reads ``.tiktoken`` files, and parses a ``tokenizer.json``. Refuses a broken file with a
FileFormatError.

A ``.tiktoken`` file lists only tokens and ranks; a rank is both the id and the priority. The regex
and the special tokens of a tiktoken encoding are in code (`tokpar.files.openai`)."""

import base64
import binascii
import json
import os
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tokpar.errors import FileFormatError
from tokpar.files.format_upgrade import as_format_one
from tokpar.files.vocabulary import Ranks

Source = str | os.PathLike[str]
Spelling = TypeVar("Spelling", str, bytes)

SINGLE_BYTES = [bytes([byte]) for byte in range(256)]
MAX_ID = 2**32 - 1
_NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})  # bytes that UTF-8 does not have


def read_ranks(path: Source) -> Ranks:
    """Returns token -> rank of a ``.tiktoken`` file, in the order of the file.

    Raises FileFormatError, with the number of the line, for a line that is not a base64 token, a
    space and a rank, and for a repeated token or rank. Also raises it if a single byte of UTF-8 has
    no rank."""
    ranks: Ranks = {}
    line_of: dict[int, int] = {}
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if not line:
            continue
        where = f"{path}, line {number}"
        token, rank = _parse_rank_line(line, where)
        if rank in line_of:
            raise FileFormatError(f"{where}: rank {rank} is already that of line {line_of[rank]}")
        if token in ranks:
            first = line_of[ranks[token]]
            raise FileFormatError(f"{where}: token {token!r} is already that of line {first}")
        ranks[token] = rank
        line_of[rank] = number
    require_bytes(SINGLE_BYTES, ranks, str(path))
    return ranks


def _parse_rank_line(line: bytes, where: str) -> tuple[bytes, int]:
    fields = line.split(b" ")
    expected = f"{where}: expected a base64 token, one space and a rank, got {line[:60]!r}"
    if len(fields) != 2 or not fields[0] or not fields[1].isdigit() or len(fields[1]) > 10:
        raise FileFormatError(expected)
    try:
        token = base64.b64decode(fields[0], validate=True)
    except binascii.Error as error:
        raise FileFormatError(f"{expected} ({error})") from error
    rank = int(fields[1])
    if rank > MAX_ID:
        raise FileFormatError(f"{where}: rank {rank} does not fit into 32 bits")
    return token, rank


def require_bytes(spellings: Sequence[Spelling], tokens: Container[Spelling], where: str) -> None:
    """Raises FileFormatError if one of the 256 bytes, spelled as in `spellings`, is not among the
    tokens. Bytes that UTF-8 never has may be missing."""
    if missing := missing_bytes(spellings, tokens):
        raise FileFormatError(
            f"{where}: expected a token for each byte of UTF-8, {len(missing)} are missing, "
            f"the first is 0x{missing[0]:02x} ({spellings[missing[0]]!r})"
        )


def missing_bytes(spellings: Iterable[Spelling], tokens: Container[Spelling]) -> list[int]:
    """Returns the bytes of UTF-8 that are not among the tokens. `spellings`: of all 256 bytes."""
    return [k for k, token in enumerate(spellings) if token not in tokens and k not in _NEVER]


def read_object(path: Source) -> dict[str, Any]:
    """Returns a parsed JSON file. Raises FileFormatError if it is not UTF-8, or no JSON object."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: expected UTF-8 text ({error})") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{path}: line {error.lineno}: expected JSON ({error.msg})") from None
    except RecursionError as error:
        raise FileFormatError(f"{path}: expected JSON ({error})") from None
    if not isinstance(data, dict):
        raise FileFormatError(f"{path}: expected an object, got {type(data).__name__}")
    return data


def read_config(path: Source) -> dict[str, Any]:
    """Returns a parsed ``tokenizer.json``, in format 1.0 (see `as_format_one`). Raises
    FileFormatError if it is not UTF-8, or not a JSON object with a "model"."""
    data = read_object(path)
    if not isinstance(data.get("model"), dict):
        raise FileFormatError(f'{path}: expected an object with a "model"')
    if not isinstance(data.get("added_tokens") or [], list):
        raise FileFormatError(f"{path}: added tokens: expected a list")
    return as_format_one(data)
