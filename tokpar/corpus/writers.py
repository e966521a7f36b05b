"""The formats of shards, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokpar.corpus.columnar import ColumnarWriter
from tokpar.corpus.durable_files import FileLayer
from tokpar.corpus.extras import pyarrow_module
from tokpar.corpus.manifest import Options
from tokpar.corpus.megatron import MOST_UINT16, MegatronWriter
from tokpar.corpus.numpy_files import NumpyWriter
from tokpar.corpus.shard_output import ShardWriter
from tokpar.errors import OptionError

DTYPES = {
    "megatron": ("uint16", "int32"),
    "numpy": ("uint16", "int32", "uint32"),
    "parquet": ("uint16", "int32", "uint32"),
    "arrow": ("uint16", "int32", "uint32"),
}
"""The dtypes that each format takes."""


def shard_stem(part: int, number: int) -> str:
    """The name of a shard's files, without their endings; in the order of the documents."""
    return f"shard-{part:05d}-{number:04d}"


def dtype_for(format_: str, dtype: str, vocabulary_size: int) -> str:
    """The dtype of the ids. "auto": uint16 for a vocabulary that fits, as Megatron has it, else
    int32 for Megatron and uint32 for the others; always uint32 for parquet and Arrow.

    Raises OptionError."""
    known = DTYPES[format_]
    if dtype == "auto":
        if format_ in ("parquet", "arrow"):
            return "uint32"
        return "uint16" if vocabulary_size < MOST_UINT16 else known[-1]
    if dtype not in known:
        raise OptionError(f"--dtype of {format_} must be one of {', '.join(known)}, got {dtype}")
    return dtype


def writer_version(format_: str) -> str:
    """What writes the files, since their bytes may depend on it."""
    if format_ in ("parquet", "arrow"):
        return f"pyarrow {pyarrow_module('pyarrow', f'--format {format_}').__version__}"
    return "tokpar"


def writer_opener(
    layer: FileLayer, folder: Path, options: Options
) -> Callable[[int, int], ShardWriter]:
    """A function that opens the files of a shard, given its part and number."""

    def open_writer(part: int, number: int) -> ShardWriter:
        stem = shard_stem(part, number)
        if options.format == "megatron":
            return MegatronWriter(layer, folder, stem, options.dtype)
        if options.format == "numpy":
            return NumpyWriter(layer, folder, stem, options.dtype)
        has_names = options.document_id is not None
        return ColumnarWriter(layer, folder, stem, options.format, options.dtype, has_names)

    return open_writer
