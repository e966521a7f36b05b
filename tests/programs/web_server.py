"""A web server of a program that runs beside this process, and what asks it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

SECONDS = 600
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
    # its own group, so that its workers end with it
    process = subprocess.Popen(
        command,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _wait_for(process, address + path)
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _wait_for(process: subprocess.Popen[str], address: str) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except OSError:
            time.sleep(0.5)
    process.terminate()
    raise RuntimeError(process.communicate()[0][-2_000:])


def posted(address: str, question: Any) -> Any:
    """Returns the JSON that the server answers to a question, sent as JSON."""
    request = urllib.request.Request(
        address, json.dumps(question).encode("ascii"), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)
