"""A build on a Ray cluster of two workers equals the local one, even if workers are killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from corpora import contents, many, write_rows
from tokpar_corpus import build, ray_backend
from tokpar_corpus.command_build import stopping_on_signals

from tokpar.errors import FileFormatError, OptionError, WorkerError

OPTIONS = {"tokenizer": "default", "shard_size": 3000}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A local cluster of two cores."""
    ray = pytest.importorskip("ray", reason="Ray has no wheel for every Python")
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


def test_without_ray_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    path = write_rows(tmp_path / "rows.jsonl", many(5))
    with pytest.raises(OptionError, match="pip install ray"):
        build(path, tmp_path / "shards", backend="ray", **OPTIONS)


class RayOfHandlers:
    """Does with SIGTERM what Ray does: `init` sets a handler that ends the process."""

    def is_initialized(self) -> bool:
        return False

    def init(self, **settings: object) -> None:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))

    def shutdown(self) -> None: ...


@pytest.mark.skipif(sys.platform == "win32", reason="signals go to other processes there")
def test_the_start_of_ray_leaves_the_handler_that_stops_a_build() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stopping_on_signals() as stop, ray_backend._cluster(RayOfHandlers(), None):
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.filterwarnings("ignore")  # Ray's own, of processes that it leaves to end
@pytest.mark.usefixtures("cluster")
def test_two_workers_write_the_bytes_of_the_local_build(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", many(200))
    local = build(path, tmp_path / "local", **OPTIONS)
    assert len(local.shards) > 3
    manifest = build(path, tmp_path / "ray", backend="ray", workers=2, **OPTIONS)
    assert manifest == local
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    path.write_bytes(path.read_bytes() + b"{\n")
    with pytest.raises(FileFormatError, match=f"{path}:201: "):
        build(path, tmp_path / "bad", backend="ray", workers=1, **OPTIONS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("cluster")
def test_a_worker_of_another_version_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_rows(tmp_path / "rows.jsonl", many(5))
    monkeypatch.setattr("tokpar_corpus.job.__version__", "0.0.7")  # of the driver
    with pytest.raises(OptionError, match="a worker has another tokenizer or version: "):
        build(path, tmp_path / "shards", backend="ray", workers=1, **OPTIONS)


LONG = {"tokenizer": "default", "shard_size": 100_000, "workers": 2}
"""A part of so many shards that its worker is killed before it ends."""


def long_parts(folder: Path) -> list[Path]:
    """Two inputs of one part each, since a compressed file is not divided."""
    return [write_rows(folder / f"{name}.jsonl.gz", many(8000)) for name in ("a", "b")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("cluster")
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the workers are found in /proc")
def test_a_build_whose_workers_are_killed_writes_the_same_bytes(tmp_path: Path) -> None:
    paths, out = long_parts(tmp_path), tmp_path / "ray"
    local = build(paths, tmp_path / "local", **LONG)
    assert len(local.shards) > 6

    with killing(lambda: any(out.glob("shard-*-0001.bin")), times=1) as killed:
        manifest = build(paths, out, backend="ray", **LONG)
    assert killed
    assert manifest == local
    assert contents(out) == contents(tmp_path / "local")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("cluster")
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the workers are found in /proc")
def test_a_worker_that_is_always_killed_ends_the_build_which_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar_corpus.ray_backend.RETRIES", 1)
    path, out = long_parts(tmp_path)[0], tmp_path / "ray"
    build(path, tmp_path / "local", **LONG)
    with (
        killing(lambda: any(out.glob(".unfinished-shard-*")), times=1000) as killed,
        pytest.raises(WorkerError, match=r"a Ray worker died 2 times .*--resume goes on"),
    ):
        build(path, out, backend="ray", **LONG)
    assert len(killed) >= 2  # Ray may begin one more process before it gives the task up
    assert not list(out.glob(".unfinished-*"))
    build(path, out, resume=True, **LONG)
    assert contents(out) == contents(tmp_path / "local")


@pytest.mark.filterwarnings("ignore")
def test_the_part_of_a_node_that_is_lost_is_built_on_another_one(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray has no wheel for every Python")
    utils = pytest.importorskip("ray.cluster_utils")
    ray.shutdown()  # the cluster of the other tests, which has one node
    paths, out = long_parts(tmp_path), tmp_path / "ray"
    local = build(paths, tmp_path / "local", **LONG)
    nodes = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        node = nodes.add_node(num_cpus=1)
        lost = threading.Thread(target=lose, args=(nodes, node, out))
        lost.start()
        manifest = build(paths, out, backend="ray", ray_address=nodes.address, **LONG)
        lost.join()
        assert len(nodes.list_all_nodes()) == 1
    finally:
        nodes.shutdown()
    assert manifest == local
    assert contents(out) == contents(tmp_path / "local")


def lose(nodes: Any, node: Any, out: Path) -> None:
    """Kills the node of a cluster as soon as both parts have a shard."""
    while not all(any(out.glob(f"shard-0000{part}-*.bin")) for part in (0, 1)):
        time.sleep(0.002)
    nodes.remove_node(node, allow_graceful=False)


@contextmanager
def killing(is_time: Callable[[], bool], times: int) -> Iterator[list[int]]:
    """Kills the workers of this process's cluster by SIGKILL, so many times, when it is time.

    Yields the list of the processes that were killed."""
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        left = times
        while left and not ended.wait(0.001):
            found = building_workers() if is_time() else []
            for worker in found:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)
            left -= bool(found)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def building_workers() -> list[int]:
    """The processes of Ray below this one that are in a call of `RayWorker.build`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"RayWorker.build" in (folder / "cmdline").read_bytes() and is_below(
                int(folder.name)
            ):
                found.append(int(folder.name))
        except OSError:  # it ended
            continue
    return found


def is_below(process: int) -> bool:
    """True for a descendant of this process."""
    while process not in (0, os.getpid()):
        stat = Path(f"/proc/{process}/stat").read_text()
        process = int(stat.rpartition(")")[2].split()[1])
    return process == os.getpid()
