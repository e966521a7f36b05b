"""Builds that end before their first shard, and files that two names lead to."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from corpora import all_documents, contents, many, own_ids, write_rows
from lossy_disk import FullDisk, LossyDisk, PowerCutError
from tokpar_corpus import build
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import run_build
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.job import Request, prepare
from tokpar_corpus.journal import JOURNAL_NAME

from tests.support.cli_runs import run
from tests.support.profiles import drawn
from tokpar.errors import FileFormatError, OptionError, TokparError

OPTIONS: dict[str, Any] = {"tokenizer": "default", "shard_size": 1000, "workers": 1}


def ended_build(layer: FileLayer, source: Path, out: Path) -> type[BaseException] | None:
    """How a build ends by this disk, or None if it does not fail."""
    try:
        run_build(prepare(Request([str(source)], out, **OPTIONS)), layer, Progress())
    except (OSError, PowerCutError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("resume", [False, True])
def test_a_build_that_failed_before_its_first_shard_takes_any_other_command(
    resume: bool, tmp_path: Path
) -> None:
    """Whether it was refused at a document, its disk was full, or its power went."""
    rng = random.Random(resume)
    texts = many(60)
    source = write_rows(tmp_path / "rows.jsonl", texts, body=texts)
    build(source, tmp_path / "whole", **OPTIONS, format="numpy")
    refused = write_rows(tmp_path / "refused.jsonl", ["good"])
    refused.write_bytes(refused.read_bytes() + b"{\n")
    for case in range(drawn(60)):
        out = tmp_path / str(case)
        how = rng.choice(["document", "full disk", "power cut"])
        if how == "document":
            with pytest.raises(FileFormatError):
                build(refused, out, **OPTIONS)
            assert sorted(os.listdir(out)) == [".lock"]
        elif how == "full disk":
            assert ended_build(FullDisk(rng.randrange(2500)), source, out) is OSError
        else:
            disk = LossyDisk(out, rng.randrange(2, 18))
            assert ended_build(disk, source, out) is PowerCutError
            disk.cut(*rng.choice([(True, True), (False, False), (True, False)]))
        journal = out / JOURNAL_NAME
        if journal.exists() and journal.read_bytes().count(b"\n") > 1:
            with pytest.raises(TokparError, match=r"complete shard|of another build"):
                build(source, out, **OPTIONS, format="numpy", resume=resume)
            continue
        build(source, out, **OPTIONS, format="numpy", resume=resume)
        assert contents(out) == contents(tmp_path / "whole"), (case, how)


def test_the_command_says_what_is_there_after_a_failure(tmp_path: Path) -> None:
    rng, texts = random.Random(3), many(60)
    for case in range(drawn(25)):
        place = rng.randrange(len(texts))
        rows = write_rows(tmp_path / "rows.jsonl", texts).read_bytes().splitlines(keepends=True)
        source = tmp_path / f"{case}.jsonl"
        source.write_bytes(b"".join([*rows[:place], b"{\n", *rows[place:]]))
        out = tmp_path / f"out-{case}"
        words = ("corpus", "build", source, "--tokenizer", "default", "--out", out, "--quiet")
        failed = run(*words, "--shard-size", "1kB", "--field", "text")
        assert failed.code == 2
        shards = len(list(out.glob("*.bin")))
        said = f"{shards} complete shard{'' if shards == 1 else 's'}"
        is_begun = (out / JOURNAL_NAME).exists()
        assert is_begun or not shards
        assert (f"{out} has {said}; --resume goes on\n" in failed.err) == is_begun
        again = run(*words, "--field", "text", "--errors", "skip")
        if is_begun:
            refusal = f"tokpar: error: {out} holds {said} of a build: --resume goes on with it"
            assert again.err.startswith(refusal)
            other = run(*words, "--resume", "--field", "other", "--errors", "skip")
            assert f"error: {out}/{JOURNAL_NAME} is of another build" in other.err
            assert "--resume goes on" not in other.err
        else:
            assert (again.code, again.err) == (0, "")


# --------------------------------------------------------------------------- one file, two names


def test_a_file_that_two_names_lead_to_is_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    source = write_rows(folder / "a.jsonl", ["one"])
    other = write_rows(tmp_path / "b.jsonl", ["one"])
    (tmp_path / "link.jsonl").symlink_to(source)
    os.link(source, tmp_path / "hard.jsonl")
    (tmp_path / "linked").symlink_to(folder, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    spellings: list[str] = [
        str(source),
        "in/a.jsonl",
        "./in/../in/a.jsonl",
        "in/*.jsonl",
        "in",
        "link.jsonl",
        "hard.jsonl",
        "linked/a.jsonl",
    ]
    if pytest.importorskip("pyarrow"):
        spellings.append(f"file://{source}")
    for first in spellings:
        for second in spellings:
            with pytest.raises(OptionError, match="its documents would be doubled") as refused:
                build([first, str(other), second], tmp_path / "out", tokenizer="default")
            if first != second and not {first, second} & {"in", "in/*.jsonl"}:
                assert first in str(refused.value)
                assert second in str(refused.value)
    assert not (tmp_path / "out").exists()
    build([str(source), str(other)], tmp_path / "out", tokenizer="default")
    assert all_documents(tmp_path / "out") == own_ids(["one", "one"])
