"""A web server of a program that runs beside this process, and what asks it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

SECONDS = 1_200
"""How long a server may take to answer for the first time."""


def free_port() -> int:
    """Returns a port of this machine that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def served(command: Sequence[str], port: int, path: str = "/", **variables: str) -> Iterator[str]:
    """Runs the command while the block runs, and yields the address at which it listens.

    `path`: what the server answers as soon as it is ready. Raises RuntimeError with the end of the
    server's output if it ends or does not answer."""
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:  # a pipe that is full stops it
        process = subprocess.Popen(
            command,
            env=os.environ | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            if not _answers(process, address + path):
                output.seek(0)
                raise RuntimeError(output.read()[-2_000:])
            yield address
        finally:
            process.terminate()
            process.wait(timeout=60)


def _answers(process: subprocess.Popen[bytes], address: str) -> bool:
    """Returns True once the server answers; False if it ends, or does not in time."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return True
        except OSError:
            time.sleep(0.5)
    return False


def posted(address: str, question: Any) -> Any:
    """Returns the JSON that the server answers to a question, sent as JSON."""
    request = urllib.request.Request(
        address, json.dumps(question).encode("ascii"), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)
