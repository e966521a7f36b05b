"""Options that several parts take, checked in one place; and how many cores this process may use:
affinity, the quota of its container, RAYON_NUM_THREADS."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tokpar.arrays import plain_text
from tokpar.errors import OptionError

ACCEPTANCES = ("certified", "paper")
ON_FAILURE = ("repair", "restart")
CACHE_BYTES = 64 << 20
"""The most bytes that a cache uses, without the table that is being grown."""
LEAST_CACHE_BYTES = 1 << 16


def require_text(text: object, label: str = "") -> str:
    """Returns `text`, as a plain str (`plain_text`). Raises OptionError for what is no str."""
    if not isinstance(text, str):
        kind = type(text).__name__
        said = f"{label} must be a str, got {kind}"
        raise OptionError(said if label else f"text must be a str, got {kind}")
    return plain_text(text)


def require_count(name: str, value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} must be an int of at least {least}, got {value!r}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def require_cache_bytes(cache_bytes: int) -> int:
    """Returns `cache_bytes`: a budget that a cache can keep, or 0 for none. Else OptionError."""
    whole = isinstance(cache_bytes, int) and not isinstance(cache_bytes, bool)
    if not whole or (cache_bytes != 0 and cache_bytes < LEAST_CACHE_BYTES):
        least = f"0, or {LEAST_CACHE_BYTES:,} or more"
        raise OptionError(f"cache_bytes must be {least}, got {cache_bytes!r}")
    return cache_bytes


def require_sizes(chunk_chars: object, overlap_chars: object = None) -> None:
    """OptionError unless each is an int of at least 1, or None for a size that is fitted."""
    for name, value in (("chunk_chars", chunk_chars), ("overlap_chars", overlap_chars)):
        if value is not None:
            require_count(name, value)


def require_min_match(value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`, or "longest"."""
    if value == "longest":
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(
            f'min_match must be an int of at least {least} or "longest", got {value!r}'
        )


# What Hugging Face tokenizers reads as "no" in TOKENIZERS_PARALLELISM.
_OFF = {"", "off", "false", "f", "no", "n", "0"}


def worker_count(workers: int | None) -> int:
    """`workers` if given, else how many cores this process may use (`cpu_count`); 1 if
    TOKENIZERS_PARALLELISM says no. Raises OptionError unless it is an int of at least 1."""
    if workers is None:
        return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "yes").lower() in _OFF else cpu_count()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise OptionError(f"workers must be an int of at least 1 or None, got {workers!r}")
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    return workers


def cpu_count() -> int:
    """Returns how many cores this process may use, at least 1.

    The least of: the CPUs of its affinity; the quota of its cgroup in whole cores; and
    RAYON_NUM_THREADS if it is above 0. Engines in Rust count the same way, by
    `std::thread::available_parallelism` and rayon, so that they and tokpar's threads agree."""
    if hasattr(os, "process_cpu_count"):
        count: int | None = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    limits = [count or 1, own_quota()]
    rayon = os.environ.get("RAYON_NUM_THREADS", "").strip()
    if rayon.isascii() and rayon.isdigit() and int(rayon):
        limits.append(int(rayon))
    return min(limit for limit in limits if limit is not None)


@cache
def own_quota() -> int | None:
    """Returns `quota_of` for this process. The files are read once for a process."""
    return quota_of(Path("/"))


def quota_of(root: Path) -> int | None:
    """Returns the CPU quota of this process in whole cores, at least 1; None without a quota.

    `root`: the folder in which `proc` and the cgroup file systems lie. The quota is the least one
    of the cgroup and of its parents. Version 2 has `cpu.max` with quota and period ("max" for
    none), version 1 has `cpu.cfs_quota_us` (-1 for none) and `cpu.cfs_period_us`. Source: the Linux
    kernel's admin-guide/cgroup-v2 and scheduler/sched-bwc."""
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    quotas = [
        quota
        for folder, version in _cpu_folders(root, groups, mounts)
        if (quota := _quota_in(folder, version)) is not None
    ]
    return max(1, int(min(quotas))) if quotas else None


def _cpu_folders(root: Path, groups: list[str], mounts: list[str]) -> Iterator[tuple[Path, int]]:
    """Yields the folders of the process's cgroup and of its parents, with the cgroup version."""
    for group in groups:
        if group.count(":") < 2:
            continue
        _, controllers, path = group.split(":", 2)
        version = 1 if controllers else 2
        if version == 1 and "cpu" not in controllers.split(","):
            continue
        for mount_root, mount_point in _mounts(mounts, version):
            try:  # a container sees its own part of the hierarchy, `mount_root`, mounted
                inner = PurePosixPath(path).relative_to(mount_root)
            except ValueError:
                inner = PurePosixPath()
            top = root / mount_point.lstrip("/")
            for part in (inner, *inner.parents):
                yield top / part, version


def _mounts(mounts: list[str], version: int) -> Iterator[tuple[str, str]]:
    """Yields (root, mount point) of each mounted hierarchy that may have CPU quotas."""
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        places, kind = before.split(" "), after.split(" ")
        if len(places) < 5 or len(kind) < 3:
            continue
        is_cpu = version == 2 or "cpu" in kind[2].split(",")
        if is_cpu and kind[0] == ("cgroup" if version == 1 else "cgroup2"):
            yield places[3], places[4]


def _quota_in(folder: Path, version: int) -> float | None:
    """Returns the quota of one cgroup in cores, or None."""
    try:
        if version == 2:
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        cores = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such file; "max"
        return None
    return cores if cores > 0 else None
