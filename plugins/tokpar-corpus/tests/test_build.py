"""`tokpar corpus build`: the ids of the shards are those of the tokenizer's own call."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from corpora import (
    DOCUMENTS,
    all_documents,
    build_rows,
    contents,
    many,
    megatron_documents,
    own_ids,
    write_rows,
)
from tokpar_corpus import Manifest, build, manifest_of
from tokpar_corpus.build_options import Memory
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.document_encoder import seams_digest
from tokpar_corpus.input_parts import InputPart, Span
from tokpar_corpus.inputs import find_inputs
from tokpar_corpus.lines import line_blocks, open_digested
from tokpar_corpus.manifest import Digest, Position
from tokpar_corpus.part_reading import PartReader

import tokpar


def test_the_shards_have_the_ids_of_the_tokenizers_own_call(tmp_path: Path) -> None:
    manifest = build_rows(tmp_path, DOCUMENTS)
    stem = tmp_path / "shards" / "shard-00000-0000"
    assert megatron_documents(stem) == own_ids(DOCUMENTS)
    assert manifest.documents == len(DOCUMENTS)
    assert manifest.tokens == sum(map(len, own_ids(DOCUMENTS)))
    assert manifest.text_bytes == sum(len(text.encode()) for text in DOCUMENTS)


def test_a_shard_ends_with_the_document_that_fills_it(tmp_path: Path) -> None:
    texts = many(300)
    path = write_rows(tmp_path / "rows.jsonl.gz", texts)
    manifest = build(path, tmp_path / "shards", tokenizer="default", shard_size=2000)
    assert len(manifest.shards) > 5
    assert all_documents(tmp_path / "shards") == own_ids(texts)
    first = 0
    for shard in manifest.shards[:-1]:
        sizes = [len(text.encode()) for text in texts[first : first + shard.documents]]
        assert sum(sizes) == shard.text_bytes >= 2000 > sum(sizes[:-1])
        first += shard.documents
    places = [(shard.begin, shard.end) for shard in manifest.shards]
    assert all(one[1] == other[0] for one, other in pairwise(places))


def test_a_large_file_is_read_in_ranges_of_whole_lines(tmp_path: Path) -> None:
    texts = many(300)
    manifest = build_rows(tmp_path, texts, shard_size=3000)
    assert len({shard.part for shard in manifest.shards}) > 5
    assert all_documents(tmp_path / "shards") == own_ids(texts)
    digests = manifest.inputs[0].digests
    assert [digest.start for digest in digests[1:]] == [digest.stop for digest in digests[:-1]]
    assert digests[-1].stop == manifest.inputs[0].bytes


@pytest.mark.parametrize("shard_size", [1000, 1500])
def test_the_bytes_depend_on_neither_workers_nor_memory(
    tmp_path: Path, shard_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = many(120)
    path = write_rows(tmp_path / "rows.jsonl", texts)
    options = {"tokenizer": "default", "shard_size": shard_size}
    build(path, tmp_path / "one", **options, workers=1)
    monkeypatch.setattr("tokpar_corpus.build_options.Memory.block", property(lambda self: 700))
    build(path, tmp_path / "two", **options, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert all_documents(tmp_path / "two") == own_ids(texts)


def test_a_long_document_is_divided_over_the_workers_and_its_seams_digested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.document_encoder.LONG", 20_000)
    monkeypatch.setattr("tokpar_corpus.document_encoder.CHUNK", 5_000)
    long = "The quick brown fox jumps over the lazy dog. " * 1000
    mixed = "".join(f"{text} {k}\n" for k in range(300) for text in DOCUMENTS) + "ab" * 5000
    texts = ["short", long, "x", long[:30_000], mixed, *many(40)]
    expected = own_ids(texts)
    for workers in (1, 2, 3):
        manifest = build_rows(tmp_path, texts, workers=workers)
        assert all_documents(tmp_path / "shards") == expected
        (shard,) = manifest.shards
        assert [each.document for each in shard.divided] == [1, 3, 4]
        (tmp_path / "shards").rename(tmp_path / f"by-{workers}")
        assert contents(tmp_path / f"by-{workers}") == contents(tmp_path / "by-1")
    tokenizer = tokpar.load("default", **WHOLE)
    with tokpar.Encoder(tokenizer, strategy="cut", chunk_chars=5_000) as encoder:
        encoding: Any = encoder.encode(long)
    assert seams_digest(encoding, long) == shard.divided[0].digest
    assert len(encoding.seams.planned) == shard.divided[0].seams > 5
    assert tokpar.check(encoding, long, tokenizer).ok


def test_eod_follows_each_document_that_has_ids(tmp_path: Path) -> None:
    manifest = build_rows(tmp_path, DOCUMENTS, append_eod=True, eod_token=7)
    expected = [ids + [7] * bool(ids) for ids in own_ids(DOCUMENTS)]
    assert all_documents(tmp_path / "shards") == expected
    assert manifest.options.eod == 7


def test_the_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = build_rows(tmp_path, many(50), shard_size=1000)
    assert manifest_of(tmp_path / "shards") == manifest
    assert Manifest.from_json(manifest.to_json()) == manifest
    found = json.loads(manifest.to_json())
    assert found["tokenizer"]["fingerprint"] == tokpar.load("default", **WHOLE).fingerprint


WHOLE = {"truncation": False, "padding": False}


@pytest.mark.parametrize("data", [b"a\nbb\n\nccc\n", b"a\nbb\nccc", b"\n\n", b"abc"])
def test_ranges_have_each_line_once_wherever_they_are_cut(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    (source,) = find_inputs([str(path)], lines=True).files
    for size in (1, 2, 100):
        monkeypatch.setattr("tokpar_corpus.lines.READ_BYTES", size)
        memory = Memory(1 << 26)
        for cut in range(1, len(data)):
            found = []
            for span in (Span(0, 0, cut), Span(0, cut, len(data))):
                file = open_digested(source, span)
                found += [each.data for each in line_blocks(source, span, file, memory)]
                own = sha256(data[span.start : span.stop]).hexdigest()
                assert file.digest() == Digest(span.start, span.stop, own)
                file.close()
            assert b"".join(found) == data, (size, cut)


@pytest.mark.parametrize("end", [".jsonl", ".jsonl.gz"])
def test_the_digests_of_a_part_that_is_being_read_are_of_all_returned_documents(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal takes them when a shard ends in the middle of an input."""
    monkeypatch.setattr("tokpar_corpus.lines.READ_BYTES", 1000)
    rows = b"".join(b'{"text": "document %d"}\n' % k for k in range(500))
    path = tmp_path / f"rows{end}"
    path.write_bytes(gzip.compress(rows, 0) if end.endswith("gz") else rows)
    data = path.read_bytes()
    (source,) = find_inputs([str(path)], lines=False).files
    part = InputPart(0, (Span(0, 0, len(data)),))
    reader = PartReader(
        (source,), part, Position(0, 0), "text", None, None, Memory(64 * 1000), Progress()
    )
    documents, places = 0, []
    for block in reader.blocks():
        documents += len(block.texts)
        ((number, digest),) = reader.digests()
        assert (number, digest.start) == (0, 0)
        assert digest.sha256 == sha256(data[: digest.stop]).hexdigest()
        needed = rows.index(b"document %d" % (documents - 1))
        assert digest.stop >= needed  # stored without compression, a .gz is longer than its rows
        places.append(digest.stop)
    assert documents == 500
    assert places[0] < len(data)
    assert reader.digests() == ((0, Digest(0, len(data), sha256(data).hexdigest())),)
