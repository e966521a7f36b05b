"""The kernel under AddressSanitizer and UndefinedBehaviorSanitizer, or under ThreadSanitizer.

    python -m tests.recipes.sanitized [ARGUMENTS OF PYTEST ...]
    python -m tests.recipes.sanitized --loops SECONDS [SEED]

Compiles the kernel into a copy of the checkout. The first runs there what is asked for, or the
tests of the kernel, under the first two. The second runs the loops of
`tests/support/sanitized_loop.py` for so many seconds each: drawn tokenizers and changed files under
the first two, eight threads under the third. Needs gcc or clang as `cc`, its sanitizers, Cython,
setuptools and hatchling. A finding aborts the run, is printed, and is the exit code.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
COMMON = "-O1 -g -fno-omit-frame-pointer"
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


@dataclass(frozen=True)
class Sanitizer:
    """`name`: what `-fsanitize` takes. `library`: the compiler's, which Python loads first.
    `marks`: what a compiled library of it has inside. `settings`: variables."""

    name: str
    library: str
    marks: tuple[bytes, ...]
    settings: Mapping[str, str]


MEMORY = Sanitizer(
    "address,undefined",
    "libasan.so",
    (b"__asan_report", b"__ubsan_handle"),
    {  # what Python itself leaks at its end is no finding; what is undefined ends the run
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    },
)
THREADS = Sanitizer(
    "thread",
    "libtsan.so",
    (b"__tsan_read",),
    # the locks of Python and of the engines are not seen, so only races of the kernel are looked at
    {"TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1:exitcode=66"},
)
LOOPS = (("worlds", MEMORY), ("fuzz", MEMORY), ("threads", THREADS))


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["--loops"]:
        seconds, seed = given[1], (given[2:] or [str(random.randrange(1 << 32))])[0]
        return run_loops(seconds, seed)
    return run(MEMORY, [["pytest", *RUN, *(given or TESTS)]])


def run_loops(seconds: str, seed: str) -> int:
    codes = []
    for sanitizer in (MEMORY, THREADS):
        names = [name for name, each in LOOPS if each is sanitizer]
        loops = [["tests.support.sanitized_loop", name, seed, seconds] for name in names]
        codes.append(run(sanitizer, loops))
    return max(codes, key=abs)


def run(sanitizer: Sanitizer, modules: Sequence[Sequence[str]]) -> int:
    """Compiles the kernel, and runs modules with arguments. Returns the first code that is not
    0."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        copy_checkout(copy)
        names = ", ".join(library.name for library in compiled(copy, sanitizer))
        print(f"compiled with -fsanitize={sanitizer.name}: {names}", flush=True)
        settings = {
            "LD_PRELOAD": runtime(sanitizer.library),
            "PYTHONPATH": str(copy),
            "TOKPAR_KERNEL": "compiled",
            **sanitizer.settings,
        }
        for module in modules:
            command = [sys.executable, "-m", *module]
            code = subprocess.run(command, cwd=copy, env=os.environ | settings).returncode
            if code:
                return code
    return 0


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


def compiled(copy: Path, sanitizer: Sanitizer) -> list[Path]:
    """The libraries, in their places in the copy. SystemExit if one has no sanitizer in it."""
    flag = f"-fsanitize={sanitizer.name}"
    libraries = made_libraries(copy, {"CFLAGS": f"{COMMON} {flag}", "LDFLAGS": flag})
    for library in libraries:
        inside = library.read_bytes()
        if not all(mark in inside for mark in sanitizer.marks):
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
