"""The kernel's C on other machines: the answers that it gives here, from drawn tokenizers.

    python -m tests.recipes.other_machines [MACHINE ...] [--seeds 8] [--keep FILE.gz]

Draws tokenizers and texts, and keeps what they ask of the kernel, with its answers. Compiles call.c
with a driver and a stand-in of Python.h (no Python and no engine is needed there) for each machine,
runs it, by qemu if need be, and compares each answer. (tests.recipes.plain_c is another machine
whose Python is here.) Without names: all machines whose compiler
and qemu are here. Exit code 1: an answer differs. `--keep`: the file of cases, for a machine that
this one cannot play:

    cd tests/recipes/other_machines && cc -I . -I ../../../tokpar/compiled driver.c -lm -o driver
    gunzip -c FILE.gz | ./driver

Needs the kernel, the extra `test`, and per machine what `MACHINES` names: on Debian the packages
gcc-aarch64-linux-gnu, gcc-s390x-linux-gnu, gcc-arm-linux-gnueabihf and qemu-user-static.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.recipes.other_machines.cases import cases

HERE = Path(__file__).parent
KERNEL = HERE.parents[2] / "tokpar/compiled"
FLAGS = ("-O2", "-w", "-std=gnu11", "-static", f"-I{HERE}")


@dataclass(frozen=True)
class Machine:
    """`compiler`: its command, and what it is given. `runner`: what runs a program of it here."""

    compiler: tuple[str, ...]
    runner: tuple[str, ...] = ()


MACHINES = {
    "here": Machine(("cc",)),
    # prelude.h hides gcc, and intrin.h has what Microsoft's compiler brings
    "microsoft": Machine(("gcc", f"-I{HERE / 'microsoft'}", "-include", "prelude.h")),
    "x86-64 without AVX2": Machine(("cc",), ("qemu-x86_64-static", "-cpu", "Nehalem")),
    "aarch64": Machine(("aarch64-linux-gnu-gcc",), ("qemu-aarch64-static",)),
    "armhf": Machine(("arm-linux-gnueabihf-gcc",), ("qemu-arm-static",)),
    "s390x": Machine(("s390x-linux-gnu-gcc",), ("qemu-s390x-static",)),
}


def lacks(machine: Machine) -> list[str]:
    """The commands of a machine that are not here."""
    return [each for each in (machine.compiler[0], *machine.runner[:1]) if not shutil.which(each)]


def compiled(machine: Machine, folder: Path, kernel: Path = KERNEL) -> Path:
    driver = folder / "driver"
    command = [*machine.compiler, *FLAGS, f"-I{kernel}", str(HERE / "driver.c"), "-o", str(driver)]
    subprocess.run([*command, "-lm"], check=True)
    return driver


def differs(machine: Machine, driver: Path, steps: Iterable[bytes]) -> bool:
    """Prints what the driver says. True if an answer differs. SystemExit if the driver fails."""
    with subprocess.Popen([*machine.runner, str(driver)], stdin=subprocess.PIPE) as running:
        assert running.stdin is not None
        try:
            for each in steps:
                running.stdin.write(each)
            running.stdin.close()
        except BrokenPipeError:
            pass
    if running.returncode not in (0, 1):
        raise SystemExit(f"the driver ended with {running.returncode}")
    return running.returncode == 1


def read(path: Path) -> Iterable[bytes]:
    with gzip.open(path) as file:
        while block := file.read(1 << 20):
            yield block


def write(path: Path, seeds: int) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for each in cases(seeds):
            file.write(each)
        file.write(b".")


def main(given: argparse.Namespace) -> int:
    names = given.machines or [name for name, each in MACHINES.items() if not lacks(each)]
    wrong = []
    with TemporaryDirectory() as folder:
        path = given.keep or Path(folder, "cases.gz")
        write(path, given.seeds)
        for name in names:
            if missing := lacks(MACHINES[name]):
                raise SystemExit(f"{name}: {' and '.join(missing)} is not here")
            print(f"{name}: ", end="", flush=True)
            driver = compiled(MACHINES[name], Path(folder))
            wrong += [name] if differs(MACHINES[name], driver, read(path)) else []
    left = [name for name in MACHINES if name not in names]
    print(f"differ: {', '.join(wrong) or 'none'}; left out: {', '.join(left) or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="See the top of this file.")
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=", ".join(MACHINES))
    parser.add_argument("--seeds", type=int, default=8, help="tokenizers of each kind")
    parser.add_argument("--keep", type=Path, help="where the file of cases stays")
    sys.exit(main(parser.parse_args()))
