"""The journal of a build: one line for each shard that is on the disk. Each line is appended and
synced.

The first line (`Head`) describes the build. A later run continues the build only with the same
tokenizer, options, versions and inputs. If the last line is incomplete, a power cut interrupted the
write; the next run removes the line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tokpar.errors import FileFormatError
from tokpar_corpus.durable_files import FileLayer, NewFile, write_whole
from tokpar_corpus.inputs import Input
from tokpar_corpus.manifest import (
    FORMAT,
    FORMAT_VERSION,
    Digest,
    Options,
    Shard,
    TokenizerRecord,
    check_version,
    options_from,
    parse_object,
    shard_from,
    tokenizer_from,
)

JOURNAL_NAME = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a journal: describes the build. `writer`: the package that writes the
    files, with its version."""

    tokpar_version: str
    writer: str
    tokenizer: TokenizerRecord
    options: Options
    inputs: tuple[Input, ...]

    def line(self) -> str:
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return json.dumps({**head, **asdict(self)}) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Head:
        """Reads the first line of a journal. Raises FileFormatError."""
        found = parse_object(line, JOURNAL_NAME)
        check_version(found, JOURNAL_NAME)
        try:
            return cls(
                found["tokpar_version"],
                found["writer"],
                tokenizer_from(found["tokenizer"]),
                options_from(found["options"]),
                tuple(Input(**each) for each in found["inputs"]),
            )
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"{JOURNAL_NAME}: the first line is damaged ({error})") from None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a journal: a finished shard. `last`: it is the last shard of its part.

    `digests`: (number, digest) of each input of the part, up to the place that was read when the
    shard ended. The documents of this shard and of all earlier ones lie within these bytes. For the
    last shard, the digests cover the whole part."""

    shard: Shard
    last: bool
    digests: tuple[tuple[int, Digest], ...]

    def line(self) -> str:
        digests = [[number, asdict(digest)] for number, digest in self.digests]
        return (
            json.dumps({"shard": asdict(self.shard), "last": self.last, "digests": digests}) + "\n"
        )

    @classmethod
    def from_line(cls, line: str) -> Entry:
        """Reads a line of a journal. Raises FileFormatError."""
        found = parse_object(line, JOURNAL_NAME)
        try:
            digests = tuple((number, Digest(**digest)) for number, digest in found["digests"])
            return cls(shard_from(found["shard"]), found["last"], digests)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{JOURNAL_NAME}: a line is damaged ({error})") from None


@dataclass
class FinishedShards:
    """The finished shards of one part, in order. `complete`: the whole part is finished."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return bool(self.entries) and self.entries[-1].last


class Journal:
    """The journal of a folder, open for appending. `finished_by_part`: number of a part -> its
    finished shards."""

    def __init__(
        self, layer: FileLayer, folder: Path, finished_by_part: dict[int, FinishedShards]
    ) -> None:
        self._file: NewFile = layer.open_end(folder / JOURNAL_NAME)
        self.finished_by_part = finished_by_part

    @classmethod
    def begin(cls, layer: FileLayer, folder: Path, head: Head) -> Journal:
        """Creates a journal with its first line."""
        write_whole(layer, folder / JOURNAL_NAME, head.line().encode())
        return cls(layer, folder, {})

    @classmethod
    def go_on(cls, layer: FileLayer, folder: Path, head: Head) -> Journal:
        """Opens the journal of an earlier run of the same build.

        Raises FileFormatError for the journal of another build; the error names the difference.
        Also raises it if an input has changed since."""
        path = folder / JOURNAL_NAME
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].decode("utf-8").splitlines()
        earlier_head = Head.from_line(lines[0])
        require_same(earlier_head, head, path)
        entries = _entries(lines[1:], path)
        if len(entries) < len(lines) - 1:  # the last line is damaged
            whole = sum(len(line.encode()) + 1 for line in lines[: 1 + len(entries)])
        if whole < len(data):
            layer.truncate(path, whole)
        finished_by_part = _by_part(entries, folder)
        require_unchanged(
            finished_by_part, head.inputs, _suspects(earlier_head.inputs, head.inputs)
        )
        return cls(layer, folder, finished_by_part)

    @property
    def is_empty(self) -> bool:
        """True if no shard is finished."""
        return not any(part.entries for part in self.finished_by_part.values())

    def append(self, entry: Entry) -> None:
        """Appends an entry. Returns when it is on the disk."""
        self._file.write(entry.line().encode())
        self._file.sync()
        self.finished_by_part.setdefault(entry.shard.part, FinishedShards()).entries.append(entry)

    def close(self) -> None:
        self._file.close()


def has_entries(folder: Path) -> bool:
    """True if the journal of a folder has an entry. A journal without one promises nothing."""
    return _journal_bytes(folder).count(b"\n") > 1


def count_shards(folder: Path) -> int:
    """Returns the number of shards with files that the journal of a folder has."""
    return _journal_bytes(folder).count(b'"files": [{')


def _journal_bytes(folder: Path) -> bytes:
    path = folder / JOURNAL_NAME
    return path.read_bytes() if path.exists() else b""


def _entries(lines: Sequence[str], path: Path) -> list[Entry]:
    """Returns the entries of the lines. Drops a damaged last line, and raises FileFormatError for
    any other damaged line."""
    found = []
    for number, line in enumerate(lines):
        try:
            found.append(Entry.from_line(line))
        except FileFormatError as error:
            if number < len(lines) - 1:
                raise FileFormatError(f"{path}:{number + 2}: {error}") from None
    return found


def _by_part(entries: Sequence[Entry], folder: Path) -> dict[int, FinishedShards]:
    """Returns, by part, the finished shards whose files still have the digests of the journal. If a
    shard is missing or damaged, it and all later shards of its part are left out, so they are built
    again."""
    finished_by_part: dict[int, FinishedShards] = {}
    for entry in entries:
        own = finished_by_part.setdefault(entry.shard.part, FinishedShards()).entries
        del own[entry.shard.number :]  # a later run built these shards again
        own.append(entry)
    for part in finished_by_part.values():
        good = 0
        while good < len(part.entries) and is_whole(part.entries[good].shard, folder):
            good += 1
        del part.entries[good:]
    return finished_by_part


def is_whole(shard: Shard, folder: Path) -> bool:
    """True if all files of a shard have the recorded sizes and digests."""
    for file in shard.files:
        path = folder / file.name
        if not path.is_file() or path.stat().st_size != file.bytes:
            return False
        with path.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:
                return False
    return True


def require_same(earlier_head: Head, now: Head, path: Path) -> None:
    """Raises FileFormatError unless both heads describe the same build. The times of the inputs may
    differ: `require_unchanged` checks such inputs."""
    old, new = asdict(earlier_head), asdict(now)
    for name in ("tokpar_version", "writer", "tokenizer", "options"):
        if old[name] == new[name]:
            continue
        which = _difference(name, old[name], new[name])
        raise FileFormatError(
            f"{path} is of another build: {which}; resume with what the build began with, or give "
            "another folder"
        )
    for one, other in zip(earlier_head.inputs, now.inputs, strict=False):
        if (one.name, one.kind) != (other.name, other.kind):
            raise FileFormatError(f"{path} is of other inputs: {one.name}, now {other.name}")
        if one.bytes != other.bytes:
            raise FileFormatError(
                f"{one.name} changed since the build began: it had {one.bytes:,} bytes, now "
                f"{other.bytes:,}"
            )
    if len(earlier_head.inputs) != len(now.inputs):
        raise FileFormatError(
            f"{path} is of {len(earlier_head.inputs):,} inputs, now there are {len(now.inputs):,}"
        )


def _suspects(earlier_inputs: Sequence[Input], now: Sequence[Input]) -> set[int]:
    """Returns the numbers of the inputs that may have changed since the build began.

    A file with the same size and the same times has not changed. Without `status_changed` the times
    prove nothing, because a program can set `changed` back."""
    pairs = enumerate(zip(earlier_inputs, now, strict=True))
    return {k for k, (old, new) in pairs if old != new or not new.status_changed}


def require_unchanged(
    finished_by_part: dict[int, FinishedShards], inputs: Sequence[Input], suspects: set[int]
) -> None:
    """Raises FileFormatError if an input has changed within the bytes from which finished shards
    were made.

    Reads only the inputs `suspects` again, and only these bytes."""
    for part in finished_by_part.values():
        for input_, digest in part.entries[-1].digests if part.entries else ():
            if input_ in suspects and range_digest(inputs[input_], digest) != digest.sha256:
                raise FileFormatError(
                    f"{inputs[input_].name} changed since the build began: its digest is another"
                )


def range_digest(input_: Input, digest: Digest) -> str:
    """Returns the present sha256 of the bytes [digest.start, digest.stop) of an input."""
    with input_.open() as file:
        file.seek(digest.start)
        found = hashlib.sha256()
        left = digest.stop - digest.start
        while left and (data := file.read(min(left, 1 << 20))):
            found.update(data)
            left -= len(data)
    return found.hexdigest()


def _difference(name: str, old: Any, new: Any) -> str:
    if not isinstance(old, dict):
        return f"{name} was {old}, now {new}"
    own = next(key for key in old if old[key] != new[key])
    return f"{name} {own} was {old[own]!r}, now {new[own]!r}"
