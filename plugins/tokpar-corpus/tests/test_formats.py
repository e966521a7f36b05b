"""Every format in, every format out, read back by its own library."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpora import DOCUMENTS, all_documents, build_rows, contents, many, own_ids, write_rows
from tokpar_corpus import build

from tokpar.errors import FileFormatError


def read_numpy(folder: Path) -> list[list[int]]:
    found = []
    for path in sorted(folder.glob("*.offsets.npy")):
        offsets = np.load(path, mmap_mode="r")
        ids = np.load(str(path).replace(".offsets.", ".ids."), mmap_mode="r")
        assert offsets[-1] == len(ids)
        found += [part.tolist() for part in np.split(ids, offsets[1:-1])]
    return found


def read_parquet(folder: Path) -> list[list[int]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    each = (parquet.read_table(path) for path in sorted(folder.glob("*.parquet")))
    return [ids for table in each for ids in table["input_ids"].to_pylist()]


def read_arrow(folder: Path) -> list[list[int]]:
    ipc = pytest.importorskip("pyarrow.ipc")
    each = (ipc.open_file(path).read_all() for path in sorted(folder.glob("*.arrow")))
    return [ids for table in each for ids in table["input_ids"].to_pylist()]


READERS: dict[str, Callable[[Path], list[list[int]]]] = {
    "megatron": all_documents,
    "numpy": read_numpy,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


@pytest.mark.parametrize("group_ids", [50, 1 << 22])
@pytest.mark.parametrize("format_", READERS)
def test_each_format_reads_back_the_ids_and_its_bytes_do_not_depend_on_blocks(
    tmp_path: Path, format_: str, group_ids: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.columnar.GROUP_IDS", group_ids)
    texts = many(90)
    build_rows(tmp_path, texts, format=format_, shard_size=2500)
    assert READERS[format_](tmp_path / "shards") == own_ids(texts)
    monkeypatch.setattr("tokpar_corpus.build_options.Memory.block", property(lambda self: 500))
    build(
        tmp_path / "rows.jsonl",
        tmp_path / "other",
        tokenizer="default",
        format=format_,
        shard_size=2500,
    )
    assert contents(tmp_path / "other") == contents(tmp_path / "shards")


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
def test_document_ids_stand_beside_the_documents(tmp_path: Path, format_: str) -> None:
    pa = pytest.importorskip("pyarrow")
    path = write_rows(tmp_path / "rows.jsonl", DOCUMENTS, name=[f"doc {k}" for k in range(8)])
    build(path, tmp_path / "shards", tokenizer="default", format=format_, document_id="name")
    file = tmp_path / "shards" / f"shard-00000-0000.{format_}"
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(file) if format_ == "parquet" else pa.ipc.open_file(file).read_all()
    assert table["document_id"].to_pylist() == [f"doc {k}" for k in range(8)]


def write_parquet(path: Path, texts: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"n": range(len(texts)), "text": texts}), path, row_group_size=9)


def write_arrow_file(path: Path, texts: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": texts})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, 13)


def write_arrow_stream(path: Path, texts: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, 13)


def write_zst(path: Path, texts: list[str]) -> None:
    zstandard = pytest.importorskip("zstandard")
    rows = [json.dumps({"text": text}).encode() + b"\n" for text in texts]
    frames = [zstandard.compress(b"".join(rows[k : k + 7])) for k in range(0, len(rows), 7)]
    path.write_bytes(b"".join(frames))


SOURCES: dict[str, Callable[[Path, list[str]], object]] = {
    "a.jsonl": write_rows,
    "b.jsonl.gz": write_rows,
    "c.jsonl.zst": write_zst,
    "d.parquet": write_parquet,
    "e.arrow": write_arrow_file,
    "f.arrow": write_arrow_stream,
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("shard_size", [1000, 1 << 30])
def test_each_kind_of_input_gives_the_same_documents(
    tmp_path: Path, name: str, shard_size: int
) -> None:
    texts = many(60)
    SOURCES[name](tmp_path / name, texts)
    manifest = build(
        tmp_path / name, tmp_path / "shards", tokenizer="default", shard_size=shard_size
    )
    assert all_documents(tmp_path / "shards") == own_ids(texts)
    assert len(manifest.shards) > 1 or shard_size > 1000


def test_patterns_folders_and_urls_name_the_same_files_in_order(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "in").mkdir()
    for k in (3, 1, 2):
        write_rows(tmp_path / "in" / f"{k}.jsonl", [f"document {k}"])
    expected = own_ids([f"document {k}" for k in (1, 2, 3)])
    names = [tmp_path / "in" / "*.jsonl", tmp_path / "in", f"file://{tmp_path}/in/*.jsonl"]
    for k, name in enumerate([*names, f"file://{tmp_path}/in/"]):
        build(str(name), tmp_path / str(k), tokenizer="default")
        assert all_documents(tmp_path / str(k)) == expected


def test_a_text_file_is_a_document_and_with_lines_each_line(tmp_path: Path) -> None:
    text = "one\ntwo é\r\n\n  three  "
    (tmp_path / "a.txt").write_bytes(text.encode())
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"other"))
    names = [tmp_path / "a.txt", tmp_path / "b.txt.gz"]
    build(names, tmp_path / "files", tokenizer="default")
    assert all_documents(tmp_path / "files") == own_ids([text, "other"])
    build(names, tmp_path / "lines", tokenizer="default", lines=True)
    assert all_documents(tmp_path / "lines") == own_ids(["one", "two é", "  three  ", "other"])


def test_a_row_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a", None, "b"]}), path)
    with pytest.raises(FileFormatError, match=f"{path}, row 1: 'text' is null"):
        build(path, tmp_path / "shards", tokenizer="default")
    manifest = build(path, tmp_path / "skipped", tokenizer="default", errors="skip")
    assert manifest.skipped == {"missing field": 1}
    with pytest.raises(FileFormatError, match="expected a column 'body', got 'text'"):
        build(path, tmp_path / "other", tokenizer="default", field="body")


def test_ids_are_inserted_around_rows_and_eod_only_after_ids() -> None:
    from tokpar_corpus.tokenizer_source import surround_rows

    from tokpar.types import Rows

    rows = Rows.of([[7, 8], [], [9]])
    found = surround_rows(rows, (1, 2), (3,), 4)
    assert [found[k].tolist() for k in range(3)] == [
        [1, 2, 7, 8, 3, 4],
        [1, 2, 3, 4],
        [1, 2, 9, 3, 4],
    ]
    found = surround_rows(rows.part(1, 3), (), (), 4)
    assert [found[k].tolist() for k in range(2)] == [[], [9, 4]]


def test_megatron_shards_are_those_of_megatrons_own_builder(tmp_path: Path) -> None:
    """megatron-core 0.16.1 and 0.20.0 both write the golden bytes (tests.recipes.golden_shards)."""
    from tokpar_corpus.durable_files import Disk
    from tokpar_corpus.megatron import MegatronWriter

    from tokpar.types import Rows

    golden = Path(__file__).parent / "golden"
    rows = Rows.of(json.loads((golden / "ids.json").read_text()))
    writer = MegatronWriter(Disk(), tmp_path, "shard", "int32")
    writer.add(rows.part(0, 5), None)
    writer.add(rows.part(5, len(rows)), None)
    writer.finish()
    for end in (".bin", ".idx"):
        written = (tmp_path / f"shard{end}").read_bytes()
        assert written == (golden / f"megatron{end}").read_bytes()


def zst_frame(data: bytes, window: int) -> bytes:
    """A frame that says that it refers back up to `window` bytes, by RFC 8878. Its blocks are raw.
    `window`: the exponent and the mantissa of the window descriptor, (8 + mantissa) * 2**(7 +
    exponent) bytes."""
    blocks = [data[k : k + 1000] for k in range(0, len(data), 1000)] or [b""]
    body = b"".join(
        (len(block) << 3 | (k == len(blocks) - 1)).to_bytes(3, "little") + block
        for k, block in enumerate(blocks)
    )
    return bytes.fromhex("28b52ffd00") + bytes([window]) + body


LARGEST_WINDOW = (31 - 10) << 3
"""The descriptor of 2**31 bytes."""


def test_a_zst_of_each_window_up_to_two_gigabytes_is_read(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    texts = many(30)
    rows = [json.dumps({"text": text}).encode() + b"\n" for text in texts]
    for window in range(0, LARGEST_WINDOW + 1, 4):
        frames = [zst_frame(b"".join(rows[k : k + 9]), window) for k in range(0, len(rows), 9)]
        path = tmp_path / f"{window}.jsonl.zst"
        path.write_bytes(b"".join(frames))
        build(path, tmp_path / str(window), tokenizer="default", workers=1)
        assert all_documents(tmp_path / str(window)) == own_ids(texts)
    for window in range(LARGEST_WINDOW + 1, 256, 40):
        path.write_bytes(zst_frame(rows[0], window))
        with pytest.raises(FileFormatError, match=r"\.zst"):
            build(path, tmp_path / "larger", tokenizer="default")
