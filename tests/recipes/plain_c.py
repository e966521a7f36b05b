"""Tests of the kernel as compilers other than gcc and clang make it, and as without a GIL.

    python -m tests.recipes.plain_c [ARGUMENTS OF PYTEST ...]

Compiles the kernel with TOKPAR_PLAIN_C (tokpar/compiled/call_compiler.h) into a copy of the
checkout: no builtins, no vectors, no numbers of 128 bits, nothing fetched ahead. Runs there what
is asked for, or the tests that compare the ids of drawn tokenizers and texts with the engines'.
Needs gcc or clang as `cc`, Cython, setuptools and hatchling. Ends with pytest's exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.recipes.sanitized import RUN, copy_checkout, made_libraries

FLAGS = "-O2 -g -DTOKPAR_PLAIN_C"
NAMES = (
    "source",
    "drawn",
    "wide_ids",
    "longest",
    "characters",
    "wordpiece",
    "unigram",
    "places",
    "by_engine",
)
TESTS = tuple(f"tests/compiled/test_call_{name}.py" for name in NAMES)
NOT_PLAIN = b"__cpu_model"
"""What a library has that looks for the vectors of the processor."""


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    with TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        copy_checkout(copy)
        libraries = made_libraries(copy, {"CFLAGS": FLAGS})
        if any(NOT_PLAIN in each.read_bytes() for each in libraries):
            raise SystemExit("the kernel asks the processor for its vectors: it is no plain C")
        print(f"compiled with {FLAGS}: {', '.join(each.name for each in libraries)}", flush=True)
        settings = {"PYTHONPATH": str(copy), "TOKPAR_KERNEL": "compiled"}
        command = [sys.executable, "-m", "pytest", *RUN, *(given or TESTS)]
        return subprocess.run(command, cwd=copy, env=os.environ | settings).returncode


if __name__ == "__main__":
    raise SystemExit(main())
