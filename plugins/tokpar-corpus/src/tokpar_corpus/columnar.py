"""Writes shards as parquet or Arrow files: one row for each document, with its `input_ids`.

The number of ids decides where a row group or record batch ends. The blocks in which the documents
arrive do not matter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tokpar.process.optional_packages import optional_package
from tokpar.types import Rows
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.manifest import ShardFile
from tokpar_corpus.shard_output import ShardOutput, abandon_all

GROUP_IDS = 1 << 22
"""The most ids in a row group or record batch. A document with more ids has one of its own."""
IDS, NAME = "input_ids", "document_id"
"""The names of the columns."""


class ColumnarWriter:
    """A `ShardWriter` of the file `stem`.parquet or `stem`.arrow in `folder`."""

    def __init__(
        self, layer: FileLayer, folder: Path, stem: str, format_: str, dtype: str, has_names: bool
    ) -> None:
        self._pa = pa = optional_package("pyarrow", f"--format {format_}")
        self._dtype = np.dtype(dtype)
        columns = [(IDS, pa.list_(pa.from_numpy_dtype(self._dtype)))]
        self._schema = pa.schema(columns + [(NAME, pa.string())] * has_names)
        self._output = ShardOutput(layer, folder / f"{stem}.{format_}")
        self._format = format_
        self._writer: Any = None
        self._waiting: list[tuple[Rows, Sequence[str] | None]] = []
        self._waiting_ids = 0

    def _open_writer(self) -> Any:
        if self._format == "arrow":
            return optional_package("pyarrow.ipc", "--format arrow").new_file(
                self._output, self._schema
            )
        parquet = optional_package("pyarrow.parquet", "--format parquet")
        return parquet.ParquetWriter(
            self._output, self._schema, compression="zstd", use_dictionary=False
        )

    def add(self, rows: Rows, names: Sequence[str] | None) -> None:
        ends = rows.offsets[1:]
        first = 0
        while first < len(rows):
            before = int(rows.offsets[first])
            room = GROUP_IDS - self._waiting_ids
            stop = int(np.searchsorted(ends, before + room, "right"))
            if stop == first and not self._waiting:
                stop += 1  # one document with more ids than `GROUP_IDS`
            if stop > first:
                own = None if names is None else names[first:stop]
                self._waiting.append((rows.part(first, stop), own))
                self._waiting_ids += int(rows.offsets[stop]) - before
            if stop < len(rows):
                self._write_group()
            first = stop

    def _write_group(self) -> None:
        pa = self._pa
        self._writer = self._writer or self._open_writer()
        rows = Rows.concatenate([each for each, _ in self._waiting])
        offsets = pa.array(rows.offsets.astype(np.int32))
        arrays = [pa.ListArray.from_arrays(offsets, pa.array(rows.ids.astype(self._dtype)))]
        if len(self._schema) > 1:
            own = [name for _, names in self._waiting for name in names or ()]
            arrays.append(pa.array(own, pa.string()))
        batch = pa.record_batch(arrays, schema=self._schema)
        if self._format == "arrow":
            self._writer.write_batch(batch)
        else:
            self._writer.write_table(pa.Table.from_batches([batch]), row_group_size=len(rows))
        self._waiting, self._waiting_ids = [], 0

    def finish(self) -> list[ShardFile]:
        if self._waiting:
            self._write_group()
        self._writer.close()
        self._output.sync()
        return [self._output.rename()]

    def abandon(self) -> None:
        abandon_all([self._output])
