"""Shards for tests, written by a few lines for each format, and tokenizers that fill them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from tokpar_corpus import AuditReport
from tokpar_corpus.tokenizer_source import load_for_corpus

import tokpar
from tests.support.paths import VOCAB
from tokpar.contract.interfaces import TokenizerAdapter

Documents = Sequence[Sequence[int]]
TEXTS = [
    "Hello world, this is a document.",
    "def f(x):\n    return x + 1  # one more\n",
    "Größe und Maß: naïve café, 12345 + 67890 = ?",
    "中文文本和 English mixed, 日本語 too.",
    "   leading and trailing spaces   ",
    "a",
    "\n\n\tTabs and newlines\r\n",
    "Ünïcödé ſ Ⅷ ﬁ e\u0301 😀 👩\u200d👩",
    "The end. " * 40,
    "İstanbul THE QUICK Brown (fox)! [x] {y}",
]


def write_megatron(path: Path, documents: Documents, dtype: str = "i4") -> Path:
    """`path`.bin and .idx."""
    code = {"i4": 4, "u2": 8, "i8": 5}[dtype]
    width, lengths = np.dtype(dtype).itemsize, [len(ids) for ids in documents]
    starts = np.cumsum([0, *lengths])[:-1] * width
    index = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, code, len(lengths), len(lengths) + 1)
    index += np.array(lengths, "<i4").tobytes() + starts.astype("<i8").tobytes()
    index += np.arange(len(lengths) + 1, dtype="<i8").tobytes()
    path.with_suffix(".idx").write_bytes(index)
    path.with_suffix(".bin").write_bytes(_flat(documents, dtype).tobytes())
    return path.with_suffix(".bin")


def write_datatrove(path: Path, documents: Documents, dtype: str = "u4") -> Path:
    """`path`.ds and .ds.index."""
    ends = np.cumsum([len(ids) for ids in documents])
    path.with_suffix(".ds").write_bytes(_flat(documents, dtype).tobytes())
    path.with_suffix(".ds.index").write_bytes(ends.astype("<u8").tobytes())
    return path.with_suffix(".ds")


def write_numpy(path: Path, documents: Documents, dtype: str = "u4") -> Path:
    """`path`.npy and .offsets.npy."""
    np.save(path.with_suffix(".npy"), _flat(documents, dtype))
    lengths = [0, *(len(ids) for ids in documents)]
    np.save(path.with_suffix(".offsets.npy"), np.cumsum(lengths))
    return path.with_suffix(".npy")


def write_parquet(path: Path, documents: Documents, dtype: str = "u4") -> Path:
    """`path`.parquet."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = _table(documents, dtype)
    parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=3)
    return path.with_suffix(".parquet")


def write_arrow(path: Path, documents: Documents, dtype: str = "u4", new: str = "new_file") -> Path:
    """`path`.arrow, an IPC file, or a stream ("new_stream"), as `datasets` has it."""
    ipc = pytest.importorskip("pyarrow.ipc")
    table = _table(documents, dtype)
    with getattr(ipc, new)(path.with_suffix(".arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return path.with_suffix(".arrow")


FORMATS: dict[str, Callable[..., Path]] = {
    "megatron": write_megatron,
    "datatrove": write_datatrove,
    "numpy": write_numpy,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "stream": partial(write_arrow, new="new_stream"),
}


def _flat(documents: Documents, dtype: str) -> np.ndarray[Any, np.dtype[Any]]:
    return np.array([id_ for ids in documents for id_ in ids], dtype=np.int64).astype(dtype)


def _table(documents: Documents, dtype: str) -> Any:
    """A pyarrow.Table with one row for each document."""
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.list_(pyarrow.from_numpy_dtype(np.dtype(dtype)))
    return pyarrow.table({"input_ids": pyarrow.array([list(ids) for ids in documents], kind)})


@dataclass(frozen=True)
class Kind:
    """A tokenizer of the tests. `end`: a special token that builders append to documents."""

    name: str
    adapter: TokenizerAdapter
    end: int | None = None

    def documents(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of texts as a builder stores them: special tokens, and the end token."""
        with tokpar.Encoder(self.adapter) as encoder:
            rows = [encoder.encode(text).ids.tolist() for text in texts]
        return [[*ids, self.end] if self.end is not None and ids else ids for ids in rows]


def tiktoken_part(name: str) -> tiktoken.Encoding:
    """An encoding of a part vocabulary with <|endoftext|> as its special token."""
    from tokpar.formats.formats import read_ranks

    ranks = read_ranks(VOCAB / f"{name}_part.tiktoken")
    pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[f"{name}_part"]
    special = {"<|endoftext|>": max(ranks.values()) + 1}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


@cache
def kind(name: str) -> Kind:
    """ "deepseek", "cl100k", "o200k", "bert", "llama" or "unigram"."""
    if name in ("cl100k", "o200k"):
        encoding = tiktoken_part(name)
        return Kind(name, tokpar.load(encoding), encoding.eot_token)
    files = {
        "deepseek": ("deepseek_part.json", 1),
        "bert": ("bert_part.json", None),
        "llama": ("llama_style.json", 2),
        "unigram": ("metaspace_unigram.json", None),
    }
    file, end = files[name]
    return Kind(name, load_for_corpus(str(VOCAB / file), None, {}).adapter, end)


KINDS = ("deepseek", "cl100k", "bert", "llama", "unigram")


def names_of(report: AuditReport) -> list[str]:
    """The checks that found something."""
    return [result.check for result in report.results if result.count]
