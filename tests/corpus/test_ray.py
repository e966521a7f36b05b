"""A build on a Ray cluster of two workers equals the local one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.corpora import contents, many, write_rows
from tokpar.corpus import build
from tokpar.errors import FileFormatError, OptionError

OPTIONS = {"tokenizer": "default", "shard_size": 3000}


def test_without_ray_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    path = write_rows(tmp_path / "rows.jsonl", many(5))
    with pytest.raises(OptionError, match=r"pip install 'tokpar\[ray\]'"):
        build(path, tmp_path / "shards", backend="ray", **OPTIONS)


@pytest.mark.filterwarnings("ignore")  # Ray's own, of processes that it leaves to end
def test_two_workers_write_the_bytes_of_the_local_build(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray has no wheel for every Python")
    path = write_rows(tmp_path / "rows.jsonl", many(200))
    local = build(path, tmp_path / "local", **OPTIONS)
    assert len(local.shards) > 3
    root = str(Path(__file__).parents[2])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": root}})
    try:
        manifest = build(path, tmp_path / "ray", backend="ray", workers=2, **OPTIONS)
        assert manifest == local
        assert contents(tmp_path / "ray") == contents(tmp_path / "local")
        path.write_bytes(path.read_bytes() + b"{\n")
        with pytest.raises(FileFormatError, match=f"{path}:201: "):
            build(path, tmp_path / "bad", backend="ray", workers=2, **OPTIONS)
    finally:
        ray.shutdown()
