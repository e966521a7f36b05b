"""Texts to measure on: files, read line by line so that a bad line can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokpar.errors import FileFormatError

ROWS = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Dataset:
    """Texts under one name; `origin` is the path, or how they were made. `skipped` names each bad
    line that was left out, "file:line: why"."""

    name: str
    texts: tuple[str, ...]
    origin: str
    skipped: tuple[str, ...] = ()

    @property
    def code_points(self) -> int:
        return sum(map(len, self.texts))

    def first(self, count: int | None) -> Dataset:
        """The first so many texts; all for None."""
        return replace(self, texts=self.texts[:count])

    def joined(self, most: int) -> str:
        """The texts one after the other, cut to `most` code points."""
        return "".join(self.texts)[:most]

    def sha256(self) -> str:
        """Of the texts' UTF-8, each followed by a NUL."""
        digest = hashlib.sha256()
        for text in self.texts:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()


def read_dataset(path: Path, field: str = "text", skip_bad_lines: bool = False) -> Dataset:
    """The texts of a .jsonl (one object per line, the text in `field`), or the one text of another
    file. Raises OSError; FileFormatError for the first bad line unless those are skipped, and where
    no text is left."""
    rows = path.suffix in ROWS
    good: list[str] = []
    bad: list[str] = []
    for number, line in enumerate(_lines(path.read_bytes(), rows), start=1):
        if not line:
            continue
        try:
            good.append(_row(line, field) if rows else line.decode("utf-8"))
        except ValueError as error:
            problem = f"{path}:{number}: {error}"
            if not skip_bad_lines:
                raise FileFormatError(f"{problem} (--skip-bad-lines leaves it out)") from error
            bad.append(problem)
    texts = good if rows else _whole(good)
    if not texts:
        raise FileFormatError(f"{path}: expected text, got none")
    return Dataset(path.name, tuple(texts), str(path), tuple(bad))


def _lines(data: bytes, rows: bool) -> Iterator[bytes]:
    """Lines with their ends; those of a .jsonl without, so that an empty one is no row."""
    for line in data.split(b"\n") if rows else data.splitlines(keepends=True):
        yield line.strip() if rows else line


def _row(line: bytes, field: str) -> str:
    """Raises ValueError that says what was expected."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"expected a JSON object in UTF-8 ({error})") from error
    text = row.get(field) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"expected a JSON object with a str as {field!r}")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("expected text that has a UTF-8 form, got a lone surrogate")
    return text


def _whole(lines: Sequence[str]) -> list[str]:
    text = "".join(lines)
    return [text] if text else []
