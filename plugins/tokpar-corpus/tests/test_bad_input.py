"""What cannot be used is named with its place; nothing looks whole that is not."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from corpora import all_documents, build_rows, contents, many, own_ids, write_rows
from tokpar_corpus import build
from tokpar_corpus.folder_lock import lock_folder
from tokpar_corpus.journal import Entry, Journal

from tests.support.cli_runs import run
from tests.support.paths import VOCAB
from tokpar.errors import FileFormatError, OptionError

GOOD = b'{"text": "good"}\n'
FAULTS = {
    "broken line": b'{"text": "a"\n',
    "missing field": b'{"body": "a"}\n',
    "field of another type": b'{"text": ["a"]}\n',
    "invalid UTF-8": b'{"text": "\xff"}\n',
}


def built(tmp_path: Path, source: Path, **options: Any) -> Any:
    return build(source, tmp_path / "shards", tokenizer="default", workers=1, **options)


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("end", [".jsonl", ".jsonl.gz"])
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, kind: str, end: str) -> None:
    source = tmp_path / f"rows{end}"
    data = GOOD + b"\n" + GOOD + FAULTS[kind] + GOOD
    source.write_bytes(gzip.compress(data) if end.endswith("gz") else data)
    with pytest.raises(FileFormatError) as refused:
        built(tmp_path, source)
    assert f"{source}:4: " in str(refused.value)
    assert "--errors skip" in str(refused.value)
    assert not list((tmp_path / "shards").glob("*shard-*"))


def test_bad_lines_are_skipped_and_counted_by_kind(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    lone = b'{"text": "\\ud800"}\n'
    source.write_bytes(GOOD.join([b"", *FAULTS.values(), lone, b""]))
    manifest = built(tmp_path, source, errors="skip")
    assert manifest.skipped == {**dict.fromkeys(FAULTS, 1), "invalid UTF-8": 2}
    assert all_documents(tmp_path / "shards") == own_ids(["good"] * 6)


def test_what_is_skipped_does_not_depend_on_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [GOOD, b'{"text": "a"} {"text": "b"}\n', b'{"text": "a", "text": "b"}\n', b'{"text":\n']
    rows += [b'"c"}\n', b'  {"text": "x", "n": NaN}\n', b'{"text": "\\u0000"}\r\n', b"[1]\n"]
    rows += [b'{"x": "\xff", "text": "a"}\n', b'{"text": null}\n', b'\xef\xbb\xbf{"text": "a"}\n']
    source = tmp_path / "rows.jsonl"
    for count in range(len(rows)):
        source.write_bytes(rows[count] + b"".join(rows[: count + 1]) + GOOD * 2)
        manifest = built(tmp_path, source, errors="skip")
        with monkeypatch.context() as patched:
            patched.setattr("tokpar_corpus.json_rows.RowReader._arrow", None)
            build(source, tmp_path / "other", tokenizer="default", errors="skip", workers=1)
        assert contents(tmp_path / "other") == contents(tmp_path / "shards"), rows[count]
        assert manifest.documents + sum(manifest.skipped.values()) >= count + 3
        shutil.rmtree(tmp_path / "shards"), shutil.rmtree(tmp_path / "other")


def test_a_text_that_the_tokenizer_refuses_is_named(tmp_path: Path) -> None:
    texts = ["good", "bad <|endoftext|> text", "good"]
    path = write_rows(tmp_path / "rows.jsonl", texts)
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    special = {"<|endoftext|>": 256}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens=special
    )
    with pytest.raises(FileFormatError, match=rf"{path}:2: .*disallowed special token"):
        build(path, tmp_path / "shards", tokenizer=encoding)
    manifest = build(path, tmp_path / "skipped", tokenizer=encoding, errors="skip", append_eod=True)
    assert manifest.skipped == {"refused by the tokenizer": 1}
    assert all_documents(tmp_path / "skipped") == [[*b"good", 256]] * 2


def test_a_special_token_in_a_document_is_one_line_with_options_that_work(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", ["good", "bad <|endoftext|> text"])
    ranks = VOCAB / "cl100k_part.tiktoken"
    given = ("corpus", "build", path, "--tokenizer", ranks, "--encoding", "cl100k_base", "--out")
    refused = run(*given, tmp_path / "refused", "--quiet")
    assert f"{path}:2: the text spells the special token '<|endoftext|>': " in refused.error
    for option in (("--disallowed-special", "none"), ("--allowed-special", "<|endoftext|>")):
        assert " ".join(option).replace("<", "'<").replace(">", ">'") in refused.error
        assert run(*given, tmp_path / option[1], *option).code == 0


def test_a_mistake_of_the_program_is_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise AttributeError("no such function")

    monkeypatch.setattr("tokpar.encoder.Encoder.unprocessed_batch", broken)
    with pytest.raises(AttributeError):
        build_rows(tmp_path, ["a"], errors="skip")


def test_a_document_that_needs_more_memory_names_the_budget(tmp_path: Path) -> None:
    texts = ["short", ("some words " * 500_000)[:5_000_000]]
    path = write_rows(tmp_path / "rows.jsonl", texts)
    with pytest.raises(OptionError, match=r"needs --memory-budget 80000208 "):
        built(tmp_path, path, memory_budget="64MiB")
    built(tmp_path, path, memory_budget=80000208, resume=True)
    assert len(all_documents(tmp_path / "shards")) == 2


def test_an_id_that_the_dtype_cannot_hold_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.job.dtype_for", lambda *given: "uint16")
    monkeypatch.setattr(
        "tokpar_corpus.document_encoder.surround_rows",
        lambda rows, *given: type(rows).of([[1], [70_000]]),
    )
    with pytest.raises(FileFormatError, match=r"rows.jsonl:2: the id 70,000 does not fit uint16"):
        build_rows(tmp_path, ["a", "b"])


def write_documents(folder: Path, kind: str, texts: Sequence[str]) -> Path:
    """Returns the input, which is written in place: the same inode gets another content."""
    rows = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        path, made = folder / "rows.parquet", io.BytesIO()
        parquet = importlib.import_module("pyarrow.parquet")
        parquet.write_table(arrow.table({"text": list(texts)}), made, compression="none")
        data = made.getvalue()
    else:
        path = folder / ("rows.jsonl.gz" if kind == "gz" else "rows.jsonl")
        data = gzip.compress(rows, 0, mtime=0) if kind == "gz" else rows
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(data)
        file.truncate()
    return path


def build_until(folder: Path, path: Path, shards: int | None) -> None:
    """Builds shards of 1,000 bytes, and stops as a killed build does: after some shards, or at the
    end if `shards` is None."""
    append, count = Journal.append, 0

    def counted(journal: Journal, entry: Entry) -> None:
        nonlocal count
        append(journal, entry)
        count += 1
        if count == shards:
            raise KeyboardInterrupt

    with mock.patch.object(Journal, "append", counted):
        if shards is None:
            built(folder, path, shard_size=1000)
            return
        with pytest.raises(KeyboardInterrupt):
            built(folder, path, shard_size=1000)


def test_an_input_that_changed_since_the_journal_is_named(tmp_path: Path) -> None:
    build_rows(tmp_path, many(60), shard_size=1000)
    path = tmp_path / "rows.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Hello", b"Hallo"))
    with pytest.raises(FileFormatError, match="changed since the build began: its digest"):
        built(tmp_path, path, shard_size=1000, resume=True)
    path.write_bytes(data)  # written to, and the same
    built(tmp_path, path, shard_size=1000, resume=True)
    path.write_bytes(data + b"\n")
    with pytest.raises(FileFormatError, match="changed since the build began: it had"):
        built(tmp_path, path, shard_size=1000, resume=True)


@pytest.mark.parametrize("old", [True, False], ids=["old", "recent"])
@pytest.mark.parametrize("shards_done", [1, 3, None], ids=["one", "some", "all"])
@pytest.mark.parametrize("kind", ["plain", "gz", "parquet"])
def test_an_input_changed_in_place_and_with_its_old_time_is_named(
    tmp_path: Path, kind: str, shards_done: int | None, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Size and modification time are those of the file that the shards were made of."""
    if old:  # the file was written long before the build
        monkeypatch.setattr("tokpar_corpus.inputs.RECENT", -1)
    texts = [f"Hello {k} " + "x" * 50 for k in range(120)]
    path = write_documents(tmp_path, kind, texts)
    build_until(tmp_path, path, shards_done)
    before = path.stat()
    time.sleep(0.02)  # longer than a tick of the file system's clock
    write_documents(tmp_path, kind, ["Jello" + text[5:] for text in texts])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(FileFormatError, match="changed since the build began: its digest"):
        built(tmp_path, path, shard_size=1000, resume=True)
    write_documents(tmp_path, kind, texts)  # written to, and the same
    built(tmp_path, path, shard_size=1000, resume=True)
    assert all_documents(tmp_path / "shards") == own_ids(texts)


def test_inputs_with_their_old_times_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.inputs.RECENT", -1)
    path = write_documents(tmp_path, "plain", many(20))
    build_until(tmp_path, path, None)
    monkeypatch.setattr("tokpar_corpus.journal.range_digest", lambda *given: pytest.fail("read"))
    built(tmp_path, path, shard_size=1000, resume=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"append_eod": True, "eod_token": 3}, "options eod was None, now 3"),
        ({"format": "numpy"}, "options dtype was|options format was 'megatron', now 'numpy'"),
        ({"bos": False, "shard_size": 9000}, "options shard_bytes|options bos"),
    ],
)
def test_another_build_is_not_gone_on_with(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    build_rows(tmp_path, many(5))
    with pytest.raises(FileFormatError, match=said):
        built(tmp_path, tmp_path / "rows.jsonl", resume=True, **options)


def test_other_versions_and_tokenizers_are_not_gone_on_with(tmp_path: Path) -> None:
    build_rows(tmp_path, many(5))
    journal = tmp_path / "shards" / "journal.jsonl"
    written = journal.read_text()
    for field, value in (("fingerprint", "0" * 64), ("engine_version", "0.1"), ("source", "x")):
        first, rest = written.split("\n", 1)
        head = json.loads(first)
        head["tokenizer"][field] = value
        journal.write_text(json.dumps(head) + "\n" + rest)
        with pytest.raises(FileFormatError, match=f"tokenizer {field} was '{value[:3]}"):
            built(tmp_path, tmp_path / "rows.jsonl", resume=True)
    first, rest = written.split("\n", 1)
    journal.write_text(json.dumps(json.loads(first) | {"format_version": 99}) + "\n" + rest)
    with pytest.raises(FileFormatError, match="format_version: this tokpar reads 1, got 99"):
        built(tmp_path, tmp_path / "rows.jsonl", resume=True)


def test_two_builds_into_one_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    with (
        lock_folder(tmp_path / "shards"),
        pytest.raises(OptionError, match="another build is writing into this folder"),
    ):
        build_rows(tmp_path, many(5))


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path) -> None:
    build_rows(tmp_path, many(5))
    with pytest.raises(OptionError, match="--resume goes on with it"):
        build_rows(tmp_path, many(5))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(OptionError, match="is not empty"):
        build(tmp_path / "rows.jsonl", tmp_path / "other", tokenizer="default")


def test_a_missing_or_unknown_input_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.bin").touch()
    arguments = ("--tokenizer", "default", "--out", tmp_path / "out")
    assert "there is no such file" in run("corpus", "build", tmp_path / "b.jsonl", *arguments).error
    assert "does not tell" in run("corpus", "build", tmp_path / "a.bin", *arguments).error
