"""Where the cache on disk lies, what its keys are made of, and that a file is written whole or not
at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokpar.disk_cache import directory, write


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


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write(tmp_path / "new", "key", {"a": 1})
    assert json.loads((tmp_path / "new" / "key.json").read_text("utf-8")) == {"a": 1}
    with pytest.raises(TypeError):
        write(tmp_path / "new", "key", {"a": object()})
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["key.json"]
    assert json.loads((tmp_path / "new" / "key.json").read_text("utf-8")) == {"a": 1}


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    write(tmp_path / "file" / "kind", "key", 1)
    assert (tmp_path / "file").read_text() == "in the way"
