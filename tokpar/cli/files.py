"""Write files that are complete or do not exist, and write ids into files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.cli.interrupts import raising_on_interrupt

BLOCK_IDS = 1 << 16


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write that replaces `path` when the block ends.

    Until then the file has another name in the same directory. If the block raises, the file is
    removed. A device or a pipe is written directly. Raises OSError."""
    with new_path(path) as unfinished, unfinished.open("wb") as file:
        yield file


@contextmanager
def new_path(path: Path) -> Iterator[Path]:
    """Yield a path to write that replaces `path` when the block ends, as `new_file` does.

    The caller opens the file. The path has the suffix of `path`."""
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    unfinished = target.with_name(f".unfinished-{os.getpid()}-{target.name}")
    with raising_on_interrupt():
        try:
            yield unfinished
            if target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
        except OSError as error:
            if error.filename is not None:
                error.filename = os.fspath(path)
            raise
        finally:
            with suppress(FileNotFoundError):
                unfinished.unlink()


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 into `path`, completely or not at all."""
    with new_file(path) as file:
        file.write(text.encode("utf-8"))


def id_blocks(ids: IdArray, separator: str) -> Iterator[str]:
    """The ids as text, in blocks of 65,536 ids: "1 2 3" for `separator` " "."""
    for start in range(0, len(ids), BLOCK_IDS):
        block = separator.join(map(str, ids[start : start + BLOCK_IDS].tolist()))
        yield f"{separator}{block}" if start else block


def write_ids(path: Path, ids: IdArray | list[IdArray]) -> None:
    """Write the ids of one text as .npy (uint32), .txt or .json; a list holds the ids of several
    texts.

    Several texts are written as .npz, as lines of a .txt, or as lists in a list of a .json. The
    .npz has "ids", the ids of all texts, and "offsets": text k has ids[offsets[k] : offsets[k +
    1]]."""
    with new_file(path) as file:
        if path.suffix == ".npy":
            np.save(file, ids)
        elif path.suffix == ".npz":
            rows: Any = ids if isinstance(ids, list) else [ids]
            offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
            none = [np.zeros(0, np.uint32)]
            np.savez(file, ids=np.concatenate([*none, *rows]), offsets=offsets)
        else:
            is_json, several = path.suffix == ".json", isinstance(ids, list)
            opening, separator, closing = ("[", ", ", "]") if is_json else ("", " ", "")
            lines = (
                f"{opening}{''.join(id_blocks(row, separator))}{closing}"
                for row in (ids if isinstance(ids, list) else [ids])
            )
            text = (", " if is_json else "\n").join(lines)
            file.write(f"{opening}{text}{closing}\n".encode() if several else f"{text}\n".encode())
