"""Which files and functions of tokpar a call runs, and those of the everyday calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import tokpar
from tests.support.paths import ROOT, VOCAB

OWN = f"{ROOT / 'tokpar'}/"
STORED = ROOT / "tests/data/trips.json"
FILE = VOCAB / "deepseek_part.json"
TEXT = "The quick brown fox jumps over the lazy dog, and 42 more. " * 4
TEXTS = [f"{TEXT[k:]}{k}" for k in range(8)]


def functions_of(call: Callable[[], object]) -> set[str]:
    """Returns the functions of tokpar that `call` runs: "pipeline/steps.py encode_batch"."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OWN):
            ran.add(f"{code.co_filename.removeprefix(OWN)} {code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return ran


def trip_of(call: Callable[[], object]) -> tuple[int, int]:
    """Returns how many files of tokpar, and how many functions in them, `call` runs."""
    ran = functions_of(call)
    return len({each.partition(" ")[0] for each in ran}), len(ran)


def everyday_trips(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields a name and a call for each trip. The call has run once, so every module is imported.

    The caches of tokpar are in `folder`, which the environment names."""
    encoder = tokpar.Encoder(FILE)
    encoder.prepare()
    session = encoder.session(TEXT * 300)
    parts = [TEXT[k : k + 20] for k in range(0, len(TEXT), 20)]
    file = folder / "text.txt"
    file.write_text(TEXT * 10, "utf-8")

    def count_file() -> None:
        from tokpar.cli import main

        assert main(["count", "--tokenizer", str(FILE), str(file)]) == 0

    trips: dict[str, Callable[[], object]] = {
        "encode": lambda: encoder.encode(TEXT),
        "encode_batch": lambda: encoder.encode_batch(TEXTS),
        "count": lambda: encoder.count(TEXT),
        "count with a limit": lambda: encoder.count(TEXT, limit=5),
        "chunks": lambda: [*encoder.chunks(TEXT * 40, 100)],
        "session.append": lambda: session.append(TEXT),
        "stream": lambda: [*encoder.stream(parts)],
        "tokpar count": count_file,
    }
    for name, call in trips.items():
        call()
        yield name, call


def trips_of_as_hf() -> Iterator[tuple[str, Callable[[], object]]]:
    """The same of a tokenizer of transformers."""
    from transformers import PreTrainedTokenizerFast

    own: Any = PreTrainedTokenizerFast(tokenizer_file=str(FILE))
    view = tokpar.as_hf(own)
    view(TEXT)
    yield "as_hf, a text", lambda: view(TEXT)
    view(TEXTS)
    yield "as_hf, a batch", lambda: view(TEXTS)


STORE_TABLES = """
import sys
import tokpar.adapters.hf_call
tokpar.adapters.hf_call.LEAST_KEPT = 0
tokpar.Encoder(sys.argv[1]).prepare()
"""
READ_ALL_TABLES = """
import tokpar.adapters.hf_call
tokpar.adapters.hf_call.LEAST_KEPT = 0
"""
LOADED_BY_AN_ENCODE = """
import sys
import tokpar
tokpar.encode("The quick brown fox, again. " * 400, sys.argv[1])
print(*(name for name in sys.modules if name.partition(".")[0] == "tokpar"))
"""
FIRST_ENCODES = ["deepseek_part", "metaspace_unigram"]


def run_code(code: str, *arguments: str, **variables: str) -> str:
    """Returns what the code prints in a new interpreter; its error is an AssertionError."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by_a_first_encode(name: str, folder: Path) -> list[str]:
    """Returns the files of tokpar that the first encode of a program loads, with a tokenizer of
    tests/vocab whose tables are in the cache in `folder`; another thread would make them."""
    variables = {"TOKPAR_CACHE": str(folder), "TOKPAR_PLUGINS": ""}  # those that are installed here
    path = str(VOCAB / f"{name}.json")
    run_code(STORE_TABLES, path, **variables)
    loaded = run_code(READ_ALL_TABLES + LOADED_BY_AN_ENCODE, path, **variables).split()
    paths = [Path(each.replace(".", "/")) for each in loaded]
    files = [p / "__init__.py" if (ROOT / p).is_dir() else p.with_suffix(".py") for p in paths]
    return sorted(str(path) for path in files if (ROOT / path).is_file())  # `_call` is in C


def stored_trips() -> dict[str, list[str]]:
    trips: dict[str, list[str]] = json.loads(STORED.read_text("utf-8"))
    return trips
