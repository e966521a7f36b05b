"""Reads ``.tiktoken`` files, and parses a ``tokenizer.json``. Refuses a broken file with a
FileFormatError.

A ``.tiktoken`` file lists only tokens and ranks; a rank is both the id and the priority. The regex
and the special tokens of a tiktoken encoding are in code (`tokpar.formats.openai`)."""

import base64
import json
import os
from binascii import a2b_base64
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tokpar.errors import FileFormatError, quoted
from tokpar.formats.format_upgrade import as_format_one
from tokpar.formats.vocabulary import Ranks

Source = str | os.PathLike[str]
Spelling = TypeVar("Spelling", str, bytes)

SINGLE_BYTES = [bytes([byte]) for byte in range(256)]
MAX_ID = 2**32 - 1
_NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})  # bytes that UTF-8 does not have


def read_ranks(path: Source) -> Ranks:
    """Returns token -> rank of a ``.tiktoken`` file, as `tiktoken.load.load_tiktoken_bpe` does: a
    token is what Python's lenient base64 decodes, so ``=`` is the token of no bytes; of equal
    tokens the last one counts.

    Raises FileFormatError, with the number of the line, for a line that is not a token and a rank,
    and for a repeated rank. Also raises it if a single byte of UTF-8 has no rank."""
    lines = Path(path).read_bytes().splitlines()
    ranks = _ranks_of(lines)
    if ranks is None:
        ranks = _ranks_line_by_line(lines, path)
    require_bytes(SINGLE_BYTES, ranks, str(path))
    return ranks


def _ranks_of(lines: Sequence[bytes]) -> Ranks | None:
    """Returns token -> rank, or None if a line is refused or repeats a token."""
    try:
        fields = [line.split() for line in lines if line]
        ranks = {a2b_base64(token): int(rank) for token, rank in fields}
    except ValueError:  # also for a line that has not two fields
        return None
    used = {*ranks.values()}
    is_right = len(used) == len(fields) and min(used, default=0) >= 0
    return ranks if is_right and max(used, default=0) <= MAX_ID else None


def _ranks_line_by_line(lines: Sequence[bytes], path: Source) -> Ranks:
    """Returns token -> rank, or raises FileFormatError with the number of the line."""
    ranks: Ranks = {}
    line_of: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        if line:
            try:
                token, rank = _parse_rank_line(line, f"{path}, line {number}")
            except FileFormatError as error:
                raise _refused(path, str(error)) from error
            ranks[token] = rank
            line_of[token] = number
    _require_one_token_each(ranks, line_of, path)
    return ranks


def _parse_rank_line(line: bytes, where: str) -> tuple[bytes, int]:
    expected = f"{where}: expected a base64 token, one space and a rank, got {line[:60]!r}"
    fields = line.split()
    if len(fields) != 2:
        raise FileFormatError(expected)
    try:
        token, rank = base64.b64decode(fields[0]), int(fields[1])
    except ValueError as error:  # binascii.Error is one
        raise FileFormatError(f"{expected} ({error})") from error
    if not 0 <= rank <= MAX_ID:
        raise FileFormatError(f"{where}: rank {rank} does not fit into 32 bits")
    return token, rank


def _require_one_token_each(ranks: Ranks, line_of: Mapping[bytes, int], path: Source) -> None:
    """Raises FileFormatError if two tokens have one rank, with which tiktoken makes no encoding."""
    token_of: dict[int, bytes] = {}
    for token, rank in ranks.items():
        first = token_of.setdefault(rank, token)
        if first != token:
            earlier, later = sorted((line_of[first], line_of[token]))
            raise FileFormatError(
                f"{path}, line {later}: rank {rank} is already that of line {earlier}"
            )


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


def _refused(path: Source, said: str) -> FileFormatError:
    """Returns the error of a file, which names its kind if that is known."""
    from tokpar.formats.foreign_files import and_its_kind  # only an error needs it

    return FileFormatError(said + and_its_kind(path))


def read_object(path: Source) -> dict[str, Any]:
    """Returns a parsed JSON file. Raises FileFormatError if it is not UTF-8, or no JSON object."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise _refused(path, f"{path}: expected UTF-8 text ({quoted(error)})") from None
    except json.JSONDecodeError as error:
        said = f"{path}: line {error.lineno}: expected JSON ({error.msg})"
        raise _refused(path, said) from None
    except RecursionError as error:
        raise FileFormatError(f"{path}: expected JSON ({error})") from None
    if not isinstance(data, dict):
        raise _refused(path, f"{path}: expected an object, got {type(data).__name__}")
    return data


def read_config(path: Source) -> dict[str, Any]:
    """Returns a parsed ``tokenizer.json``, in format 1.0 (see `as_format_one`). Raises
    FileFormatError if it is not UTF-8, or not a JSON object with a "model"."""
    data = read_object(path)
    if not isinstance(data.get("model"), dict):
        raise _refused(path, f'{path}: expected an object with a "model"')
    if not isinstance(data.get("added_tokens") or [], list):
        raise FileFormatError(f"{path}: added tokens: expected a list")
    return as_format_one(data)
