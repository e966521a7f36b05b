"""The processes of a server that listens on this machine: their memory and processor time. Linux
only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit


def processes_of(address: str) -> list[int]:
    """Returns the process that was started with the port of an address among its arguments, and all
    below it. Raises RuntimeError if there is none."""
    port = str(urlsplit(address).port)
    for process, parent, _ in _all_processes():
        try:
            arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == os.getpid() and port.encode("ascii") in arguments:
            return [process, *below(process)]
    raise RuntimeError(f"no process of this one listens on {address}")


def below(process: int) -> list[int]:
    """Returns the children of a process, their children, and so on."""
    parents = {each: parent for each, parent, _ in _all_processes()}
    found = [process]
    for one in found:
        found += [each for each, parent in parents.items() if parent == one]
    return found[1:]


def _all_processes() -> Iterator[tuple[int, int, str]]:
    """Yields the number, the parent and the name of each process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text("utf-8").partition("(")[2].rpartition(")")
        except OSError:
            continue  # it ended meanwhile
        yield int(path.parent.name), int(rest.split()[1]), name


def processor_time_of(processes: Sequence[int]) -> float:
    """Returns the seconds of processor time of processes and all their threads."""
    tasks = (path for each in processes for path in Path(f"/proc/{each}/task").glob("*/schedstat"))
    return sum(int(path.read_text("ascii").split()[0]) for path in tasks) / 1e9


def memory_of(address: str) -> str:
    """Returns the name and the memory of each process of a server, shared pages in parts, in MB."""
    names = {process: name for process, _, name in _all_processes()}
    sizes = [f"{names.get(each, '?')} {_megabytes(each):.0f}" for each in processes_of(address)]
    return ", ".join(sizes) + " MB"


def memory_below(process: int) -> float:
    """Returns the MB of all processes below one, shared pages in parts."""
    return sum(map(_megabytes, below(process)))


def _megabytes(process: int) -> float:
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0.0  # it ended meanwhile
    kilobytes = next((line.split()[1] for line in rollup.splitlines() if line[:4] == "Pss:"), "0")
    return int(kilobytes) / 1024
