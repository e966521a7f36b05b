"""Standard streams that are closed, full, or of another encoding than the text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tokpar
from tests.conftest import cases

TEXT = "naïve 中文 😀\r\n"
IDS = [str(id_) for id_ in tokpar.encode(TEXT).ids.tolist()]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")


def shell(arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """`python -m tokpar ...` in a shell, with its redirections."""
    command = f'"{sys.executable}" -m tokpar {arguments}'
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, check=False, env={**os.environ, **variables}
    )


@pytest.fixture(scope="module")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "text.txt"
    path.write_bytes(b"The quick brown fox, 12345678 times. " * 3000)
    return path


PRINTING = ["encode FILE --json", "stream FILE", "encode FILE", "count FILE", "plan FILE"]


@pytest.mark.parametrize("command", cases(PRINTING, PRINTING[:2]))
def test_a_closed_output_is_one_clear_line(command: str, text_file: Path) -> None:
    ended = shell(f"{command.replace('FILE', str(text_file))} >&-")
    assert ended.returncode == 2
    assert ended.stderr == b"tokpar: error: standard output is closed\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has one")
def test_a_full_disk_is_one_clear_line(text_file: Path) -> None:
    ended = shell(f"encode --quiet {text_file} >/dev/full")
    assert ended.returncode == 2
    assert ended.stderr == b"tokpar: error: No space left on device\n"


@pytest.mark.parametrize("command", ["encode --quiet FILE", "plan --all FILE", "stream FILE"])
def test_a_reader_that_goes_ends_the_command_quietly(command: str, text_file: Path) -> None:
    ended = shell(f"{command.replace('FILE', str(text_file))} | head -c 20")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert len(ended.stdout) == 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a pseudo-terminal of Linux")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_terminal_that_lacks_a_character_is_an_error(encoding: str) -> None:
    import pty

    mine, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tokpar", "decode", *IDS],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    ) as running:
        assert running.stderr is not None
        said = running.stderr.read()
    os.close(theirs)
    if encoding == "utf-8":
        assert (running.returncode, said) == (0, b"")
        assert os.read(mine, 100).decode().replace("\r", "") == TEXT.replace("\r", "") + "\n"
    else:
        assert running.returncode == 2
        assert said.startswith(b"tokpar: error: the terminal's encoding, ascii, lacks '\\xef': set")
    os.close(mine)
