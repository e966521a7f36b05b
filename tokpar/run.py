"""`python -m tokpar.run PROGRAM [ARGUMENTS]`: run a Python program, unchanged, with the tokenizers
of transformers that it loads encoded by tokpar."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

USAGE = """usage: python -m tokpar.run [-m MODULE | PROGRAM.py] [ARGUMENTS ...]

Run a Python program, or with -m a module, with tokpar.patch_transformers() applied before its
first line: every fast tokenizer that it loads through from_pretrained encodes long texts with
tokpar, ids unchanged. TOKPAR_PATCH_TRANSFORMERS=0 in the environment runs it as it is.

Processes that the program spawns are not patched (those that it forks are).
"""


def main(arguments: list[str]) -> int:
    """Run the program; 2 for a command line that names none, with what to write."""
    from tokpar.errors import OptionError

    is_module = arguments[:1] == ["-m"]
    program = arguments[1:] if is_module else arguments
    if not program or program[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if program else sys.stderr)
        return 0 if program else 2
    if not is_module and not Path(program[0]).exists():
        print(f"tokpar.run: there is no file {program[0]!r}; -m runs a module", file=sys.stderr)
        return 2
    try:
        _patch()
    except (ImportError, OptionError) as error:
        print(f"tokpar.run: {error}", file=sys.stderr)
        return 2
    sys.argv = program
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")
    return 0


def _patch() -> None:
    from tokpar.integrations.patch import VARIABLE, patch_transformers, patch_wanted

    if patch_wanted():
        os.environ[VARIABLE] = "1"
        patch_transformers()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
