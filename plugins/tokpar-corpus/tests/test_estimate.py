"""What a dry run expects is what the build makes, within the error that it states."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tokpar_corpus import build
from tokpar_corpus.build_options import BUDGET, Memory
from tokpar_corpus.columns import column_blocks
from tokpar_corpus.estimate import Estimate, estimate, groups_of
from tokpar_corpus.inputs import find_inputs
from tokpar_corpus.job import Request, prepare

from tests.support.cli_runs import run

pa = pytest.importorskip("pyarrow", reason="pyarrow reads columns")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow reads columns")
zstandard = pytest.importorskip("zstandard", reason="zstandard reads .zst")

WORDS = ["the", "quick", " brown", "fox", "jumps", "Zürich", "北京", "2024", "return"]


def rows_of(texts: Sequence[str]) -> bytes:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


def write_arrow(path: Path, texts: list[str]) -> None:
    table = pa.table({"text": texts})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, 50)


WRITERS: dict[str, Callable[[Path, list[str]], object]] = {
    ".jsonl": lambda path, texts: path.write_bytes(rows_of(texts)),
    ".jsonl.gz": lambda path, texts: path.write_bytes(gzip.compress(rows_of(texts))),
    ".jsonl.zst": lambda path, texts: path.write_bytes(zstandard.compress(rows_of(texts))),
    ".parquet": lambda path, texts: parquet.write_table(
        pa.table({"text": texts}), path, row_group_size=100
    ),
    ".arrow": write_arrow,
}


def write_mix(folder: Path, seed: int, large: int = 1500) -> Path:
    """Files of each kind and of two sizes, each with documents of lengths of its own."""
    chance = random.Random(seed)
    folder.mkdir()
    for suffix, write in WRITERS.items():
        for number, count in enumerate([large, *[60] * 10]):
            most = chance.choice([5, 20, 80]) if number == 0 else chance.choice([20, 150])
            texts = [
                " ".join(chance.choices(WORDS, k=chance.randint(1, most))) for _ in range(count)
            ]
            write(folder / f"{number:02}{suffix}", texts)
    return folder


def of_folder(folder: Path) -> Estimate:
    return estimate(prepare(Request([str(folder)], folder.parent / "out", "default", workers=1)))


@pytest.mark.parametrize("seed", range(2))
def test_the_expected_counts_are_those_of_the_build_within_the_stated_error(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_mix(tmp_path / "in", seed, large=9000)
    monkeypatch.setattr("tokpar_corpus.estimate.BLOCK_BYTES", 60_000)
    monkeypatch.setattr("tokpar_corpus.estimate.PLACE_BYTES", 240_000)
    found = of_folder(folder)
    manifest = build(folder, tmp_path / "out", tokenizer="default")
    assert found.documents < manifest.documents * 0.8  # a sample, not all
    for error, expected, true in (
        (found.document_error, found.all_documents, manifest.documents),
        (found.token_error, found.all_tokens, manifest.tokens),
    ):
        assert 0 < error < 0.4
        assert abs(expected - true) <= max(1.5 * error, 0.04) * true  # small files are read ahead


def test_a_sample_that_reads_all_is_exact_for_each_kind(tmp_path: Path) -> None:
    folder = write_mix(tmp_path / "in", 4)
    (folder / "note.txt").write_text("one document")
    found = of_folder(folder)
    manifest = build(folder, tmp_path / "out", tokenizer="default")
    assert (found.all_documents, found.all_tokens) == (manifest.documents, manifest.tokens)
    assert found.stored_bytes == sum(each.bytes for each in manifest.inputs)
    assert (found.document_error, found.token_error) == (0.0, 0.0)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("block_bytes", [500, 20_000, None])
def test_the_stored_bytes_of_columns_add_up_to_the_file(
    suffix: str, block_bytes: int | None, tmp_path: Path
) -> None:
    path = tmp_path / f"a{suffix}"
    WRITERS[suffix](path, [f"document {k}" * (k % 50) for k in range(700)])
    [source] = find_inputs([str(path)]).files
    memory = Memory(BUDGET, block_bytes)
    sizes = [each.stored_bytes for each in column_blocks(source, 0, "text", None, None, memory, 0)]
    assert sum(sizes) == source.bytes
    assert min(sizes) >= 0
    assert max(sizes) < source.bytes or block_bytes is None


def test_inputs_are_grouped_by_kind_compression_and_size(tmp_path: Path) -> None:
    inputs = find_inputs([str(write_mix(tmp_path / "in", 0))]).files
    for group in groups_of(inputs):
        some = [inputs[number] for number in group]
        assert len({(each.kind, each.is_compressed) for each in some}) == 1
        assert max(each.bytes for each in some) < 8 * min(each.bytes for each in some)
    assert sorted(number for group in groups_of(inputs) for number in group) == [
        *range(len(inputs))
    ]


def test_a_compressed_file_that_is_not_read_to_its_end_is_said_to_be_read_at_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.estimate.BLOCK_BYTES", 20_000)
    monkeypatch.setattr("tokpar_corpus.estimate.PLACE_BYTES", 60_000)
    WRITERS[".jsonl.gz"](tmp_path / "a.jsonl.gz", [f"some words {k}" for k in range(40_000)])
    words = ("corpus", "build", tmp_path / "a.jsonl.gz", "--tokenizer", "default", "--out")
    printed = run(*words, tmp_path / "out", "--dry-run").out
    assert "\ncompressed files were read at their beginnings\n" in printed


def test_a_dry_run_prints_seconds_and_gigabytes_an_hour(tmp_path: Path) -> None:
    WRITERS[".jsonl"](tmp_path / "a.jsonl", ["some words"] * 900)
    words = ("corpus", "build", tmp_path / "a.jsonl", "--tokenizer", "default", "--out")
    printed = run(*words, tmp_path / "out", "--dry-run").out
    assert "expected: 900 documents, 1,800 tokens, " in printed
    time = re.search(
        r"^time: [\d.]+ s on this machine without writing, ([\d.,]+) GB", printed, re.M
    )
    assert time is not None, printed


def test_what_a_reader_of_compressed_files_reads_ahead_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to 128 KiB of a .gz, before its first block."""
    path = tmp_path / "a.jsonl.gz"
    WRITERS[".jsonl.gz"](path, [f"some words {k}" for k in range(5000)])
    size = path.stat().st_size
    assert size > 1000
    counted = [np.array([stored, 10.0, 100.0, 900.0]) for stored in (300.0, 50.0, 50.0)]
    monkeypatch.setattr("tokpar_corpus.estimate._count_blocks", lambda *given: iter(counted))
    job = prepare(Request([str(path)], tmp_path / "out", "default", workers=1))
    assert estimate(job).all_tokens == 2 * size
