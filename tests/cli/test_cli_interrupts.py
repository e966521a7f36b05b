"""Ctrl-C ends a command at once, also in a native call, and leaves no half of a file behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
SECONDS = 15.0
"""Much less than the calls below would take, more than a busy machine needs to end a process."""
LONG = "The quick brown fox, 12345678 times. Naïve 中文 too. " * 1_000_000
ENDED = (-signal.SIGINT, 130)
"""A shell says 130 for both."""


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    path = tmp_path / "long.txt"
    path.write_bytes(LONG.encode())
    return path


def test_ctrl_c_ends_a_native_call_that_would_take_minutes(long_file: Path) -> None:
    out = long_file.with_name("ids.npy")
    command = [sys.executable, "-m", "tokpar", "encode", str(long_file), "--strategy", "serial"]
    with subprocess.Popen(
        [*command, "--progress", "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stderr is not None
        said = b""
        while b"encoding (Ctrl-C" not in said and running.poll() is None:
            said += running.stderr.read1(1000)
        time.sleep(0.5)  # now it is in that call
        assert running.poll() is None
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        rest = running.communicate(timeout=60)
    assert time.monotonic() - start < SECONDS
    assert running.returncode in ENDED
    assert rest[0] == b""
    assert b"Traceback" not in rest[1]
    assert os.listdir(long_file.parent) == [long_file.name]


def test_ctrl_c_ends_a_command_that_waits_for_its_input() -> None:
    command = [sys.executable, "-m", "tokpar", "stream"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"one two three")
        running.stdin.flush()
        assert running.stdout.readline()  # the command has begun
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert running.wait(60) in ENDED
        assert time.monotonic() - start < SECONDS
        assert running.stderr is not None
        assert running.stderr.read() == b""


def in_main_thread(code: str) -> str:
    """What a process prints that begins as Python does."""
    header = "import signal\nfrom tokpar.cli.interrupts import *\n"
    done = subprocess.run(
        [sys.executable, "-c", header + code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_while_a_file_is_written_an_interrupt_is_an_exception() -> None:
    code = """
end_on_interrupt()
assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
try:
    with raising_on_interrupt():
        signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("raised", signal.getsignal(signal.SIGINT).name)
"""
    assert in_main_thread(code) == "raised SIG_DFL"
