"""`tokpar stream`: ids while the text arrives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.cli_runs import ids_of, printed, run

TEXT = "The words of an añb, 中文 and 12345 more.\r\n\n" * 3000


def test_a_file_gives_the_ids_that_encode_gives(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    outcome = run("stream", path)
    assert (outcome.code, [*map(int, outcome.out.split())]) == (0, ids_of(TEXT))
    assert outcome.out.count("\n") > 1


def test_ids_are_printed_before_the_text_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tokpar", "stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one two thr")
        process.stdin.flush()
        first = process.stdout.readline().decode()
        process.stdin.write("ee añ".encode()[:-1])
        process.stdin.flush()
        rest = process.communicate("añ".encode()[-1:])[0].decode()
    assert printed(first) == [ids_of("one two")]
    assert [*map(int, (first + rest).split())] == ids_of("one two three añ")
