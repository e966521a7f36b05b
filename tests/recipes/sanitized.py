"""Tests of the kernel under AddressSanitizer and UndefinedBehaviorSanitizer, by hand.

    python -m tests.recipes.sanitized [ARGUMENTS OF PYTEST ...]

Compiles the kernel with both into a copy of the checkout, and runs there what is asked for, or
the tests of the kernel. Needs gcc or clang as `cc`, Cython, setuptools and
hatchling. Ends with pytest's exit code; a finding aborts the run and is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

CHECKOUT = Path(__file__).parents[2]
COPIED = (
    "tokpar",
    "tests",
    "docs",
    "plugins",
    "hatch_build.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
FLAGS = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined"
COMPILE = "import pathlib, hatch_build; print(*hatch_build.compiled(*[pathlib.Path.cwd()] * 2))"
FILES = (
    "segments",
    "call_block",
    "call_by_engine",
    "call_drawn",
    "call_checks",
    "call_characters",
    "call_pairs",
    "call_wordpiece",
    "call_unigram",
    "call_path",
    "merges_gate",
    "reader",
)
TESTS = tuple(f"tests/compiled/test_{name}.py" for name in FILES)
RUN = ("-q", "-n", "0", "-p", "no:cacheprovider")


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    with TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        copy_checkout(copy)
        names = ", ".join(library.name for library in compiled(copy))
        print(f"compiled with {FLAGS}: {names}", flush=True)
        # what Python itself leaks at its end is no finding; what is undefined ends the run
        settings = {
            "LD_PRELOAD": runtime("libasan.so"),
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "PYTHONPATH": str(copy),
            "PYTHONMALLOC": "malloc",
            "TOKPAR_KERNEL": "compiled",
        }
        command = [sys.executable, "-m", "pytest", *RUN, *(given or TESTS)]
        return subprocess.run(command, cwd=copy, env=os.environ | settings).returncode


def copy_checkout(target: Path) -> None:
    """Copies what the tests of the kernel need, but for libraries."""
    target.mkdir()
    built = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=built)
        else:
            shutil.copy(source, target / name)


def compiled(copy: Path) -> list[Path]:
    """The libraries, in their places in the copy. SystemExit if one has no sanitizer in it."""
    flags = {"CFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
    libraries = made_libraries(copy, flags)
    for library in libraries:
        inside = library.read_bytes()
        if b"__asan_report" not in inside or b"__ubsan_handle" not in inside:
            raise SystemExit(f"{library.name} was compiled without the sanitizers: is `cc` gcc?")
    return libraries


def made_libraries(copy: Path, flags: Mapping[str, str]) -> list[Path]:
    """The libraries, in their places in the copy, compiled with these variables. SystemExit if the
    kernel does not compile."""
    command = [sys.executable, "-c", COMPILE]
    made = subprocess.run(
        command, cwd=copy, env=os.environ | flags, stdout=subprocess.PIPE, text=True
    )
    if made.returncode:
        raise SystemExit(f"the kernel does not compile with {flags['CFLAGS']}, see above")
    return [Path(name) for name in made.stdout.strip().splitlines()[-1].split(" ")]


def runtime(name: str) -> str:
    """Where the compiler has a library of its own. Raises SystemExit."""
    found = subprocess.run(["cc", f"-print-file-name={name}"], stdout=subprocess.PIPE, text=True)
    path = found.stdout.strip()
    if not Path(path).is_file():
        raise SystemExit(f"the compiler has no {name}: install its sanitizers")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
