"""Small corpora, builds of them, and shards read back by their formats' own rules."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokpar_corpus import Manifest, build

import tokpar

DOCUMENTS = (
    "Hello world, this is a document.",
    "Zürich 北京 😀 and more words",
    "def f(x):\n    return x * 2\n",
    "",
    "one",
    "A longer document. " * 40,
    "\u2028 odd  spaces \t and\r\nlines",
    '{"json": [1, 2.5, null, "x"]}',
)


def write_rows(path: Path, texts: Iterable[str], **fields: Sequence[Any]) -> Path:
    """A .jsonl, also .gz, of the texts; `fields`: more values of each row."""
    rows = [
        json.dumps({"text": text, **{name: fields[name][k] for name in fields}})
        for k, text in enumerate(texts)
    ]
    data = "".join(row + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def many(count: int) -> list[str]:
    """Documents of different lengths."""
    return [f"{k} " + DOCUMENTS[k % len(DOCUMENTS)] * (k % 5) for k in range(count)]


def build_rows(folder: Path, texts: Iterable[str], **options: Any) -> Manifest:
    """Builds texts from one .jsonl into folder/shards, with the bundled tokenizer."""
    path = write_rows(folder / "rows.jsonl", texts)
    options = {"tokenizer": "default", "workers": 1, **options}
    return build(path, folder / "shards", **options)


def megatron_documents(stem: Path) -> list[list[int]]:
    """The ids of each document of stem.bin and stem.idx, read as Megatron's loader does."""
    index = stem.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code = struct.unpack("<QB", index[9:18])
    assert version == 1
    sequences, documents = struct.unpack("<QQ", index[18:34])
    lengths = np.frombuffer(index, np.int32, sequences, 34)
    pointers = np.frombuffer(index, np.int64, sequences, 34 + 4 * sequences)
    edges = np.frombuffer(index, np.int64, documents, 34 + 12 * sequences)
    assert len(index) == 34 + 12 * sequences + 8 * documents
    dtype = np.dtype({4: np.int32, 8: np.uint16}[code])
    data = stem.with_suffix(".bin").read_bytes()
    each = [
        np.frombuffer(data, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True)
    ]
    return [
        [id_ for one in each[first:stop] for id_ in one]
        for first, stop in zip(edges.tolist(), edges[1:].tolist(), strict=False)
    ]


def all_documents(folder: Path) -> list[list[int]]:
    """The ids of all documents of a folder of Megatron shards."""
    found = []
    for path in sorted(folder.glob("*.bin")):
        found += megatron_documents(path.with_suffix(""))
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a build but the journal and the lock, whose order and presence may differ."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in ("journal.jsonl", ".lock")
    }


def own_ids(texts: list[str] | tuple[str, ...], **settings: bool) -> list[list[int]]:
    tokenizer = tokpar.load("default", **settings)
    return [tokpar.encode(text, tokenizer, strategy="serial").ids.tolist() for text in texts]
