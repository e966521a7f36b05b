"""Standard streams that are closed, or cannot hold every text."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn

from tokpar.errors import OptionError


class ClosedStream(io.TextIOBase):
    """Stands for a standard stream that is closed. Every use raises an OSError that says so."""

    def __init__(self, name: str) -> None:
        self._message = f"{name} is closed"

    @property
    def buffer(self) -> Any:
        return self

    def _refuse(self, *_: object) -> NoReturn:
        raise OSError(errno.EBADF, self._message)

    read = read1 = write = _refuse

    def isatty(self) -> bool:
        return False


def open_streams() -> None:
    """Make closed standard streams refuse what they are asked for, stderr drop it; what another
    encoding lacks is escaped, where it is not the result of a command."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # so that no file that is opened later is taken for a standard stream
        os.close(opened)
    sys.stdin = sys.stdin or ClosedStream("standard input")
    sys.stdout = sys.stdout or ClosedStream("standard output")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the exit
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_exactly(text: str) -> None:
    """Write `text` on standard output: UTF-8, or the encoding of a terminal, with a newline behind
    it. Raises OptionError for a character that the terminal's encoding lacks."""
    stream = sys.stdout
    if not hasattr(stream, "buffer"):  # of a program that runs this command
        stream.write(text)
        return
    encoding = stream.encoding if stream.isatty() else "utf-8"
    try:
        data = (text + "\n" * stream.isatty()).encode(encoding or "utf-8")
    except UnicodeEncodeError as error:
        raise OptionError(
            f"the terminal's encoding, {encoding}, lacks {text[error.start]!a}: set "
            "PYTHONIOENCODING=utf-8, or write into a file"
        ) from None
    stream.flush()
    stream.buffer.write(data)
