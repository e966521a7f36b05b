"""Run the command line in this process, with streams like those of a shell."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import tokpar
from tokpar.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that a refused command prints."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.count("\n") == 1
        assert self.err.startswith("tokpar: error: ")
        return self.err.removeprefix("tokpar: error: ").rstrip("\n")


class Stream(io.TextIOWrapper):
    """A standard stream, of a terminal if `is_terminal`."""

    def __init__(self, data: bytes = b"", is_terminal: bool = False) -> None:
        self.bytes = io.BytesIO(data)
        self._is_terminal = is_terminal
        super().__init__(self.bytes, encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return self._is_terminal

    def written(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode()


def run(*arguments: object, stdin: bytes = b"", terminal: bool = False) -> Outcome:
    """`run("count", "a.txt", stdin=b"...")`; `terminal`: standard output is one."""
    out, err = Stream(is_terminal=terminal), Stream()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", Stream(stdin)):
        code = main([str(argument) for argument in arguments])
        return Outcome(code, out.written(), err.written())


def ids_of(text: str) -> list[int]:
    """The ids that commands print for a text."""
    return tokpar.encode(text).ids.tolist()


def printed(out: str) -> list[list[int]]:
    """The ids in each line."""
    return [[int(word) for word in line.split()] for line in out.splitlines()]
