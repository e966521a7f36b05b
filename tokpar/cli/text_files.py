"""Texts in files: one text, or one text per row of a .jsonl, also .gz and .zst, and the field of a
row that holds the text."""

from __future__ import annotations

import codecs
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tokpar.errors import FileFormatError, OptionError
from tokpar.process.optional_packages import optional_package

STDIN = "-"
ROW_SUFFIXES = (".jsonl", ".ndjson")
COMPRESSED_SUFFIXES = (".gz", ".zst")
BLOCK_BYTES = 1 << 20
WINDOW_LOG = 31
"""A .zst whose frames refer back up to 2**31 bytes (`zstd --long=31`) is read. Source: RFC 8878."""
FIELDS = ("text", "content", "prompt", "body", "document", "code")
"""Names of the field that holds the text of a row; the first one that the row has is used."""
RULE = f"the first of {', '.join(FIELDS)}, or the only string among numbers"
"""Which field is taken if the caller names none."""

OnBadRow = Callable[[FileFormatError], object]


@dataclass(frozen=True)
class TextSource:
    """One text, and the name for reports: a path, "rows.jsonl:3", "-" or "--text"."""

    name: str
    text: str


def has_rows(name: str) -> bool:
    """True for a file with one text per row: "a.jsonl", "a.ndjson.gz"."""
    return _strip_compression(name).endswith(ROW_SUFFIXES)


def read_source(name: str) -> TextSource:
    """The one text of a file, or of standard input for "-". Newlines are not changed.

    Raises OSError if the file cannot be read, FileFormatError if it is not UTF-8."""
    return TextSource(name, "".join(decode_blocks(byte_blocks(name), name)))


def read_sources(
    name: str,
    field: str | None = None,
    on_bad_row: OnBadRow | None = None,
    on_read: Callable[[int], object] | None = None,
    on_field: Callable[[str], object] | None = None,
) -> Iterator[TextSource]:
    """The text of each row of a .jsonl, or the one text of another file. A row is read when the
    iterator reaches it.

    `field`: the name of the text in a row, "data.text" for a nested one. None: the field that the
    first good row tells (`tokpar.text_field`), with which `on_field` is called.
    `on_bad_row`: called with the FileFormatError of a bad row; without it the error is raised. Also
    raises OSError."""
    if not has_rows(name):
        yield read_source(name)
        return
    for number, line in enumerate(_lines(byte_blocks(name, BLOCK_BYTES, on_read)), start=1):
        if not line.strip():
            continue
        try:
            row = _parse_row(line)
            own = field or _field_of(row)
            text = _text_of(row, own)
        except ValueError as error:
            problem = FileFormatError(f"{name}:{number}: {error}")
            if on_bad_row is None:
                raise problem from None
            on_bad_row(problem)
        else:
            if field is None and on_field is not None:
                on_field(own)
            field = own
            yield TextSource(f"{name}:{number}", text)


def byte_blocks(
    name: str, size: int = BLOCK_BYTES, on_read: Callable[[int], object] | None = None
) -> Iterator[bytes]:
    """The uncompressed bytes of a file, or of standard input, as they arrive.

    `on_read`: called after each block with the number of bytes of the file that were read for it.
    Raises OSError; FileFormatError for a damaged .gz or .zst; OptionError if no package that reads
    .zst is installed, and for a directory."""
    if name != STDIN and Path(name).is_dir():
        raise OptionError(
            f"{name} is a directory: name its files, such as {Path(name) / '*.jsonl'}; `tokpar "
            "corpus build` takes directories"
        )
    with nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb") as file:
        seen = 0
        for block in uncompressed_blocks(file, name, size):
            yield block
            if on_read is not None and name != STDIN:
                on_read(file.tell() - seen)
                seen = file.tell()


def decode_blocks(blocks: Iterable[bytes], name: str) -> Iterator[str]:
    """The text of blocks of UTF-8 bytes. An incomplete character at the end of a block waits for
    the next block.

    Raises FileFormatError that names the first bad byte."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    start = 0
    for data, final in _with_end(blocks):
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final)
        except UnicodeDecodeError as error:
            where = "standard input" if name == STDIN else name
            place = start - waiting + error.start
            raise FileFormatError(
                f"{where}: expected UTF-8 text, byte {place:,} is "
                f"0x{error.object[error.start]:02x} ({error.reason})"
            ) from None
        start += len(data)
        yield text


def _with_end(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for data in blocks:
        yield data, False
    yield b"", True


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of the blocks, without their newlines. Only "\\n" ends a line."""
    parts: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        parts.append(first)
        for line in others:
            yield b"".join(parts)
            parts = [line]
    yield b"".join(parts)


def _parse_row(line: bytes) -> dict[str, Any]:
    """The JSON object of one row. Raises ValueError that says what was expected; so do `_field_of`
    and `_text_of`."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected a JSON object in UTF-8 ({error})") from error
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object with a 'text', got a {type(row).__name__}")
    return row


def _field_of(row: dict[str, Any]) -> str:
    field = choose_field({name: kind_of(value) for name, value in row.items()})
    if field is None:
        expected = f"expected a JSON object with a str as one of {', '.join(map(repr, FIELDS))}"
        raise ValueError(f"{expected}; {_got(row)}")
    return field


def _text_of(row: dict[str, Any], field: str) -> str:
    text = value_of(row, field)
    if not isinstance(text, str):
        raise ValueError(f"expected a JSON object with a str as {field!r}; {_got(row)}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("expected text that has a UTF-8 form, got a lone surrogate") from None
    return text


def _got(row: dict[str, Any]) -> str:
    kinds = {name: type(value).__name__ for name, value in row.items()}
    return f"its fields: {shown_fields(kinds)} (--field NAME chooses one)"


def _strip_compression(name: str) -> str:
    return name.removesuffix(next((end for end in COMPRESSED_SUFFIXES if name.endswith(end)), ""))


def uncompressed_blocks(file: Any, name: str, size: int) -> Iterator[bytes]:
    """Yields the uncompressed bytes of an open file, as they arrive. `name` tells the compression.

    Raises OSError; FileFormatError for a damaged .gz or .zst, OptionError without a package that
    reads .zst."""
    if name.endswith(".gz"):
        try:
            yield from blocks_of(gzip.GzipFile(fileobj=file), size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileFormatError(f"{name}: expected a complete .gz file ({error})") from None
    elif name.endswith(".zst"):
        yield from _decompressed_zst(blocks_of(file, size), name)
    else:
        yield from blocks_of(file, size)


def blocks_of(file: Any, size: int) -> Iterator[bytes]:
    """Yields the rest of an open file, at most `size` bytes at a time."""
    read = getattr(file, "read1", file.read)  # what has arrived, without waiting for more
    while data := read(size):
        yield data


def _decompressed_zst(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Decompress frame by frame. Readers of whole files do not report a file that is cut off."""
    new_decompressor, failure = _zstd(name)
    decompressor: Any = None
    for block in blocks:
        data = block
        while data:
            decompressor = decompressor or new_decompressor()
            try:
                yield decompressor.decompress(data)
            except failure as error:
                raise FileFormatError(f"{name}: expected a .zst file ({error})") from None
            data = decompressor.unused_data if decompressor.eof else b""
            decompressor = None if decompressor.eof else decompressor
    if decompressor is not None:
        raise FileFormatError(f"{name}: expected a complete .zst file, it ends within a frame")


def _zstd(name: str) -> tuple[Callable[[], Any], type[Exception]]:
    """Returns a function that makes a decompressor of one frame, and the exception it raises."""
    try:
        module: Any = import_module("compression.zstd")  # Python 3.14
        options = {module.DecompressionParameter.window_log_max: WINDOW_LOG}
        return (lambda: module.ZstdDecompressor(options=options)), module.ZstdError
    except ImportError:
        pass
    module = optional_package("zstandard", f"{name}, a .zst file,")
    most = 1 << WINDOW_LOG
    make = module.ZstdDecompressor
    return (lambda: make(max_window_size=most).decompressobj()), module.ZstdError


def choose_field(kinds: Mapping[str, str]) -> str | None:
    """Returns the field that holds the text, or None if the row does not tell.

    `kinds`: the fields of a row -> "str", "number", or the name of another type. A string that is
    no name of `FIELDS` is taken only beside numbers: beside a list or an object, which may hold the
    text, it may be the id of the document."""
    for name in FIELDS:
        if kinds.get(name) == "str":
            return name
    strings = [name for name, kind in kinds.items() if kind == "str"]
    others = set(kinds.values()) - {"str", "number"}
    return strings[0] if len(strings) == 1 and not others else None


def kind_of(value: Any) -> str:
    """Returns the kind of a value of JSON, as `choose_field` takes it."""
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def path_of(field: str) -> list[str]:
    """Returns the names that lead to a nested value: "data.text" -> ["data", "text"]."""
    return field.split(".")


def value_of(row: Mapping[str, Any], field: str) -> Any:
    """Returns the value of a field, or None. "data.text" is the field of this very name, or else
    the field "text" of the object "data"."""
    value = row.get(field)
    if value is None and "." in field:
        value = row
        for name in path_of(field):
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def shown_fields(kinds: Mapping[str, str], most: int = 8) -> str:
    """Returns the fields of a row for an error message: "'id' (int), 'messages' (list)"."""
    shown = [f"{name!r} ({kind})" for name, kind in list(kinds.items())[:most]]
    shown += ["..."] if len(kinds) > most else []
    return ", ".join(shown) or "none"
