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

from tokpar.cli.text_files import uncompressed_blocks
from tokpar.errors import OptionError
from tokpar.process.optional_packages import optional_package
from tokpar_corpus.input_names import (
    COMPRESSED,
    KINDS,
    choose_inputs,
    describe_left_out,
    known_kind,
)
from tokpar_corpus.manifest import FORMAT

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Names of files, folders and patterns, or one of them."""
RECENT = 2_000_000_000
"""Two changes of a file within this many nanoseconds may have the same time."""
STORES = ("s3://", "gs://", "gcs://", "abfs://", "abfss://")
"""URL prefixes of object stores. No program can set the time of an object there."""
_READ_BYTES = 1 << 20
_JOURNAL = json.dumps({"format": FORMAT}).encode()[:-1]
"""How the journal of a build begins."""
_MAGIC = frozenset("*?[")


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


@dataclass(frozen=True, slots=True)
class FoundInputs:
    """The input files, and the names that were left out of folders, each relative to its folder."""

    files: tuple[Input, ...]
    left_out: tuple[str, ...] = ()


def find_inputs(names: Sequence[str], lines: bool = False, text: bool = False) -> FoundInputs:
    """Returns the files for names, folders, patterns and URLs, in the order of `names`. The files
    of one pattern or folder are sorted by name.

    `lines`: each line of a text file is a document. `text`: a folder with files of rows or columns
    also gives its text files (`tokpar_corpus.input_names.choose_inputs`).

    Raises OptionError for a name without a file, for a file that is named twice, and for the
    journal of a build; OSError."""
    found: list[Input] = []
    left_out: list[str] = []
    for name in names:
        own, others = _files_of(os.fspath(name), lines, text)
        if not own:
            raise OptionError(_describe_missing(name, others))
        found += own
        left_out += others
    first: dict[object, str] = {}
    for each in found:
        identity = _identity(each.name)
        if identity in first:
            same = each.name == first[identity]
            twice = "is given twice" if same else f"and {first[identity]} are one file"
            raise OptionError(f"{each.name} {twice}: its documents would be doubled")
        first[identity] = each.name
        _require_no_journal(each)
    return FoundInputs(tuple(found), tuple(left_out))


def _describe_missing(name: str, left_out: Sequence[str]) -> str:
    if left_out:
        return (
            f"{name}: no file there is an input ({describe_left_out(left_out)}); expected {KINDS}"
        )
    return f"{name}: there is no such file; expected {KINDS}"


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


def _files_of(name: str, lines: bool, text: bool) -> tuple[list[Input], Sequence[str]]:
    """Returns the inputs of one name, and the names that a folder has beside them."""
    if "://" in name:
        return _files_of_url(name, lines, text)
    left_out: Sequence[str] = ()
    if os.path.isdir(name):
        contents = choose_inputs(_names_in(name), lines, text)
        names, left_out = [os.path.join(name, each) for each in contents.taken], contents.left_out
    elif os.path.isfile(name) or _MAGIC.isdisjoint(name):
        names = [name]
    else:
        names = [each for each in glob.glob(name, recursive=True) if os.path.isfile(each)]
    found = []
    for each in filter(os.path.exists, sorted(names)):
        stat = os.stat(each)
        times = stat.st_mtime_ns, _unless_recent(stat.st_ctime_ns)
        found.append(Input(each, known_kind(each, lines), stat.st_size, *times))
    return found, left_out


def _names_in(folder: str) -> Iterator[str]:
    """Yields the files of a folder and of the folders in it, relative to it and with "/". A folder
    whose name begins with a dot is one name: ".git/"."""
    for place, folders, files in os.walk(folder):
        hidden = [f"{each}/" for each in folders if each.startswith(".")]
        folders[:] = [each for each in folders if not each.startswith(".")]
        inner = os.path.relpath(place, folder).replace(os.sep, "/")
        for each in (*files, *hidden):
            yield each if inner == "." else f"{inner}/{each}"


def _files_of_url(name: str, lines: bool, text: bool) -> tuple[list[Input], Sequence[str]]:
    fs = optional_package("pyarrow.fs", name)
    system, path = _filesystem(name)
    before = name[: len(name) - len(path)] if name.endswith(path) else name.split("://")[0] + "://"
    base = path if _MAGIC.isdisjoint(path) else path[: min(map(path.find, _MAGIC & set(path)))]
    base = base if base == path else base.rpartition("/")[0]
    left_out: Sequence[str] = ()
    info = system.get_file_info(base)
    if info.type == fs.FileType.File:
        infos = [info]
    else:
        selector = fs.FileSelector(base, recursive=True, allow_not_found=True)
        infos = [each for each in system.get_file_info(selector) if each.type == fs.FileType.File]
        by_name = {each.path.removeprefix(base).lstrip("/"): each for each in infos}
        if base == path:
            contents = choose_inputs(by_name, lines, text)
            infos, left_out = [by_name[each] for each in contents.taken], contents.left_out
        else:
            infos = [by_name[each] for each in by_name if _matches(each, path, base)]
    found = []
    for each in sorted(infos, key=lambda info: str(info.path)):
        changed = each.mtime_ns or 0
        status_changed = _unless_recent(changed) if name.startswith(STORES) else 0
        kind = known_kind(each.path, lines)
        found.append(Input(before + each.path, kind, each.size, changed, status_changed))
    return found, left_out


def _matches(name: str, pattern: str, base: str) -> bool:
    """True if a name below `base` matches the pattern. A part that begins with a dot matches only
    if the pattern spells such a part, as in the patterns of files on this machine."""
    own = pattern.removeprefix(base).lstrip("/")
    spelt = own.startswith(".") or "/." in own
    is_hidden = name.startswith(".") or "/." in name
    return (spelt or not is_hidden) and fnmatchcase(name, own)


def _unless_recent(change_time: int) -> int:
    """Returns the time, nanoseconds, or 0 if it is within `RECENT` of now."""
    return change_time if time.time_ns() - change_time > RECENT else 0


def _filesystem(url: str) -> tuple[Any, str]:
    """Returns pyarrow's file system for a URL, and the path in it. Raises OptionError."""
    pyarrow, fs = optional_package("pyarrow", url), optional_package("pyarrow.fs", url)
    try:
        system, path = fs.FileSystem.from_uri(url)
    except pyarrow.ArrowInvalid as error:
        raise OptionError(f"{url}: pyarrow reads no such URL ({error})") from None
    return system, path
