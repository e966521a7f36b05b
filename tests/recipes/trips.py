"""Writes tests/data/trips.json: the functions that each everyday call runs, and the files
that a first encode loads.

    python -m tests.recipes.trips

A test fails if a call runs a function, or a first encode loads a file, that is not in the list."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from tests.support.trips import (
    FIRST_ENCODES,
    STORED,
    everyday_trips,
    functions_of,
    loaded_by_a_first_encode,
    trips_of_as_hf,
)
from tokpar.compiled import compiled_build


def main() -> None:
    trips: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOKPAR_CACHE"] = folder
        compiled_build.IN_BACKGROUND = False
        for name, call in [*everyday_trips(Path(folder)), *trips_of_as_hf()]:
            # what only one call in some runs is in the list, too
            trips[name] = sorted(set().union(*(functions_of(call) for _ in range(9))))
        for name in FIRST_ENCODES:
            trips[f"first encode, {name}"] = loaded_by_a_first_encode(name, Path(folder))
    rows = (f"{json.dumps(name)}: {json.dumps(rows, indent=1)}" for name, rows in trips.items())
    STORED.write_text("{" + ",\n".join(rows) + "}\n", "utf-8")
    for name, found in trips.items():
        print(
            f"{name}: {len({each.partition(' ')[0] for each in found})} files, {len(found)} names"
        )


if __name__ == "__main__":
    main()
