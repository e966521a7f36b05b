"""Texts to measure on, built by a stated construction and never by plain repetition."""

from __future__ import annotations

import base64
import contextlib
import json
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def read_texts(path: Path) -> list[str]:
    """Texts of a .jsonl file (field "text" of each row), or the one text of any other file."""
    if path.suffix != ".jsonl":
        return [path.read_text(encoding="utf-8")]
    with path.open(encoding="utf-8") as rows:
        return [json.loads(row)["text"] for row in rows if row.strip()]


def standard_library() -> str:
    """The interpreter's own standard library sources, in the order of their paths."""
    root = Path(sysconfig.get_path("stdlib"))
    files = sorted(p for p in root.rglob("*.py") if "site-packages" not in p.parts)
    return "".join(_sources(files))


def _sources(files: list[Path]) -> Iterator[str]:
    for file in files:
        source = file.read_bytes()
        with contextlib.suppress(UnicodeDecodeError):  # some files of its tests are not UTF-8
            yield source.decode("utf-8")


def long_text(texts: list[str], size: int, seed: int = 0) -> str:
    """`size` code points: the texts, the standard library, then shuffled paragraphs of both."""
    whole = "".join(texts)
    if len(whole) < size:
        whole += standard_library()
    paragraphs = whole.split("\n\n")
    shuffle = random.Random(seed)
    while len(whole) < size:
        shuffle.shuffle(paragraphs)
        whole += "\n\n".join(paragraphs)
    return whole[:size]


def documents(text: str, length: int) -> list[str]:
    """The text in pieces of `length` code points."""
    return [text[start : start + length] for start in range(0, len(text), length)]


def in_base64(size: int, seed: int = 0) -> str:
    """Random bytes, nearly `size` characters of them."""
    return base64.b64encode(random.Random(seed).randbytes(size * 3 // 4)).decode()
