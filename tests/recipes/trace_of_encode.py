"""Print what one call of an Encoder passes through: files, functions, and switches between files.

    python -m tests.recipes.trace_of_encode [--tokenizer NAME] [--text FILE] [--list]

The calls are traced when they are warm: the text was encoded several times before. Only functions
of the package `tokpar` count, and a comprehension is part of the function around it. A switch is a
call from a function of one file to a function of another file. Compiled functions, and threads of
pools that were already running, are not seen. `--list` prints the functions of each file as well.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tokpar

PACKAGE = Path(tokpar.__file__).parent
ROOT = PACKAGE.parent
CHUNK_CHARS = 10_000
TEXTS_IN_BATCH = 64
WARM_AFTER = 4
"""Calls before the traced call."""
NO_FUNCTIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""Python 3.12 runs most of these inside the function around them."""


@dataclass(frozen=True)
class Trace:
    """The functions that one call passed through.

    `calls`: how often each function was called, by its file and its qualified name. `switches`:
    the calls from a function of one file to a function of another file."""

    calls: Counter[tuple[str, str]]
    switches: int

    @property
    def files(self) -> dict[str, list[str]]:
        """Returns the qualified names of the functions by file, in the order of first calls."""
        found: dict[str, list[str]] = {}
        for file, function in self.calls:
            found.setdefault(file, []).append(function)
        return found


def trace(call: Callable[[], object], package: Path = PACKAGE) -> Trace:
    """Runs `call`, and returns the functions of `package` that it passed through.

    Functions in threads that `call` starts count too."""
    calls: Counter[tuple[str, str]] = Counter()
    switches = [0]
    inside = f"{package}/"

    def is_function(code: CodeType) -> bool:
        return code.co_filename.startswith(inside) and code.co_name not in NO_FUNCTIONS

    def on_event(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or not is_function(frame.f_code):
            return
        file = frame.f_code.co_filename
        calls[file[len(inside) :], frame.f_code.co_qualname] += 1
        caller = frame.f_back
        while caller is not None and not is_function(caller.f_code):
            caller = caller.f_back
        switches[0] += caller is not None and caller.f_code.co_filename != file

    before = sys.getprofile()
    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return Trace(calls, switches[0])


def traces(tokenizer: object, text: str) -> dict[str, Trace]:
    """Returns the traces of the warm calls by name: whole, with `chunk_chars`, of a batch, and of
    `tokpar.encode`."""
    whole = tokpar.Encoder(tokenizer)
    whole.prepare()
    chunked = tokpar.Encoder(tokenizer, chunk_chars=CHUNK_CHARS)
    size = -(-len(text) // TEXTS_IN_BATCH)
    texts = [text[start : start + size] for start in range(0, len(text), size)]
    calls: dict[str, Callable[[], object]] = {
        "encode(text)": lambda: whole.encode(text),
        f"encode(text), chunk_chars={CHUNK_CHARS}": lambda: chunked.encode(text),
        f"encode_batch({len(texts)} texts)": lambda: whole.encode_batch(texts),
        "tokpar.encode(text, tokenizer)": lambda: tokpar.encode(text, tokenizer),
    }
    found = {}
    for name, call in calls.items():
        for _ in range(WARM_AFTER):
            call()
        # one pre-token in 4,096 is compared with the engine, which is not what a call does
        found[name] = min((trace(call) for _ in range(2)), key=lambda each: len(each.files))
    whole.close()
    chunked.close()
    return found


def table(found: dict[str, Trace]) -> str:
    """Returns the counts of each trace as a table in Markdown."""
    lines = ["| call, warm | files | functions | switches | calls |", "|---|---|---|---|---|"]
    for name, each in found.items():
        counts = len(each.files), len(each.calls), each.switches, each.calls.total()
        lines.append(f"| `{name}` | {' | '.join(f'{count:,}' for count in counts)} |")
    return "\n".join(lines)


def listing(found: dict[str, Trace]) -> str:
    """Returns the functions of each file of each trace, one file a line."""
    lines = []
    for name, each in found.items():
        lines += ["", name]
        lines += [f"  {file}: {', '.join(functions)}" for file, functions in each.files.items()]
    return "\n".join(lines)


def documentation() -> str:
    """Returns the pages of this repository as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/*.md")))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", default="default", help="what tokpar.load takes")
    parser.add_argument("--text", type=Path, help="a file; default: the documentation of tokpar")
    parser.add_argument("--list", action="store_true", help="print the functions of each file")
    given = parser.parse_args(argv)
    text = documentation() if given.text is None else given.text.read_text(encoding="utf-8")
    found = traces(given.tokenizer, text)
    print(table(found))
    if given.list:
        print(listing(found))


if __name__ == "__main__":
    main()
