"""Reads documents from parquet and Arrow files: one document for each row. A column has strings,
or their UTF-8 bytes; "data.text" is a column of this name, or else a field of a struct column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from tokpar.arrays import byte_length
from tokpar.cli.text_files import FIELDS, path_of
from tokpar.errors import FileFormatError
from tokpar.process.optional_packages import optional_package
from tokpar_corpus.build_options import Memory
from tokpar_corpus.document_blocks import MISSING, NO_STRING, NO_UTF8, BadDocument, Block
from tokpar_corpus.inputs import Input
from tokpar_corpus.json_rows import TextOf
from tokpar_corpus.lines import too_long

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
    """Yields the documents from row `first` on, in blocks of about `memory.block` bytes. Their
    `stored_bytes` add up to the size of the file.

    `field`: the column of the texts. `name`: the column of the document ids, or None. `text_of`:
    turns a value of the column into a text, or None. Raises FileFormatError for a damaged file or a
    missing column, OptionError for a document longer than `memory.longest`."""
    last: Block | None = None
    seen = 0
    for block in _counted_blocks(input_, number, field, name, text_of, memory, first):
        if last is not None:
            yield last
        last, seen = block, seen + block.stored_bytes
    if last is not None:  # the end of the file holds no rows
        yield replace(last, stored_bytes=last.stored_bytes + input_.bytes - seen)


def _counted_blocks(
    input_: Input,
    number: int,
    field: str,
    name: str | None,
    text_of: TextOf | None,
    memory: Memory,
    first: int,
) -> Iterator[Block]:
    """Yields the blocks with the stored bytes up to their last rows."""
    pa = optional_package("pyarrow", input_.name)
    with input_.open() as file:
        try:
            row = seen = 0
            fields = [field] if name is None else [field, name]
            for batch, place in _batches(input_, file, fields, memory):
                end = row + batch.num_rows
                if end > first:
                    skipped = max(0, first - row)
                    batch, row = batch.slice(skipped), row + skipped
                    for block in _blocks(batch, row, input_, number, field, name, text_of, memory):
                        read = seen + (place - seen) * (block.end - row) // max(1, end - row)
                        yield replace(block, stored_bytes=read - seen)
                        seen, row = read, block.end
                row, seen = end, place
        except pa.ArrowException as error:
            raise FileFormatError(f"{input_.name}: {error}") from None


def _batches(
    input_: Input, file: BinaryIO, fields: list[str], memory: Memory
) -> Iterator[tuple[Any, int]]:
    """Yields the record batches of a file, with at least these columns, and the number of stored
    bytes up to the end of each: for parquet, as if all rows had as many."""
    if input_.kind == "parquet":
        parquet = optional_package("pyarrow.parquet", input_.name).ParquetFile(file)
        _check_fields(input_, parquet.schema_arrow, fields)
        meta = parquet.metadata
        each = sum(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
        rows = memory.block * max(1, meta.num_rows) // max(1, each)
        done = 0
        for batch in parquet.iter_batches(
            max(1, min(ROWS, rows)), columns=list(dict.fromkeys(fields))
        ):
            done += batch.num_rows
            yield batch, input_.bytes * done // meta.num_rows
        return
    reader, batches = _open_ipc(input_, file)
    _check_fields(input_, reader.schema, fields)
    place = 0
    for batch in batches:
        size = file.tell() - place
        for start in range(0, batch.num_rows, ROWS):
            end = min(start + ROWS, batch.num_rows)
            yield batch.slice(start, ROWS), place + size * end // batch.num_rows
        place += size


def _open_ipc(input_: Input, file: BinaryIO) -> tuple[Any, Iterator[Any]]:
    """Returns the reader of an IPC file, or of an IPC stream as `datasets` writes it, and its
    record batches."""
    pa, ipc = optional_package("pyarrow", input_.name), optional_package("pyarrow.ipc", input_.name)
    try:
        reader: Any = ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        reader = ipc.open_stream(file)
        return reader, iter(reader)
    return reader, (reader.get_batch(k) for k in range(reader.num_record_batches))


def kinds_of_columns(input_: Input) -> dict[str, str]:
    """Returns the kinds of the columns of a file, as `choose_field` of tokpar.cli.text_files takes
    them. A binary column with a name of `FIELDS` counts as text.

    Raises FileFormatError, OSError."""
    pa = optional_package("pyarrow", input_.name)
    with input_.open() as file:
        try:
            if input_.kind == "parquet":
                parquet = optional_package("pyarrow.parquet", input_.name)
                schema = parquet.ParquetFile(file).schema_arrow
            else:
                schema = _open_ipc(input_, file)[0].schema
        except pa.ArrowException as error:
            raise FileFormatError(f"{input_.name}: {error}") from None
    return {field.name: _kind(field, pa.types) for field in schema}


def _kind(field: Any, types: Any) -> str:
    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    name = str(kind)
    if "string" in name and not types.is_nested(kind):
        return "str"
    if "binary" in name and not types.is_nested(kind) and field.name in FIELDS:
        return "str"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return "number" if is_number else name


def _check_fields(input_: Input, schema: Any, fields: list[str]) -> None:
    for field in fields:
        if field not in schema.names and _nested_type(schema, field) is None:
            known = ", ".join(f"{each.name!r} ({each.type})" for each in schema)
            raise FileFormatError(f"{input_.name}: expected a column {field!r}, got {known:.400}")


def _nested_type(schema: Any, field: str) -> Any:
    """Returns the type of a field of a struct column, or None if there is no such field."""
    first, *names = path_of(field)
    kind = schema.field(first).type if schema.get_field_index(first) >= 0 else None
    for name in names:
        inner = {each.name: each.type for each in _fields_of(kind)}
        kind = inner.get(name)
    return kind if names else None


def _fields_of(kind: Any) -> Sequence[Any]:
    is_struct = kind is not None and str(kind).startswith("struct<")
    return [kind.field(k) for k in range(kind.num_fields)] if is_struct else []


def _cells(input_: Input, batch: Any, field: str) -> Iterator[Any]:
    """Yields the value of a field in each row of a batch, as a scalar of pyarrow."""
    columns = [batch.column(field)] if field in batch.schema.names else []
    if _nested_type(batch.schema, field) is not None:
        first, *names = path_of(field)
        compute = optional_package("pyarrow.compute", input_.name)
        columns.append(compute.struct_field(batch.column(first), names))
    if len(columns) == 1:
        yield from columns[0]
        return
    for cell, nested in zip(*columns, strict=True):
        yield cell if cell.is_valid else nested


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
    cells = _cells(input_, batch, field)
    names = None if name is None else [_value(cell) for cell in _cells(input_, batch, name)]
    texts: list[str] = []
    own: list[str] = []
    places: list[int] = []
    faults: list[BadDocument] = []
    size = 0
    for count, cell in enumerate(cells):
        found = _text(cell, text_of, field)
        fault = found if isinstance(found, tuple) else None
        if fault is None and names is not None and not isinstance(names[count], (str, int)):
            fault = MISSING, f"expected a str or an int as {name!r}, got {names[count]!r}"
        if fault is not None:
            faults.append(
                BadDocument(len(texts), fault[0], f"{input_.name}, row {row + count}: {fault[1]}")
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


def _value(cell: Any) -> Any:
    """Returns the value of a cell, bytes as the text of their UTF-8; an error if it is no UTF-8."""
    try:
        value = cell.as_py()
        return value.decode("utf-8") if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        return error


def _text(cell: Any, text_of: TextOf | None, field: str) -> str | tuple[str, str]:
    """Returns the text of a cell, or the kind and the description of its fault."""
    found = _value(cell)
    if isinstance(found, UnicodeDecodeError):
        return NO_UTF8, f"expected UTF-8 ({found})"
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
    faults: list[BadDocument],
) -> Block:
    sizes = np.fromiter(map(byte_length, texts), np.int64, len(texts))
    starts = np.array(places, dtype=np.int64)
    return Block(number, texts, sizes, starts, end, names, faults, int(sizes.sum()))
