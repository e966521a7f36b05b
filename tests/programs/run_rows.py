"""Runs one program in the environment that `__main__.py` made for it, and prints its rows as JSON,
one a line.

python -m tests.programs.run_rows NAME"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from importlib import import_module, metadata

MARK = "row: "
"""Programs print lines of their own; those of the rows begin with this."""


def main(name: str) -> None:
    from tokpar.compiled import compiled_build

    compiled_build.IN_BACKGROUND = (
        False  # a load then waits for its tables, so no row is the engine's
    )
    program = import_module(f"tests.programs.{name}")
    versions = {each: metadata.version(each) for each in ("tokpar", *program.VERSIONS)}
    for row in program.rows():
        around = {"program": name, "versions": versions, "load": round(os.getloadavg()[0], 1)}
        around["date"] = time.strftime("%Y-%m-%d")
        print(MARK + json.dumps(asdict(row) | around), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
