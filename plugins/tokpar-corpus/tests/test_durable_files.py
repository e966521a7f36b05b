"""How a file layer asks the disk: what a system lacks stands in for it here."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest
from tokpar_corpus import durable_files

FULL = 51
"""F_FULLFSYNC of macOS, in sys/fcntl.h."""


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(call, name of the file) in order; the system has F_FULLFSYNC, as macOS does."""
    calls: list[tuple[str, str]] = []

    def name_of(descriptor: int) -> str:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}")).name

    def ask(descriptor: int, request: int) -> int:
        assert request == FULL
        calls.append(("full", name_of(descriptor)))
        return 0

    monkeypatch.setattr(durable_files, "F_FULLFSYNC", FULL)
    monkeypatch.setattr(durable_files, "fcntl", ask, raising=False)
    monkeypatch.setattr("os.fsync", lambda descriptor: calls.append(("fsync", name_of(descriptor))))
    return calls


needs_names = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="names of open files are read in /proc"
)


def write_all(folder: Path) -> None:
    """Sync a new file, its folder and a truncated file: all that a build syncs."""
    disk = durable_files.Disk()
    with closing(disk.create(folder / "ids")) as file:
        file.write(b"1234")
        file.sync()
    disk.sync_folder(folder)
    disk.truncate(folder / "ids", 2)
    assert (folder / "ids").read_bytes() == b"12"


@needs_names
def test_macos_empties_the_cache_of_the_disk(tmp_path: Path, synced: list[tuple[str, str]]) -> None:
    write_all(tmp_path)
    assert synced == [("full", "ids"), ("full", tmp_path.name), ("full", "ids")]


@needs_names
def test_a_file_system_without_full_sync_is_synced_by_fsync(
    tmp_path: Path, synced: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, request: int) -> int:
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(durable_files, "fcntl", refuse)
    write_all(tmp_path)
    assert synced == [("fsync", "ids"), ("fsync", tmp_path.name), ("fsync", "ids")]


def test_a_disk_that_fails_is_not_taken_for_a_file_system_without_full_sync(
    tmp_path: Path, synced: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, request: int) -> int:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(durable_files, "fcntl", fail)
    with pytest.raises(OSError, match="the disk fails"):
        write_all(tmp_path)
    assert synced == []


@needs_names
def test_other_systems_sync_by_fsync(
    tmp_path: Path, synced: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_files, "F_FULLFSYNC", None)
    write_all(tmp_path)
    assert [call for call, _ in synced] == ["fsync"] * 3
