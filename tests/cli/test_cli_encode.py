"""`tokpar encode` and `count`: several files, targets, summaries, files that cannot be used."""

from __future__ import annotations

import gzip
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.support.cli_runs import ids_of, printed, run
from tests.support.paths import VOCAB
from tokpar.cli import files
from tokpar.cli.text_files import BLOCK_BYTES

BERT = VOCAB / "bert_part.json"
ROWS = ["one two", "naïve 中文", ""]
TEXT = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too. " * 400


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def rows_file(path: Path) -> Path:
    return written(path, "\n".join(json.dumps({"text": text}) for text in ROWS))


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """A good text, one that is not UTF-8, one that is not there, rows, and a good one again."""
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good \xff bad")
    good = written(tmp_path / "good.txt", TEXT)
    again = written(tmp_path / "again.txt", "once more")
    return [good, bad, tmp_path / "missing.txt", rows_file(tmp_path / "rows.jsonl"), again]


# ---------------------------------------------------------------------------------- several files


def test_files_behind_a_bad_one_are_encoded_and_the_bad_ones_named_at_the_end(
    inputs: list[Path],
) -> None:
    outcome = run("encode", *inputs, "--quiet")
    assert outcome.code == 1
    assert printed(outcome.out) == [ids_of(text) for text in (TEXT, *ROWS, "once more")]
    errors = outcome.err.splitlines()
    assert errors[0].startswith(f"tokpar: error: {inputs[1]}: expected UTF-8 text, byte 5 is 0xff")
    assert errors[1] == f"tokpar: error: {inputs[2]}: No such file or directory"
    assert errors[-1:] == [f"tokpar: error: 2 of 5 inputs left out: {inputs[1]}, {inputs[2]}"]


def test_two_inputs_with_one_target_are_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    one, other = written(tmp_path / "x.txt", "a"), written(tmp_path / "a" / "x.txt", "b")
    out = tmp_path / "ids"
    error = run("encode", one, other, "--out", out).error
    assert f"{one} and {other} would both be written to {out / 'x.txt.npy'}" in error
    assert not list(out.glob("*"))


def test_rows_have_the_ids_they_have_alone_also_where_the_tokenizer_pads(tmp_path: Path) -> None:
    """Padding to the longest of a batch would be another length than that of a row alone."""
    own = Tokenizer.from_file(str(BERT))
    own.enable_padding()
    own.save(str(tmp_path / "tokenizer.json"))
    rows = rows_file(tmp_path / "rows.jsonl")
    outcome = run("encode", rows, "--tokenizer", tmp_path / "tokenizer.json", "--quiet")
    tokenizer = tokpar.load(tmp_path / "tokenizer.json")
    expected = [tokpar.encode(text, tokenizer).ids.tolist() for text in ROWS]
    assert printed(outcome.out) == expected


# ------------------------------------------------------------------------------ what is on screen


def test_a_terminal_shows_the_first_ids_and_a_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(Path("text.txt"), TEXT)
    outcome = run("encode", path, terminal=True)
    ids = ids_of(TEXT)
    shown, _, more = " ".join(outcome.out.split()).partition(" ... ")
    first = [int(word) for word in shown.split()]
    assert first == ids[: len(first)]
    assert len(first) == 30
    assert more == f"{len(ids):,} ids (--all shows them)"
    said = " ".join(outcome.err.split())
    seams = tokpar.encode(TEXT).seams
    for part in (
        f"{path.name}: {len(ids):,} ids of {len(TEXT):,} code points, 0.0",
        " MB/s, ",
        "; tokenizer default (tokenizers 0.",
        f"; cut at {len(seams):,} places ({len(seams):,} PAIR; at every certified space), each",
        "; lossless",
    ):
        assert part in said


# ------------------------------------------------------------------------------- files are whole


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    target = written(tmp_path / "ids.txt", "before")

    def interrupted() -> None:
        with files.new_file(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["ids.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="no modes, no links without rights")
def test_a_new_file_keeps_the_mode_and_the_link_of_the_old_one(tmp_path: Path) -> None:
    target, link = written(tmp_path / "ids.txt", "before"), tmp_path / "link.txt"
    target.chmod(0o640)
    link.symlink_to(target)
    assert run("encode", "--text", "one two", "--out", link, "--quiet").code == 0
    assert link.is_symlink()
    assert [int(word) for word in target.read_text().split()] == ids_of("one two")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


# ------------------------------------------------------------------------------- counted in parts


def test_a_compressed_file_and_standard_input_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 60))
    assert len(TEXT.encode()) * 60 > BLOCK_BYTES
    expected = len(tokpar.encode(TEXT * 60))
    assert run("count", path).out == f"{expected} {path}\n"
    assert run("count", stdin=TEXT.encode() * 60).out == f"{expected} -\n"
