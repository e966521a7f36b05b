"""Reads documents from parquet and Arrow files: one document for each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from tokpar.arrays import byte_length
from tokpar.corpus.build_options import Memory
from tokpar.corpus.document_blocks import MISSING, NO_STRING, NO_UTF8, Block, Fault
from tokpar.corpus.extras import pyarrow_module
from tokpar.corpus.inputs import Input
from tokpar.corpus.json_rows import TextOf
from tokpar.corpus.lines import too_long
from tokpar.errors import FileFormatError

ROWS = 256
"""How many rows are read at a time; fewer if the rows are long."""


def column_blocks(
    input_: Input,
    number: int,
    field: str,
    name: str | None,
    text_of: TextOf | None,
    memory: Memory,
    first: int,
) -> Iterator[Block]:
    """Yields the documents from row `first` on, in blocks of about `memory.block` bytes.

    `field`: the column of the texts. `name`: the column of the document ids, or None. `text_of`:
    turns a value of the column into a text, or None. Raises FileFormatError for a damaged file or a
    missing column, OptionError for a document longer than `memory.longest`."""
    pa = pyarrow_module("pyarrow", input_.name)
    with input_.open() as file:
        try:
            row = 0
            for batch in _batches(input_, file, [field] if name is None else [field, name], memory):
                if row + batch.num_rows > first:
                    skipped = max(0, first - row)
                    batch, row = batch.slice(skipped), row + skipped
                    yield from _blocks(batch, row, input_, number, field, name, text_of, memory)
                row += batch.num_rows
        except pa.ArrowException as error:
            raise FileFormatError(f"{input_.name}: {error}") from None


def _batches(input_: Input, file: BinaryIO, fields: list[str], memory: Memory) -> Iterator[Any]:
    """Yields the record batches of a file, with at least these columns."""
    pa = pyarrow_module("pyarrow", input_.name)
    if input_.kind == "parquet":
        parquet = pyarrow_module("pyarrow.parquet", input_.name).ParquetFile(file)
        _check_fields(input_, parquet.schema_arrow, fields)
        meta = parquet.metadata
        each = sum(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
        rows = memory.block * max(1, meta.num_rows) // max(1, each)
        yield from parquet.iter_batches(
            max(1, min(ROWS, rows)), columns=list(dict.fromkeys(fields))
        )
        return
    ipc = pyarrow_module("pyarrow.ipc", input_.name)
    try:
        reader: Any = ipc.open_file(file)
        batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
    except pa.ArrowInvalid:  # not an IPC file but an IPC stream, as `datasets` writes it
        file.seek(0)
        reader = ipc.open_stream(file)
        batches = iter(reader)
    _check_fields(input_, reader.schema, fields)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)


def _check_fields(input_: Input, schema: Any, fields: list[str]) -> None:
    missing = [name for name in fields if name not in schema.names]
    if missing:
        known = ", ".join(map(repr, schema.names))
        raise FileFormatError(f"{input_.name}: expected a column {missing[0]!r}, got {known}")


def _blocks(
    batch: Any,
    row: int,
    input_: Input,
    number: int,
    field: str,
    name: str | None,
    text_of: TextOf | None,
    memory: Memory,
) -> Iterator[Block]:
    """Yields the rows of one batch in blocks. A batch of long rows becomes several blocks."""
    values = batch.column(field)
    names = None if name is None else batch.column(name).to_pylist()
    texts: list[str] = []
    own: list[str] = []
    places: list[int] = []
    faults: list[Fault] = []
    size = 0
    for count in range(batch.num_rows):
        found = _text(values[count], text_of, field)
        fault = found if isinstance(found, tuple) else None
        if fault is None and names is not None and not isinstance(names[count], (str, int)):
            fault = MISSING, f"expected a str or an int as {name!r}, got {names[count]!r}"
        if fault is not None:
            faults.append(
                Fault(len(texts), fault[0], f"{input_.name}, row {row + count}: {fault[1]}")
            )
            continue
        assert isinstance(found, str)
        length = byte_length(found)
        if length > memory.longest:
            raise too_long(f"{input_.name}, row {row + count}", length)
        texts.append(found)
        own.append("" if names is None else str(names[count]))
        places.append(row + count)
        size += length
        if size >= memory.block:
            yield _block(number, texts, places, row + count + 1, own if name else None, faults)
            texts, own, places, faults, size = [], [], [], [], 0
    if texts or faults:
        end = row + batch.num_rows
        yield _block(number, texts, places, end, own if name else None, faults)


def _text(value: Any, text_of: TextOf | None, field: str) -> str | tuple[str, str]:
    """Returns the text of a cell, or the kind and the description of its fault."""
    try:
        found = value.as_py()
    except UnicodeDecodeError as error:
        return NO_UTF8, f"expected UTF-8 ({error})"
    if found is None:
        return MISSING, f"{field!r} is null"
    if text_of is not None:
        try:
            found = text_of(found)
        except ValueError as error:
            return NO_STRING, str(error)
    if not isinstance(found, str):
        return NO_STRING, f"expected a str as {field!r}, got a {type(found).__name__}"
    return found


def _block(
    number: int,
    texts: list[str],
    places: list[int],
    end: int,
    names: list[str] | None,
    faults: list[Fault],
) -> Block:
    sizes = np.fromiter(map(byte_length, texts), np.int64, len(texts))
    starts = np.array(places, dtype=np.int64)
    return Block(number, texts, sizes, starts, end, names, faults, int(sizes.sum()))
