"""The commands of `tokpar corpus` that read shards: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from corpora import write_rows
from tokpar_corpus import build
from written_shards import TEXTS, VOCAB, kind, write_numpy

from tokpar.cli import main

LLAMA = str(VOCAB / "llama_style.json")


def test_audit_prints_each_check_and_ends_with_0_for_clean_shards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_numpy(tmp_path / "shard", kind("llama").documents(TEXTS))
    source = write_rows(tmp_path / "texts.jsonl", TEXTS)
    code = main(["corpus", "audit", str(path), "--tokenizer", LLAMA, "--against", str(source)])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].startswith(f"ok: 1 shard, {len(TEXTS)} documents, ")
    assert [line.split()[1] for line in lines if line.startswith("  ")] == ["ok:"] * 15


def test_audit_prints_the_first_ten_of_each_fault_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = kind("llama").documents(TEXTS * 2)
    path = write_numpy(tmp_path / "shard", [ids[1:] for ids in rows])
    assert main(["corpus", "audit", str(path), "--tokenizer", LLAMA]) == 1
    out = capsys.readouterr().out
    assert out.startswith("20 faults: 1 shard, 20 documents")
    assert f"    {path}: 20 of 20 documents" in out
    assert out.count("expected 1 '<s>'") == 10
    assert main(["corpus", "audit", str(path), "--tokenizer", LLAMA, "--bos", "none"]) == 0


def test_verify_and_stats_print_what_they_find(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, folder = write_rows(tmp_path / "texts.jsonl", TEXTS), tmp_path / "out"
    build(source, folder, tokenizer=LLAMA, format="numpy")
    words = ["corpus", "verify", str(folder), "--sample", "100%"]
    assert main([*words, "--against", str(source)]) == 0
    assert f"ok: {len(TEXTS)} documents, {len(TEXTS)} encoded again" in capsys.readouterr().out
    assert main(["corpus", "stats", str(folder), "--tokenizer", LLAMA]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["shard", "documents", "tokens"]
    assert row.split()[1] == str(len(TEXTS))
    assert main(["corpus", "stats", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["documents"] == len(TEXTS)
    [path] = folder.glob("*.ids.npy")
    ids = np.load(path)
    ids[1] += 1
    np.save(path, ids)
    assert main([*words, "--against", str(source), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["check"] for each in found["results"] if each["count"]] == ["files", "samples"]
    assert main(["corpus", "verify", str(folder), "--sample", "some"]) == 2
    assert "expected a part such as 1% or 0.01, got 'some'" in capsys.readouterr().err
