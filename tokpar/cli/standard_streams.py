"""Standard streams that are closed, or whose encoding lacks characters."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn

from tokpar.errors import OptionError


class ClosedStream(io.TextIOBase):
    """Stand in for a closed standard stream. Reading or writing raises an OSError that names the
    stream."""

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
    """Replace closed standard streams, and set how the others encode.

    A closed standard input or output refuses each use with an OSError; a closed stderr drops all
    text. In the others, characters that the encoding lacks are escaped; see `write_exactly` for
    results."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # take the free numbers up to 2, so that no later file gets one of them
        os.close(opened)
    sys.stdin = sys.stdin or ClosedStream("standard input")
    sys.stdout = sys.stdout or ClosedStream("standard output")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the exit
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_exactly(text: str) -> None:
    """Write `text` on standard output as UTF-8. A terminal gets the text in its own encoding, and a
    newline after it.

    Raises OptionError for a character that the terminal's encoding lacks."""
    stream = sys.stdout
    if not hasattr(stream, "buffer"):  # a program that calls this command set its own stream
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
