"""`python -m tokpar.run PROGRAM [ARGUMENTS]`, or `-m MODULE`: run a Python program, unchanged, with
what it loads of transformers, tiktoken and tokenizers encoded by tokpar. Where
transformers is missing or too old, the program runs all the same, and the logger "tokpar" says so
in one line.

Processes that the program spawns are not patched; processes that it forks are."""

from __future__ import annotations

import logging
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Run the program with transformers, tiktoken and tokenizers patched. Returns 2 if no program
    is named."""
    is_module = arguments[:1] == ["-m"]
    program = arguments[1:] if is_module else arguments
    if not program:
        print("usage: python -m tokpar.run [-m MODULE | PROGRAM.py] [ARGUMENTS ...]")
        return 2
    from tokpar.integrations.patch import patch_transformers
    from tokpar.integrations.patch_tiktoken import patch_tiktoken

    _patch("transformers", patch_transformers)
    _patch("tiktoken", patch_tiktoken)
    _patch("tokenizers", _patch_tokenizers)
    sys.argv = program
    sys.path[0] = os.getcwd() if is_module else str(Path(program[0]).resolve().parent)
    if is_module:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program[0], run_name="__main__")
    return 0


def _patch_tokenizers() -> None:
    from tokpar.integrations.patch_tokenizers import patch_tokenizers  # not for tokenizers 1.x

    patch_tokenizers()


def _patch(library: str, patch: Callable[[], object]) -> None:
    """Patch a library, or log in one line why the program runs without."""
    from tokpar.process.interrupts import raise_foreign

    try:
        patch()
    except Exception as error:  # whatever is wrong, the program runs as without tokpar
        raise_foreign(error)
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        logging.getLogger("tokpar").warning("%s is left as it is: %s", library, said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
