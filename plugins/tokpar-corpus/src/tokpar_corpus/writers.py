"""Chooses the writer and the dtype for a format of shards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokpar.errors import OptionError
from tokpar.process.optional_packages import optional_package
from tokpar_corpus.columnar import ColumnarWriter
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.manifest import Options
from tokpar_corpus.megatron import MOST_UINT16, MegatronWriter
from tokpar_corpus.numpy_files import NumpyWriter
from tokpar_corpus.shard_output import ShardWriter

DTYPES = {
    "megatron": ("uint16", "int32"),
    "numpy": ("uint16", "int32", "uint32"),
    "parquet": ("uint16", "int32", "uint32"),
    "arrow": ("uint16", "int32", "uint32"),
}
"""Format -> the dtypes that it can store."""


STEM = "shard-"
"""How the names of all files of shards begin."""


def shard_stem(part: int, number: int) -> str:
    """Returns the name of the files of a shard, without their endings. Sorted names have the order
    of the documents."""
    return f"{STEM}{part:05d}-{number:04d}"


def dtype_for(format_: str, dtype: str, vocabulary_size: int) -> str:
    """Returns the dtype of the ids in a shard. `dtype`: a name, or "auto".

    "auto" is uint32 for parquet and Arrow. For the other formats it is uint16 if the vocabulary has
    fewer than `MOST_UINT16` ids, as in Megatron; else int32 for Megatron and uint32 for NumPy.
    Raises OptionError for a dtype that the format cannot store."""
    known = DTYPES[format_]
    if dtype == "auto":
        if format_ in ("parquet", "arrow"):
            return "uint32"
        return "uint16" if vocabulary_size < MOST_UINT16 else known[-1]
    if dtype not in known:
        raise OptionError(f"--dtype of {format_} must be one of {', '.join(known)}, got {dtype}")
    return dtype


def writer_version(format_: str) -> str:
    """Returns the package that writes the files, with its version: the bytes may depend on it."""
    if format_ in ("parquet", "arrow"):
        return f"pyarrow {optional_package('pyarrow', f'--format {format_}').__version__}"
    return "tokpar"


def writer_opener(
    layer: FileLayer, folder: Path, options: Options
) -> Callable[[int, int], ShardWriter]:
    """Returns a function that opens the files of a shard. It takes the number of the part, and the
    number of the shard in the part."""

    def open_writer(part: int, number: int) -> ShardWriter:
        stem = shard_stem(part, number)
        if options.format == "megatron":
            return MegatronWriter(layer, folder, stem, options.dtype)
        if options.format == "numpy":
            return NumpyWriter(layer, folder, stem, options.dtype)
        has_names = options.document_id is not None
        return ColumnarWriter(layer, folder, stem, options.format, options.dtype, has_names)

    return open_writer
