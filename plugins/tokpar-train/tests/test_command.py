"""`tokpar train`, in this process and as one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tokpar
from tests.support.cli_runs import run

README = Path(__file__).parents[3] / "README.md"


def test_a_trained_file_is_a_tokenizer_for_every_command(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    trained = run("train", README, "--vocab-size", 400, "-o", out, "--progress")
    assert (trained.code, trained.out) == (0, "")
    assert "B/s" in trained.err
    assert "merges/s" in trained.err
    size = README.stat().st_size
    entries = f"{out}: 400 entries (1 special token, 256 bytes, 143 merges) from {size:,} bytes in "
    assert entries in trained.err
    encoded = run("encode", README, "--tokenizer", out)
    assert encoded.code == 0
    assert run("decode", "--tokenizer", out, stdin=encoded.out.encode()).out == README.read_text(
        encoding="utf-8"
    )


def test_the_options_are_those_of_the_function(tmp_path: Path) -> None:
    from tokpar_train.save import compact_json

    out = tmp_path / "t.json"
    options = ("--min-frequency", 3, "--max-token-length", 5, "--ties", "lexicographic")
    options += ("--pattern", "gpt2", "--no-special", "--quiet")
    quiet = run("train", README, README, "--vocab-size", 900, "-o", out, *options)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    vocabulary = tokpar.train(
        [README, README],
        vocab_size=900,
        min_frequency=3,
        max_token_length=5,
        ties="lexicographic",
        pattern="gpt2",
        special_tokens=(),
    )
    assert out.read_bytes() == compact_json(vocabulary)
    assert len(vocabulary.merges) < 644
    assert max(map(len, vocabulary.tokens)) == 4


def test_more_entries_than_there_can_be_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ab ab", encoding="utf-8")
    err = run("train", path, "--vocab-size", 1 << 31, "-o", tmp_path / "t.json").err
    assert "258 entries" in err
    assert "no other pair may be merged, 2,147,483,648 were asked for" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "t.bin"], "--out: expected a name ending in .json or .tiktoken"),
        (["-o", "nowhere/t.json"], "--out: there is no directory"),
        (["-o", "t.json", "--vocab-size", "256"], "vocab_size must be at least 257"),
        (["-o", "t.json", "--vocab-size", "99999999999999"], "must be at most 2,147,483,648, got"),
        (["-o", "t.json", "--special", "<x>", "--no-special"], "either --special or --no-special"),
        (["-o", "t.tiktoken", "--pattern", r"\p{L}+"], "not known to match everything"),
        (["-o", "t.json", "--pattern", r"\b"], "is not among what all regex engines are known"),
        (["missing.txt", "-o", "t.json"], "missing.txt: No such file or directory"),
        (["empty.txt", "-o", "t.json"], "the corpus is empty"),
        (["latin.txt", "-o", "t.json"], "latin.txt: expected UTF-8 text, byte 3 is 0xe9"),
        ([".", "-o", "t.json"], "directory"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "latin.txt").write_bytes("caf\xe9 au lait".encode("latin-1"))
    files = [] if not options[0].startswith("-") else [README]
    before = sorted(tmp_path.iterdir())
    assert message in run("train", "--vocab-size", "300", *files, *options).error.replace(
        "Is a d", "d"
    )
    assert sorted(tmp_path.iterdir()) == before


def test_special_tokens_that_begin_one_another_are_refused_before_the_training(
    tmp_path: Path,
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "mine.tiktoken"
    corpus.write_text("a b " * 9, encoding="utf-8")
    options = ["--vocab-size", 260, "--special", "<a>", "--special", "<a>b"]
    assert "begins with '<a>'" in run("train", corpus, "-o", out, *options).error
    assert not out.exists()


# interrupts


def children_of(process: int) -> list[int]:
    """Processes whose parent is this one; Linux."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for path in tasks for child in path.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are listed in /proc")
@pytest.mark.parametrize(
    ("whole_group", "later"),
    [(False, 1.0), (True, 0.0)],
    ids=["the parent, in the middle", "the process group, at the start"],
)
def test_ctrl_c_ends_the_workers_and_leaves_no_file(
    tmp_path: Path, whole_group: bool, later: float
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(b"".join(b"%d some words of this line\n" % n for n in range(1_000_000)) * 2)
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-P", "-m", "tokpar", "train", str(corpus), "--vocab-size", "20000"]
    with subprocess.Popen(
        [*command, "-o", str(out / "t.json"), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as training:
        workers = awaited_children(training, 2)
        time.sleep(later)
        (os.killpg if whole_group else os.kill)(training.pid, signal.SIGINT)
        stdout, stderr = training.communicate(timeout=120)
    assert (training.returncode, stdout, stderr) == (130, b"", b"")
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert list(out.iterdir()) == []


def awaited_children(process: subprocess.Popen[bytes], count: int) -> list[int]:
    """The children of a process, as soon as there are so many."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        children = children_of(process.pid)
        if len(children) == count:
            return children
        assert process.poll() is None
        time.sleep(0.01)
    raise AssertionError(f"no {count} workers were started")
