"""A build never reads what a build wrote: --out beside the inputs, and no journal as a corpus."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from corpora import write_rows
from hypothesis import given
from hypothesis import strategies as st
from tokpar_corpus import build

from tokpar.cli import main
from tokpar.errors import OptionError

FOLDER_NAMES = st.lists(st.sampled_from(["a", "b", "shards", "..", "."]), max_size=4)


@given(
    given_parts=FOLDER_NAMES, out_parts=FOLDER_NAMES, links=st.tuples(st.booleans(), st.booleans())
)
def test_a_folder_for_shards_in_a_folder_of_inputs_is_refused_by_both_names(
    given_parts: list[str], out_parts: list[str], links: tuple[bool, bool]
) -> None:
    """However the two are spelt, also through a symbolic link."""
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        inside, link = root / "x" / "y", root / "x" / "link"
        for each in ("a/b/shards", "b/a/shards", "shards/a/b"):
            (inside / each).mkdir(parents=True)
        link.symlink_to(inside, target_is_directory=True)
        bases = [link if through else inside for through in links]
        given = Path(os.path.normpath(bases[0].joinpath(*given_parts)))
        out = Path(os.path.normpath(bases[1].joinpath(*out_parts))) / "out"
        if not all(each.resolve().is_relative_to(root) for each in (given, out)):
            return
        given.mkdir(parents=True, exist_ok=True)
        write_rows(given / "documents.jsonl", ["one two", "three"])
        if out.resolve().is_relative_to(given.resolve()):
            with pytest.raises(OptionError, match="lies in the input folder") as error:
                build([str(given)], out=out, tokenizer="default", workers=1)
            assert str(given) in str(error.value)
            assert str(out) in str(error.value)
            assert not out.exists()
        else:
            built = build([str(given)], out=out, tokenizer="default", workers=1)
            assert sum(shard.documents for shard in built.shards) == 2


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("name", ["journal.jsonl", "renamed.jsonl", "copy.txt"])
@pytest.mark.parametrize("way", ["file", "folder", "pattern"])
def test_a_journal_is_never_read_as_a_corpus(
    way: str, name: str, lines: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "second"
    (folder / "older").mkdir(parents=True)
    (tmp_path / "first").mkdir()
    write_rows(tmp_path / "first" / "documents.jsonl", ["one two"])
    build([str(tmp_path / "first")], out=tmp_path / "built", tokenizer="default", workers=1)
    write_rows(folder / "documents.jsonl", ["three"])
    journal = folder / "older" / name
    begins = {"format": "tokpar corpus", "format_version": 1}
    journal.write_text(json.dumps(begins) + "\n", encoding="utf-8")
    text = journal.suffix == ".txt"  # a folder of rows gives its text files only if that is asked
    given = {"file": journal, "folder": folder, "pattern": folder / "**" / f"*{journal.suffix}"}[
        way
    ]
    with pytest.raises(OptionError, match="is the journal of a build, no corpus"):
        build([str(given)], out=tmp_path / "out", tokenizer="default", lines=lines, text=text)
    command = ["corpus", "build", str(given), "--out", str(tmp_path / "out")]
    status = main([*command, "--tokenizer", "default", *["--lines"] * lines, *["--text"] * text])
    assert status == 2
    assert str(journal) in capsys.readouterr().err
