"""Where the cache on disk lies, what its keys are made of, and that a file is written whole or not
at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tokpar.disk_cache import directory, forget, read, write


def test_the_directory_is_that_of_the_variable_or_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    assert directory("tables") == tmp_path / "cache" / "tables"
    monkeypatch.setenv("TOKPAR_CACHE", "")
    assert directory("tables") is None
    monkeypatch.delenv("TOKPAR_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert directory("tables") == tmp_path / "xdg" / "tokpar" / "tables"
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert directory("tables") == tmp_path / "home" / ".cache" / "tokpar" / "tables"


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    arrays = {"a": np.arange(7, dtype=np.uint32), "b": np.empty(0, np.int64)}
    write("new", "key", arrays)

    def interrupt(*paths: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write("new", "key", {"a": np.arange(3)})
    found = read("new", "key")
    assert found is not None
    assert {name: (each.dtype, each.tolist()) for name, each in found.items()} == {
        name: (each.dtype, each.tolist()) for name, each in arrays.items()
    }
    assert [path.stem for path in (tmp_path / "new").iterdir()] == ["key"]
    assert read("new", "other") is read("other", "key") is None
    forget("new", "key")
    forget("new", "key")
    assert read("new", "key") is None


def test_a_file_that_is_cut_short_is_a_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    write("kind", "key", {"a": np.arange(100)})
    [path] = (tmp_path / "kind").iterdir()
    content = path.read_bytes()
    for damaged in (b"", content[:100], content[:-64], b"x" + content[1:]):
        path.write_bytes(damaged)
        assert read("kind", "key") is None
    path.write_bytes(content)
    assert read("kind", "key") is not None


def test_a_directory_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("in the way")
    write("kind", "key", {"a": np.arange(3)})
    assert (tmp_path / "file").read_text() == "in the way"
