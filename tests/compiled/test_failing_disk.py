"""Each read, write and other operation on the disk cache fails in turn: the ids are right, no file
is half, and the next call is right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import is_quick, needs_below_one, needs_kernel
from tests.support.failing_files import ERRORS, FailingFiles, each_failure
from tests.support.tokenizers_drawn import ByteLevelSpec, build
from tokpar.adapters import hf_call
from tokpar.process import cache_files, disk_cache

Arrays = dict[str, Any]
OLD, NEW = (
    {"small": np.arange(9) + more, "large": np.arange(1 << 15) + more, "none": np.empty(0)}
    for more in (0, 1)
)


def plain(arrays: Arrays | None) -> object:
    return arrays and {name: each.tolist() for name, each in arrays.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_checked", set())
    monkeypatch.setattr(cache_files, "_refusals", set())
    return tmp_path / "cache"


def is_right_or_typed(files: FailingFiles) -> bool:
    """Nothing was raised, or MemoryError where there was no memory."""
    return files.raised is None or (
        files.error == "no memory" and type(files.raised) is MemoryError
    )


@pytest.mark.parametrize("is_first", [True, False])
def test_a_write_that_fails_anywhere_leaves_the_file_before_or_the_whole_new_one(
    folder: Path, is_first: bool
) -> None:
    seen: Counter[str] = Counter()
    if not is_first:
        disk_cache.write("kind", "key", OLD)
    for files in each_failure(folder, lambda: disk_cache.write("kind", "key", NEW)):
        assert files.raised is None, files.failed
        found = plain(disk_cache.read("kind", "key"))
        assert found in (None if is_first else plain(OLD), plain(NEW)), (files.error, files.failed)
        seen[files.failed] += found != plain(NEW)
        left = [*folder.glob(f"*/*{cache_files.PART}")]
        assert len(left) <= 1
        assert not left or files.failed == "unlink"
        disk_cache.forget("kind", "key")
        if not is_first:
            disk_cache.write("kind", "key", OLD)
    assert seen["write"] > 3
    assert seen["replace"] > 2
    disk_cache.write("kind", "key", NEW)
    assert plain(disk_cache.read("kind", "key")) == plain(NEW)


@pytest.mark.parametrize("is_mapped", [True, False])
def test_a_read_that_fails_anywhere_is_a_miss_or_right(
    folder: Path, is_mapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_mapped:
        monkeypatch.setenv("TOKPAR_CACHE_MAP", "0")
    disk_cache.write("kind", "key", NEW)
    found: list[object] = []
    seen: Counter[str] = Counter()
    for files in each_failure(folder, lambda: found.append(plain(disk_cache.read("kind", "key")))):
        assert is_right_or_typed(files), (files.error, files.failed, files.raised)
        assert files.raised is not None or found.pop() in (None, plain(NEW))
        seen[files.failed] += 1
        assert plain(disk_cache.read("kind", "key")) == plain(NEW)
    assert seen["fstat"] > 3
    assert seen["mmap" if is_mapped else "read"] > 2


@needs_kernel
@needs_below_one
@pytest.mark.compiled_at_once
def test_ids_are_right_whatever_operation_on_the_cache_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are made and written, or read."""
    monkeypatch.setattr(hf_call, "LEAST_KEPT", 0)
    own = build(ByteLevelSpec("gpt2", 3, 60))
    text, config = "the quick brown fox, 12 and é中 " * 40, own.to_str()
    expected = own.encode(text).ids

    def load() -> None:
        encoder = tokpar.Encoder(Tokenizer.from_str(config))
        encoder.prepare()
        assert encoder.encode(text).ids.tolist() == expected

    load()
    assert [*folder.glob("calls/*")], "no tables are kept"
    step, errors = (31, ("disk fails", "half")) if is_quick() else (1, tuple(ERRORS))
    for is_kept in (False, True):
        tried = Counter[str]()
        for files in each_failure(folder, load, step, errors):
            assert is_right_or_typed(files), (files.error, files.failed, files.raised)
            tried[files.error] += 1
            if not is_kept:
                for path in folder.glob("calls/*"):
                    path.unlink()
        assert set(tried) == set(errors)
    load()
