"""Inputs at URLs, read by pyarrow's file systems: the shards are those of the same files here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import all_documents, contents, many, own_ids, write_rows
from tokpar_corpus import build, manifest_of, verify

from tests.support.cli_runs import run

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.fs")
pytest.importorskip("pyarrow.parquet")

TEXTS = many(300)
OPTIONS = {"tokenizer": "default", "shard_size": 3000, "workers": 2}


@pytest.fixture(params=["file", "mock", "fsspec+memory"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A folder at a URL of each kind of file system."""
    if request.param == "file":
        return f"file://{tmp_path}/there"
    if request.param == "fsspec+memory":
        pytest.importorskip("fsspec")
        return f"fsspec+memory:///{tmp_path.name}"
    system = pyarrow.fs._MockFileSystem()  # pyarrow makes a new one, empty, for each URL
    own = pyarrow.fs.FileSystem.from_uri

    class OneMock:
        @staticmethod
        def from_uri(url: str) -> tuple[Any, str]:
            return (system, own(url)[1]) if url.startswith("mock:") else own(url)

    monkeypatch.setattr(pyarrow.fs, "FileSystem", OneMock)
    return "mock:///there"


@pytest.fixture
def stored(url: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A URL, and a folder of this machine with the same files: lines in ranges, and parquet."""
    folder = tmp_path / "here"
    (folder / "sub").mkdir(parents=True)
    write_rows(folder / "a.jsonl", TEXTS[:150])
    write_rows(folder / "b.jsonl.gz", TEXTS[150:200])
    table = pyarrow.table({"text": TEXTS[200:]})
    pyarrow.parquet.write_table(table, folder / "sub" / "c.parquet", row_group_size=30)
    system, path = pyarrow.fs.FileSystem.from_uri(url)
    for each in sorted(folder.rglob("*.*")):
        there = f"{path}/{each.relative_to(folder)}"
        system.create_dir(there.rpartition("/")[0])
        with system.open_output_stream(there, compression=None) as file:
            file.write(each.read_bytes())
    yield url, folder
    system.delete_dir(path)


def test_a_build_from_a_url_has_the_shards_of_the_files(
    stored: tuple[str, Path], tmp_path: Path
) -> None:
    url, folder = stored
    manifest = build(url, tmp_path / "url", **OPTIONS)
    build(folder, tmp_path / "local", **OPTIONS)
    names = [each.name for each in manifest.inputs]
    assert names == [f"{url}/{name}" for name in ("a.jsonl", "b.jsonl.gz", "sub/c.parquet")]
    assert all_documents(tmp_path / "url") == own_ids(TEXTS)
    there, here = contents(tmp_path / "url"), contents(tmp_path / "local")
    assert there.pop("manifest.json") != here.pop("manifest.json")  # the names of the inputs
    assert there == here
    report = verify(tmp_path / "url", sample=1.0, against=[url])
    assert report
    assert report.sampled == len(TEXTS)


def test_a_pattern_in_a_url_names_files_and_a_build_of_them_resumes(
    stored: tuple[str, Path], tmp_path: Path
) -> None:
    url, _ = stored
    words = ("--tokenizer", "default", "--shard-size", 3000, "--out", tmp_path / "out", "--quiet")
    assert run("corpus", "build", f"{url}/*.jsonl*", *words).code == 0
    names = [each.name for each in manifest_of(tmp_path / "out").inputs]
    assert names == [f"{url}/a.jsonl", f"{url}/b.jsonl.gz"]
    expected = contents(tmp_path / "out")
    sorted((tmp_path / "out").glob("*.bin"))[2].unlink()
    resumed = run("corpus", "build", f"{url}/*.jsonl*", *words, "--resume")
    assert resumed.code == 0, resumed
    assert contents(tmp_path / "out") == expected
    assert all_documents(tmp_path / "out") == own_ids(TEXTS[:200])
