"""Which files of a folder a build reads, and what it says about the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import all_documents, own_ids, write_rows
from hypothesis import given
from hypothesis import strategies as st
from tokpar_corpus import audit, build, manifest_of, verify
from tokpar_corpus.input_names import choose_inputs
from tokpar_corpus.inputs import find_inputs

from tests.support.cli_runs import run
from tokpar.errors import OptionError

ROWS = ("a.jsonl", "b.ndjson.gz", "c.parquet", "d.arrow", "e.jsonl.zst")
TEXTS = ("README.md", "notes.txt", "LICENSE.text", "old.txt.gz")
OTHERS = ("data.json", "info.json.gz", "picture.png", "_SUCCESS", "part-00000")
FOLDERS = ("", "in/", "in/deeper/", ".git/", ".cache/in/", "in/.hidden/")
NAMES = st.builds(
    lambda folder, dot, name: folder + dot + name,
    st.sampled_from(FOLDERS),
    st.sampled_from(["", "", "", ".", "._"]),
    st.sampled_from([*ROWS, *TEXTS, *OTHERS]),
)


@given(st.lists(NAMES, unique=True), st.booleans(), st.booleans())
def test_a_folder_gives_its_rows_and_says_what_it_leaves_out(
    names: list[str], lines: bool, text: bool
) -> None:
    contents = choose_inputs(names, lines, text)
    shown = [name for name in names if not any(part[0] == "." for part in name.split("/"))]
    rows = {name for name in shown if name.endswith(ROWS)}
    texts = {name for name in shown if name.endswith(TEXTS)}
    if lines:
        texts |= {name for name in shown if name.endswith(("picture.png", "_SUCCESS", "00000"))}
    assert set(contents.taken) == rows | (texts if text or not rows else set())
    for name in names:  # each name is taken, or said to be left out by itself or by its folder
        said = [each for each in contents.left_out if name == each or each.endswith("/")]
        assert (name in contents.taken) != any(name.startswith(each) for each in said)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a data set of a hub lies on the disk, with two documents in rows."""
    data = tmp_path / "data"
    for name in (".git", ".cache/hub"):
        (data / name).mkdir(parents=True)
        write_rows(data / name / "x.jsonl", ["not a document"])
    write_rows(data / "a.jsonl", ["one"])
    write_rows(data / "b.jsonl", ["two"])
    (data / "._a.jsonl").write_bytes(b"\x00\x05\x16\x07")
    (data / "README.md").write_text("# A data set")
    return data


@pytest.mark.parametrize("url", [False, True])
def test_a_folder_of_rows_is_built_without_its_readme_and_names_with_a_dot(
    folder: Path, tmp_path: Path, url: bool
) -> None:
    if url:
        pytest.importorskip("pyarrow.fs", reason="pyarrow reads URLs")
    name = f"file://{folder}" if url else str(folder)
    build(name, tmp_path / "out", tokenizer="default")
    assert all_documents(tmp_path / "out") == own_ids(["one", "two"])
    build(name, tmp_path / "text", tokenizer="default", text=True)
    assert all_documents(tmp_path / "text") == own_ids(["# A data set", "one", "two"])
    for out in ("out", "text"):  # both read the folder again as the build did
        assert verify(tmp_path / out, sample=1, against=name)
        assert audit(tmp_path / out, "default", against=name)


def test_a_pattern_of_a_url_finds_names_with_a_dot_only_if_it_spells_them(folder: Path) -> None:
    pytest.importorskip("pyarrow.fs", reason="pyarrow reads URLs")
    for pattern, expected in (("*.jsonl", ["a", "b"]), (".git/*.jsonl", ["x"])):
        found = find_inputs([f"file://{folder}/{pattern}"]).files
        assert [Path(each.name).stem for each in found] == expected


def test_build_and_dry_run_print_the_kinds_and_what_is_left_out(
    folder: Path, tmp_path: Path
) -> None:
    words = ("corpus", "build", folder, "--tokenizer", "default", "--out", tmp_path / "out")
    said = (
        "inputs: 2 .jsonl, 0.0 MB as stored; left out: ._a.jsonl, .cache/, .git/, README.md "
        "(--text takes text files)\n"
    )
    assert run(*words, "--dry-run").out.startswith(said)
    assert run(*words).err.startswith(said)
    taken = run(*words[:-1], tmp_path / "text", "--text").err
    assert (
        "inputs: 2 .jsonl, 1 .md, 0.0 MB as stored; left out: ._a.jsonl, .cache/, .git/\n" in taken
    )


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize("lines", [False, True])
def test_a_json_file_is_told_how_to_become_rows(name: str, lines: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps([{"text": "one"}]))
    with pytest.raises(OptionError, match=r"jq -c '\.\[\]'") as refused:
        find_inputs([str(tmp_path / name)], lines)
    assert "--lines" not in str(refused.value)
    with pytest.raises(OptionError, match=f"no file there is an input .left out: {name}"):
        find_inputs([str(tmp_path)], lines)


# --------------------------------------------------------------------------- no document

EMPTY = {
    "an empty file": ("", ()),
    "blank lines": ("\n\n \n", ()),
    "skipped rows": ('{"text": 1}\n{\n', ("--field", "text", "--errors", "skip")),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_a_build_of_no_document_says_so_and_its_folder_can_be_audited(
    kind: str, tmp_path: Path
) -> None:
    content, options = EMPTY[kind]
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_text(content)
    words = ("corpus", "build", source, "--tokenizer", "default", "--out", out, *options)
    dry = run(*words, "--dry-run")
    assert (dry.code, dry.err.splitlines()[-1]) == (1, "no document in 1 input")
    built = run(*words)
    assert (built.code, built.err.splitlines()[-1]) == (1, "no document in 1 input")
    assert "0 documents, 0 tokens of 0.0 MB of text in 0 shards" in built.err
    assert (manifest_of(out).documents, manifest_of(out).stored_shards) == (0, 0)
    audited = run("corpus", "audit", out, "--tokenizer", "default")
    assert (audited.code, audited.out[:26]) == (0, "ok: 0 shards, 0 documents,")
    assert run("corpus", "verify", out).code == 0
    assert run("corpus", "stats", out).code == 0


def test_a_folder_without_a_manifest_and_without_shards_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no shard there"):
        audit(tmp_path, "default")
