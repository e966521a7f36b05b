"""Finds the input files for names, patterns and URLs, with their sizes and times."""

from __future__ import annotations

import glob
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, cast

from tokpar.errors import OptionError
from tokpar.text_files import uncompressed_blocks
from tokpar_corpus.extras import pyarrow_module
from tokpar_corpus.manifest import FORMAT

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Names of files, folders and patterns, or one of them."""
LINES = (".jsonl", ".ndjson")
COMPRESSED = (".gz", ".zst")
COLUMNS = (".parquet", ".arrow")
TEXT = (".txt", ".text", ".md")
RECENT = 2_000_000_000
"""Two changes of a file within this many nanoseconds may have the same time."""
STORES = ("s3://", "gs://", "gcs://", "abfs://", "abfss://")
"""URL prefixes of object stores. No program can set the time of an object there."""
_READ_BYTES = 1 << 20
_JOURNAL = json.dumps({"format": FORMAT}).encode()[:-1]
"""How the journal of a build begins."""
_MAGIC = frozenset("*?[")
KINDS = (
    ".jsonl, .ndjson and .txt (also with .gz or .zst), .parquet and .arrow; --lines reads any other"
    " name as a document a line"
)


@dataclass(frozen=True, slots=True)
class Input:
    """An existing input file.

    `kind`: "rows" (JSON lines), "lines" (a document on each line, UTF-8), "text" (one document,
    UTF-8), "parquet" or "arrow". `bytes`: its size as stored.
    `changed`: the time when its content was last written, in nanoseconds, from the file system. A
    program may set this time back.
    `status_changed`: the time when its content or attributes last changed. No program can set this
    time. 0 if it is within `RECENT` of now, because a later change may have the same time. For the
    object stores of `STORES` it is the time of `changed`, which the store sets; for other URLs it
    is 0."""

    name: str
    kind: str
    bytes: int
    changed: int
    status_changed: int = 0

    @property
    def is_compressed(self) -> bool:
        return self.name.endswith(COMPRESSED)

    def place(self, offset: int, count: bool = True) -> str:
        """Returns a name for the document that begins at `offset`: "a.jsonl:7", "a.parquet, row 6".

        `count`: reads the input again to count its lines. Without it, the name has the offset."""
        if self.kind in ("parquet", "arrow"):
            return f"{self.name}, row {offset}"
        if self.kind == "text":
            return self.name
        return f"{self.name}:{self.line(offset)}" if count else f"{self.name}, byte {offset}"

    def line(self, offset: int) -> int:
        """Returns the number of the line at `offset` of the uncompressed file, counted from 1.
        Reads the file up to there."""
        line, place = 1, 0
        with self.open() as file:
            for chunk in uncompressed_blocks(file, self.name, _READ_BYTES):
                line += chunk.count(b"\n", 0, max(0, offset - place))
                place += len(chunk)
                if place >= offset:
                    break
        return line

    def open(self) -> BinaryIO:
        """Opens the stored bytes as a seekable file. Raises OSError."""
        if "://" not in self.name:
            return Path(self.name).open("rb")
        system, path = _filesystem(self.name)
        return cast(BinaryIO, system.open_input_file(path))


def name_list(names: Paths) -> list[str]:
    """Returns names as a list of str: of one name, or of several."""
    some = [names] if isinstance(names, (str, os.PathLike)) else names
    return [os.fspath(name) for name in some]


def find_inputs(names: Sequence[str], lines: bool) -> list[Input]:
    """Returns the files for names, folders, patterns and URLs, in the order of `names`. The files
    of one pattern or folder are sorted by name. `lines`: each line of a text file is a document.

    Raises OptionError for a name without a file, for a file that is named twice, and for the
    journal of a build; OSError."""
    found: list[Input] = []
    for name in names:
        own = list(_files_of(os.fspath(name), lines))
        if not own:
            raise OptionError(f"{name}: there is no such file; expected {KINDS}")
        found += own
    first: dict[object, str] = {}
    for each in found:
        identity = _identity(each.name)
        if identity in first:
            same = each.name == first[identity]
            twice = "is given twice" if same else f"and {first[identity]} are one file"
            raise OptionError(f"{each.name} {twice}: its documents would be doubled")
        first[identity] = each.name
        _require_no_journal(each)
    return found


def require_folder_beside(shard_folder: str, names: Sequence[str]) -> None:
    """Raises OptionError if the folder of the shards lies in a folder of its inputs, because the
    next run would read what this one wrote."""
    real = os.path.realpath(shard_folder)
    for name in names:
        folder = os.path.realpath(name)
        if "://" not in name and os.path.isdir(name) and _is_in(real, folder):
            raise OptionError(
                f"--out {shard_folder} lies in the input folder {name}: its journal and "
                "shards would become documents; choose a folder beside it"
            )


def _is_in(path: str, folder: str) -> bool:
    return folder == path or Path(folder) in Path(path).parents


def _require_no_journal(each: Input) -> None:
    """Raises OptionError for the journal of a build, which holds no documents."""
    if each.is_compressed or each.kind not in ("rows", "lines", "text"):
        return
    with each.open() as file:
        if file.read(len(_JOURNAL)) != _JOURNAL:
            return
    raise OptionError(
        f"{each.name} is the journal of a build, no corpus; name the files of the corpus, and give "
        "--out a folder beside them"
    )


def _identity(name: str) -> object:
    """Returns a value that all names of one file have in common: spellings, symbolic and hard
    links. For a file of an object store, its URL."""
    path = _filesystem(name)[1] if name.startswith("file://") else name
    if "://" in path:
        return path
    stat = os.stat(path)
    return (stat.st_dev, stat.st_ino) if stat.st_ino else os.path.realpath(path)


def _files_of(name: str, lines: bool) -> Iterator[Input]:
    if "://" in name:
        yield from _files_of_url(name, lines)
        return
    if os.path.isdir(name):
        every = (os.path.join(folder, file) for folder, _, files in os.walk(name) for file in files)
        names = [each for each in every if lines or _kind(each, lines) is not None]
    elif os.path.isfile(name) or _MAGIC.isdisjoint(name):
        names = [name]
    else:
        names = [each for each in glob.glob(name, recursive=True) if os.path.isfile(each)]
    for each in sorted(names):
        if os.path.exists(each):
            stat = os.stat(each)
            times = stat.st_mtime_ns, _unless_recent(stat.st_ctime_ns)
            yield Input(each, _known_kind(each, lines), stat.st_size, *times)


def _files_of_url(name: str, lines: bool) -> Iterator[Input]:
    fs = pyarrow_module("pyarrow.fs", name)
    system, path = _filesystem(name)
    before = name[: len(name) - len(path)] if name.endswith(path) else name.split("://")[0] + "://"
    base = path if _MAGIC.isdisjoint(path) else path[: min(map(path.find, _MAGIC & set(path)))]
    base = base if base == path else base.rpartition("/")[0]
    info = system.get_file_info(base)
    if info.type == fs.FileType.File:
        infos = [info]
    else:
        selector = fs.FileSelector(base, recursive=True, allow_not_found=True)
        infos = [each for each in system.get_file_info(selector) if each.type == fs.FileType.File]
        if base == path:
            infos = [each for each in infos if _kind(each.path, lines) is not None]
        else:
            infos = [each for each in infos if fnmatchcase(each.path, path)]
    for each in sorted(infos, key=lambda info: str(info.path)):
        changed = each.mtime_ns or 0
        status_changed = _unless_recent(changed) if name.startswith(STORES) else 0
        kind = _known_kind(each.path, lines)
        yield Input(before + each.path, kind, each.size, changed, status_changed)


def _unless_recent(change_time: int) -> int:
    """Returns the time, nanoseconds, or 0 if it is within `RECENT` of now."""
    return change_time if time.time_ns() - change_time > RECENT else 0


def _filesystem(url: str) -> tuple[Any, str]:
    """Returns pyarrow's file system for a URL, and the path in it. Raises OptionError."""
    pyarrow, fs = pyarrow_module("pyarrow", url), pyarrow_module("pyarrow.fs", url)
    try:
        system, path = fs.FileSystem.from_uri(url)
    except pyarrow.ArrowInvalid as error:
        raise OptionError(f"{url}: pyarrow reads no such URL ({error})") from None
    return system, path


def _kind(name: str, lines: bool) -> str | None:
    """Returns the kind of an input by its name (see `Input`), or None if the name does not say
    it."""
    plain = name.removesuffix(next((end for end in COMPRESSED if name.endswith(end)), ""))
    if plain.endswith(LINES):
        return "rows"
    if name.endswith(COLUMNS):
        return name.rpartition(".")[2]
    if lines:
        return "lines"
    return "text" if plain.endswith(TEXT) else None


def _known_kind(name: str, lines: bool) -> str:
    kind = _kind(name, lines)
    if kind is None:
        raise OptionError(f"{name}: the name does not tell what it holds; expected {KINDS}")
    return kind
