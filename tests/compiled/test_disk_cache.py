"""Where the cache on disk lies, what its keys are made of, and that a file is written whole or not
at all."""

from __future__ import annotations

import errno
import hashlib
import logging
import mmap
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.profiles import drawn
from tokpar.process import cache_files, disk_cache
from tokpar.process.disk_cache import directory, forget, read, state, write

LARGE = np.arange(1 << 15, dtype=np.int64)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def stored(cache: Path) -> Path:
    """The file of `key`, with an array that is copied and one that is mapped."""
    write("kind", "key", {"small": np.arange(9), "large": LARGE})
    return cache / "kind" / "key.arrays"


@pytest.fixture
def refusals(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> pytest.LogCaptureFixture:
    """What is logged, as if this process had not logged a refusal before."""
    monkeypatch.setattr(cache_files, "_refusals", set())
    caplog.set_level(logging.WARNING, "tokpar")
    return caplog


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


@pytest.mark.parametrize("seed", range(drawn(50)))
def test_a_file_with_a_flipped_bit_is_a_miss(stored: Path, seed: int) -> None:
    draw = random.Random(seed)
    content = bytearray(stored.read_bytes())
    parts = [range(256), range(256, len(content) - 64), range(len(content) - 64, len(content))]
    content[draw.choice(draw.choice(parts))] ^= 1 << draw.randrange(8)
    stored.write_bytes(content)
    assert read("kind", "key") is None


def test_a_process_compares_the_hash_of_a_file_once_and_again_when_the_file_changed(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[int] = []

    def counted(content: memoryview) -> Any:
        hashed.append(len(content))
        return hashlib.sha256(content)

    monkeypatch.setattr(disk_cache, "hashlib", SimpleNamespace(sha256=counted))
    read("kind", "key"), read("kind", "key")
    assert len(hashed) == 2  # the file is so new that a change would not change its time
    later = time.time_ns() + 10**10
    monkeypatch.setattr(disk_cache.time, "time_ns", lambda: later)
    assert read("kind", "key") is not None
    assert read("kind", "key") is not None
    assert len(hashed) == 3
    stored.write_bytes(stored.read_bytes()[:-1] + b"x")
    assert read("kind", "key") is None
    assert len(hashed) == 4


@pytest.mark.parametrize("cut", range(0, 1 << 15, 1 << 12))
def test_arrays_outlive_a_file_that_is_cut_if_they_are_small_or_read(
    stored: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    mapped = read("kind", "key")
    monkeypatch.setenv("TOKPAR_CACHE_MAP", "0")
    whole = read("kind", "key")
    os.truncate(stored, cut)
    assert mapped is not None
    assert whole is not None
    assert mapped["small"].tolist() == whole["small"].tolist() == [*range(9)]
    assert (whole["large"] == LARGE).all()
    assert not any(each.flags.writeable for each in (*mapped.values(), *whole.values()))
    assert read("kind", "key") is None


def test_no_memory_to_map_is_a_memory_error_and_a_file_system_without_maps_is_read(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = errno.ENOMEM

    def fail(*given: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(mmap, "mmap", fail)
    with pytest.raises(MemoryError):
        read("kind", "key")
    number = errno.ENODEV
    found = read("kind", "key")
    assert found is not None
    assert (found["large"] == LARGE).all()
    assert stored.exists()


# ---- files and folders of others

WAITS = """
import sys
from tokpar.process.disk_cache import read
print(read("kind", "key"))
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_what_is_no_regular_file_is_a_miss_and_keeps_nobody_waiting(
    stored: Path, kind: str
) -> None:
    stored.unlink()
    if kind == "fifo":
        os.mkfifo(stored)
    elif kind == "device":
        stored.symlink_to("/dev/zero")
    else:
        stored.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WAITS], capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout == "None\n"
    assert f"{stored} is no regular file" in done.stderr


@pytest.mark.parametrize("owner", [0, 7, 8])
@pytest.mark.parametrize("kind", [0o100000, 0o040000])
def test_user_7_reads_what_user_7_and_root_alone_may_write(
    monkeypatch: pytest.MonkeyPatch, kind: int, owner: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 7, raising=False)
    for mode in (0o644, 0o600, 0o755, 0o664, 0o646, 0o666, 0o777, 0o1777, 0o2775):
        status = os.stat_result((kind | mode, 1, 1, 1, owner, 0, 0, 0, 0, 0))
        why = cache_files.why_refused(Path("place"), status)
        assert (why is None) == (owner != 8 and not mode & 0o022)
        assert why is None or "place" in why


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has other rights")
@pytest.mark.parametrize("of_folder", [False, True])
def test_a_file_or_folder_that_others_may_write_to_is_refused_with_one_line(
    stored: Path, refusals: pytest.LogCaptureFixture, of_folder: bool
) -> None:
    place, mode = (stored.parent, 0o755) if of_folder else (stored, 0o644)
    place.chmod(mode | 0o020)
    assert read("kind", "key") is read("kind", "key") is None
    assert refusals.messages == [
        f"the cache on disk is not used: other users may write to {place} (chmod go-w)"
    ]
    assert str(place) in state()
    if of_folder:  # what would not be read is not written either
        write("kind", "other", {"a": LARGE})
        assert [path.name for path in place.iterdir()] == ["key.arrays"]
    place.chmod(mode)
    assert read("kind", "key") is not None
    assert state() == f"{stored.parent.parent} (1 files are read)"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has other rights")
def test_a_file_of_another_user_is_refused(
    stored: Path, refusals: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        os.chown(stored, 7, 7)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 7)
    assert read("kind", "key") is None
    assert len(refusals.messages) == 1
    assert "belongs to user" in refusals.messages[0]


@pytest.mark.parametrize("umask", [0o077, 0o027, 0o002, 0])
def test_files_and_folders_have_one_mode_whatever_the_umask(cache: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write("kind", "key", {"a": LARGE})
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (cache, cache / "kind")]
    assert modes == [0o755, 0o755]
    [file] = (cache / "kind").iterdir()
    assert file.stat().st_mode & 0o777 == 0o644
    assert read("kind", "key") is not None


def test_files_of_killed_writers_are_deleted_and_those_of_others_stay(stored: Path) -> None:
    old, new = (stored.parent / f"{name}.part" for name in ("old", "new"))
    old.touch(), new.touch()
    ago = time.time() - cache_files.OLD - 60
    os.utime(old, (ago, ago)), os.utime(stored, (ago, ago))
    write("kind", "other", {"a": LARGE})
    names = {path.name for path in stored.parent.iterdir()}
    assert names == {"new.part", "key.arrays", "other.arrays"}


def test_a_system_without_users_modes_and_flags_has_a_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("geteuid", "getuid", "fchmod", "O_NONBLOCK", "O_NOCTTY"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "supports_fd", set())
    write("kind", "key", {"a": LARGE})
    (cache / "kind" / "key.arrays").chmod(0o666)
    assert read("kind", "key") is not None


def test_the_version_says_where_the_cache_is_and_whether_it_is_read(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state() == f"{stored.parent.parent} (1 files are read)"
    forget("kind", "key")
    assert state() == f"{stored.parent.parent} (0 files are read)"
    monkeypatch.setenv("TOKPAR_CACHE", "")
    assert state().startswith("none")
