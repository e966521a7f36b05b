"""Reads shards of parquet and Arrow (IPC files and streams). A column `input_ids` has a list of ids
for each document, one document in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from tokpar.errors import FileFormatError
from tokpar.process.optional_packages import optional_package
from tokpar_corpus.shards import BLOCK_IDS, IdBlock, RawIds, ShardSource, blocks_of

COLUMNS = ("input_ids", "tokens", "ids", "token_ids")
"""Possible names of the column of ids. The first name that a file has is used."""
ROWS = 1024
"""How many rows of parquet are decoded at a time."""


def open_shard(path: str) -> ShardSource:
    """Opens the shard in a `.parquet` or `.arrow`. See `tokpar_corpus.shards.open_shard`."""
    pyarrow = optional_package("pyarrow", path)
    try:
        return _open(path, pyarrow)
    except pyarrow.ArrowException as error:
        end = path.rpartition(".")[2]
        raise FileFormatError(f"{path}: expected a whole .{end} ({error})") from None


def _open(path: str, pyarrow: Any) -> ShardSource:
    if path.endswith(".parquet"):
        kind, schema, batches = "parquet", *_parquet(path)
    else:
        kind, schema, batches = "arrow", *_ipc(path, pyarrow)
    column = next((name for name in COLUMNS if name in schema.names), None)
    if column is None:
        raise FileFormatError(f"{path}: expected a column input_ids, got {', '.join(schema.names)}")
    dtype = _dtype(path, schema.field(column).type, pyarrow)
    documents = tokens = 0
    for array in batches(column):
        documents += len(array)
        tokens += int(_flat(path, array)[1][-1])
    return ShardSource(
        path, kind, dtype, documents, tokens, lambda: _blocks(path, lambda: batches(column))
    )


Batches = Callable[[str], Iterator[Any]]


def _parquet(path: str) -> tuple[Any, Batches]:
    """Returns the schema, and a function that yields the arrays of a column in order."""
    parquet = import_module("pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow

    def batches(column: str) -> Iterator[Any]:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=[column]):
                yield batch.column(0)

    return schema, batches


def _ipc(path: str, pyarrow: Any) -> tuple[Any, Batches]:
    """Returns the same as `_parquet`, for an IPC file, or for an IPC stream as `datasets` writes
    it."""

    def open_batches(file: Any) -> tuple[Any, Iterator[Any]]:
        with open(path, "rb") as start:
            is_file = start.read(6) == b"ARROW1"
        if not is_file:
            reader = pyarrow.ipc.open_stream(file)
            return reader.schema, iter(reader)
        reader = pyarrow.ipc.open_file(file)
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))

    with pyarrow.memory_map(path) as file:
        schema = open_batches(file)[0]

    def batches(column: str) -> Iterator[Any]:
        with pyarrow.memory_map(path) as file:
            for batch in open_batches(file)[1]:
                yield batch.column(schema.names.index(column))

    return schema, batches


def _dtype(path: str, kind: Any, pyarrow: Any) -> np.dtype[Any]:
    value = getattr(kind, "value_type", None)
    if value is None or not pyarrow.types.is_integer(value):
        raise FileFormatError(
            f"{path}: expected lists of integers in the column of ids, got {kind}"
        )
    found: np.dtype[Any] = np.dtype(value.to_pandas_dtype())
    return found


def _flat(path: str, array: Any) -> tuple[RawIds, Any]:
    """Returns the ids of an array of lists in one array, and the offsets of its rows from 0 on.
    Raises FileFormatError for a null."""
    if array.null_count:
        row = next(k for k in range(len(array)) if not array[k].is_valid)
        raise FileFormatError(f"{path}: row {row} of a batch has no ids (null)")
    values = array.flatten()
    if values.null_count:
        raise FileFormatError(f"{path}: an id is missing (null)")
    lengths = array.value_lengths().to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    return values.to_numpy(zero_copy_only=True), offsets


def _blocks(path: str, batches: Callable[[], Iterator[Any]]) -> Iterator[IdBlock]:
    first = 0
    waiting: list[tuple[RawIds, Any]] = []
    for array in batches():
        waiting.append(_flat(path, array))
        if sum(len(ids) for ids, _ in waiting) >= BLOCK_IDS:
            for block in _join_batches(waiting, first):
                yield block
                first += len(block)
            waiting = []
    yield from _join_batches(waiting, first)


def _join_batches(parts: list[tuple[RawIds, Any]], first: int) -> Iterator[IdBlock]:
    if not parts:
        return
    ids = np.concatenate([each for each, _ in parts])
    lengths = np.concatenate([np.diff(offsets) for _, offsets in parts])
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    for block in blocks_of(ids, offsets):
        yield IdBlock(first + block.first, block.ids, block.offsets)
