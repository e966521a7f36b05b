"""The number of cores: affinity, the quota of the container, RAYON_NUM_THREADS."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.support.profiles import drawn
from tokpar.process import limits
from tokpar.process.limits import cpu_count, quota_of, worker_count

PERIOD = 100_000


def write_quota(folder: Path, version: int, quota: int | None) -> None:
    """The files of one cgroup, as the kernel writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    if version == 2:
        (folder / "cpu.max").write_text(f"{'max' if quota is None else quota} {PERIOD}\n")
    else:
        (folder / "cpu.cfs_quota_us").write_text(f"{-1 if quota is None else quota}\n")
        (folder / "cpu.cfs_period_us").write_text(f"{PERIOD}\n")


def write_machine(root: Path, version: int, group: str, mount_root: str) -> Path:
    """`/proc` of a process in `group`, and the folder at which the hierarchy is mounted."""
    mount = "sys/fs/cgroup" if version == 2 else "sys/fs/cgroup/cpu,cpuacct"
    kind = "cgroup2 cgroup2 rw" if version == 2 else "cgroup cgroup rw,cpu,cpuacct"
    (root / "proc/self").mkdir(parents=True)
    own = f"0::{group}" if version == 2 else f"4:cpu,cpuacct:{group}"
    (root / "proc/self/cgroup").write_text(f"9:name=systemd:/x\n8:cpuset:/y\n{own}\n")
    (root / "proc/self/mountinfo").write_text(
        "23 1 0:21 / /proc rw,nosuid shared:1 - proc proc rw\n"
        "30 1 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        f"31 1 0:28 {mount_root} /{mount} rw,relatime shared:9 master:2 - {kind}\n"
    )
    return root / mount


@pytest.mark.parametrize("version", [1, 2])
def test_the_quota_is_the_least_one_of_a_cgroup_and_its_parents(
    version: int, tmp_path: Path
) -> None:
    rng = random.Random(version)
    for case in range(drawn(200)):
        names = [f"g{rng.randrange(3)}" for _ in range(rng.randrange(4))]
        hidden = rng.randrange(len(names) + 1)  # parents that a container does not see
        group, mount_root = ("/" + "/".join(part) for part in (names, names[:hidden]))
        root = tmp_path / str(case)
        top = write_machine(root, version, group, mount_root)
        seen = [top / PurePosixPath(*names[hidden:stop]) for stop in range(hidden, len(names) + 1)]
        quotas = [rng.choice([None, rng.randrange(1000, 12 * PERIOD)]) for _ in seen]
        for folder, quota in zip(seen, quotas, strict=True):
            write_quota(folder, version, quota)
        write_quota(top / "another" / "group", version, 1000)
        given = [quota for quota in quotas if quota is not None]
        expected = max(1, min(given) // PERIOD) if given else None
        assert quota_of(root) == expected, (group, mount_root, quotas)


def test_a_machine_without_cgroups_and_files_of_another_form_have_no_quota(tmp_path: Path) -> None:
    assert quota_of(tmp_path) is None
    for number, text in enumerate(["", "max\n", "0 100000\n", "100000 0\n", "a b\n", "1 2 3\n"]):
        root = tmp_path / str(number)
        top = write_machine(root, 2, "/", "/")
        write_quota(top, 2, None)
        (top / "cpu.max").write_text(text)
        assert quota_of(root) is None, text
    (tmp_path / "0/proc/self/cgroup").write_bytes(b"\xff\n")
    assert quota_of(tmp_path / "0") is None
    (tmp_path / "1/proc/self/mountinfo").write_text("strange\n- \n")
    assert quota_of(tmp_path / "1") is None


def test_the_least_limit_is_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    rng = random.Random(0)
    for _ in range(drawn(200)):
        affinity, quota, rayon = (rng.choice([None, *range(1, 9)]) for _ in range(3))
        monkeypatch.setattr(limits.os, "process_cpu_count", lambda n=affinity: n, raising=False)
        monkeypatch.setattr(limits, "own_quota", lambda n=quota: n)
        monkeypatch.setenv("RAYON_NUM_THREADS", rng.choice(["", "0", "-2", "x"]))
        if rayon is not None:
            monkeypatch.setenv("RAYON_NUM_THREADS", str(rayon))
        others = [limit for limit in (quota, rayon) if limit is not None]
        assert worker_count(None) == cpu_count() == min([affinity or 1, *others])
        assert worker_count(7) == 7


def test_a_process_with_rayon_num_threads_has_so_many_workers() -> None:
    script = "from tokpar.process.limits import worker_count; print(worker_count(None))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"RAYON_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "1\n"
