"""The uncompressed bytes of .gz and .zst files, block by block."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from tokpar.errors import FileFormatError, OptionError

WINDOW_LOG = 31
"""A .zst whose frames refer back up to 2**31 bytes (`zstd --long=31`) is read. Source: RFC 8878."""


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
    try:
        module = import_module("zstandard")
    except ImportError:
        raise OptionError(
            f"{name}: .zst is read by the package zstandard: pip install zstandard"
        ) from None
    most = 1 << WINDOW_LOG
    make = module.ZstdDecompressor
    return (lambda: make(max_window_size=most).decompressobj()), module.ZstdError
