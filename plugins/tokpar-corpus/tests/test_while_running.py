"""What a build shows while it runs and at its end, what --dry-run says, and Ctrl-C."""

from __future__ import annotations

import functools
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tqdm
from corpora import contents, many, write_rows
from tokpar_corpus import build, manifest_of
from tokpar_corpus.build_screen import describe_inserted
from tokpar_corpus.estimate import estimate
from tokpar_corpus.inputs import RECENT
from tokpar_corpus.job import Request, prepare

from tests.support.cli_runs import run
from tests.support.paths import VOCAB
from tests.support.profiles import cases
from tokpar.cli.encodings import field_taken

SHARD = 40_000
SIGNALS = [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]


def build_words(source: Path, out: Path) -> list[str]:
    sized = ["--tokenizer", "default", "--shard-size", str(SHARD)]
    return ["corpus", "build", str(source), "--out", str(out), *sized]


@pytest.mark.skipif(sys.platform == "win32", reason="signals go to other processes there")
@pytest.mark.parametrize(("asked", "name"), cases(SIGNALS, SIGNALS[:1]))
def test_a_signal_ends_with_a_whole_shard_and_the_printed_command_goes_on(
    tmp_path: Path, asked: signal.Signals, name: str
) -> None:
    source, out = write_rows(tmp_path / "its rows.jsonl.gz", many(12_000)), tmp_path / "out"
    while time.time_ns() - source.stat().st_ctime_ns <= RECENT:  # or one journal lacks this time
        time.sleep(0.05)
    build(source, tmp_path / "whole", tokenizer="default", shard_size=SHARD)
    expected = contents(tmp_path / "whole")
    command = [sys.executable, "-m", "tokpar"]
    stopped = subprocess.Popen(
        [*command, *build_words(source, out)], stderr=subprocess.PIPE, text=True
    )
    while not (out / "shard-00000-0000.idx").exists():
        assert stopped.poll() is None
        time.sleep(0.001)
    stopped.send_signal(asked)
    _, said = stopped.communicate(timeout=120)
    assert stopped.returncode == 128 + asked, said
    taken, _, first, last = said.strip().splitlines()
    assert taken == f"{source}:1: {field_taken('text')}"
    assert first == f"the shard in flight is finished first; {name} again ends at once"
    found = contents(out)
    assert 2 <= len(found) < len(expected)
    assert found.items() < expected.items()  # whole shards, no unfinished file, no manifest
    in_journal = (out / "journal.jsonl").read_text().count('"shard"')
    assert in_journal == len(found) // 2
    words = shlex.split(last.removeprefix("stopped; go on with: "))
    assert words == ["tokpar", *build_words(source, out), "--resume"]
    resumed = subprocess.run([*command, *words[1:]], capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert contents(out) == expected
    assert set((out / "journal.jsonl").read_text().splitlines()) == set(
        (tmp_path / "whole" / "journal.jsonl").read_text().splitlines()
    )


BAR = re.compile(
    r"(?P<percent>\d+)%\|.*\| (?P<bytes>[\d.]+k?)/(?P<all>[\d.]+k?) "
    r"\[\d\d:\d\d<(?P<left>\d\d:\d\d|\?), +[\d.?]+[kM]?B/s, "
    r"(?P<documents>[\d,]+) documents, (?P<rate>[\d,]+) tokens/s, (?P<shards>\d+) shards\]"
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An input of many blocks."""
    monkeypatch.setattr("tokpar_corpus.build_options.Memory.block", property(lambda self: 9000))
    return write_rows(tmp_path / "rows.jsonl", many(1500))


def test_the_bar_shows_bytes_time_left_documents_tokens_a_second_and_shards(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tqdm, "tqdm", functools.partial(tqdm.tqdm, mininterval=0, ncols=200))
    outcome = run(*build_words(source, tmp_path / "out"), "--progress")
    assert outcome.code == 0, outcome
    assert outcome.out == ""
    bars = [found for each in outcome.err.split("\r") if (found := BAR.search(each))]
    manifest, size = manifest_of(tmp_path / "out"), source.stat().st_size
    assert len(bars) > 5
    documents = [int(bar["documents"].replace(",", "")) for bar in bars]
    assert documents == sorted(documents)
    assert documents[-1] == manifest.documents
    assert [int(bar["shards"]) for bar in bars][-1] == len(manifest.shards) > 3
    assert {bar["all"] for bar in bars} == {f"{size / 1000:.0f}k"}
    percents = [int(bar["percent"]) for bar in bars]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    assert bars[-1]["left"] == "00:00"
    assert all(int(bar["rate"].replace(",", "")) > 0 for bar in bars[1:])


def test_the_log_has_a_line_of_json_for_each_interval_and_one_at_the_end(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with source.open("a") as file:
        file.write("{\n")
    words = ("--log", tmp_path / "log.jsonl", "--quiet", "--errors", "skip")
    build_and_log = (*build_words(source, tmp_path / "out"), *words)
    assert run(*build_and_log).code == 0
    [last] = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    manifest = manifest_of(tmp_path / "out")
    expected = {
        "documents": manifest.documents,
        "tokens": manifest.tokens,
        "text_bytes": manifest.text_bytes,
        "read_bytes": source.stat().st_size,
        "input_bytes": source.stat().st_size,
        "shards": len(manifest.shards),
        "skipped": manifest.skipped,
        "seconds_left": 0,
    }
    assert {name: last[name] for name in expected} == expected
    assert set(last) - set(expected) == {"time", "tokens_per_second", "stage_seconds"}
    assert sum(last["skipped"].values()) == 1
    assert set(last["stage_seconds"]) == {"read", "parse", "encode", "write"}
    monkeypatch.setattr("tokpar_corpus.build_screen.LOG_SECONDS", 0.0)
    assert run(*build_words(source, tmp_path / "again"), *words).code == 0
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[0] == last  # the log is appended to
    assert len(lines) > 20
    assert [line["documents"] for line in lines[1:]] == sorted(
        line["documents"] for line in lines[1:]
    )
    assert {name: lines[-1][name] for name in expected} == expected


EDGES = 64
"""Bytes of a Megatron shard that are there without documents, and a few more."""


def dry_run(source: Path, out: Path, **options: int) -> tuple[list[int], list[int]]:
    """Documents, tokens and bytes as estimated, and as built."""
    job = prepare(Request([str(source)], out, "default", **options))  # type: ignore[arg-type]
    found = estimate(job)
    assert not out.exists()
    manifest = build(source, out, tokenizer="default", **options)
    size = sum(path.stat().st_size for path in out.glob("shard-*"))
    estimated = [found.all_documents, found.all_tokens, found.all_bytes]
    return estimated, [manifest.documents, manifest.tokens, size]


def test_a_dry_run_is_exact_when_its_sample_holds_all_documents(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl.gz", many(500))
    estimated, built = dry_run(source, tmp_path / "out")
    assert estimated[:2] == built[:2]
    empty = sum(not text for text in many(500))
    assert 0 <= built[2] - estimated[2] + 12 * empty <= EDGES  # they have no sequence


@pytest.mark.parametrize(
    ("tokenizer", "options", "said"),
    [
        ("default", {}, "no special tokens are added"),
        (
            VOCAB / "bert_part.json",
            {},
            r"added: \[\d+\] before each .*, \[\d+\] after each document",
        ),
        ("default", {"bos": True, "bos_token": "7"}, r"are added: \[7\] before each document$"),
        (
            "default",
            {"bos": True, "bos_token": "7", "append_eod": True, "eod_token": "9"},
            r"are added: \[7\] before each document, \[9\] after each document$",
        ),
    ],
)
def test_a_dry_run_says_which_special_tokens_are_added(
    tokenizer: object, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", ["one"])
    job = prepare(Request([str(source)], tmp_path, str(tokenizer), **options))
    assert re.search(said, describe_inserted(job.options))


def test_the_command_of_a_dry_run_prints_the_estimate_and_writes_nothing(
    source: Path, tmp_path: Path
) -> None:
    words = build_words(source, tmp_path / "out")
    outcome = run(*words, "--dry-run", "--append-eod", "--eod-token", 7)
    assert (outcome.code, outcome.err) == (0, f"{source}:1: {field_taken('text')}\n")
    assert not (tmp_path / "out").exists()
    job = prepare(
        Request(
            [str(source)],
            tmp_path / "out",
            "default",
            shard_size=SHARD,
            append_eod=True,
            eod_token=7,
        )
    )
    found = estimate(job)
    lines = outcome.out.splitlines()
    assert lines[0] == f"inputs: 1 .jsonl, {source.stat().st_size / 1e6:.1f} MB as stored"
    assert lines[2] == "ids: uint16; special tokens are added: [7] after each document"
    assert lines[-2].startswith(f"expected: {found.all_documents:,} documents")
    assert f", {found.all_tokens:,} tokens" in lines[-2]
    assert f", {found.all_bytes / 1e6:,.1f} MB in " in lines[-2]
