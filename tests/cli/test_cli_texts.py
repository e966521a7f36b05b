"""The texts of files that commands take: rows of .jsonl, .gz, .zst."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

import tokpar
from tests.support.cli_runs import ids_of, printed, run
from tokpar.cli import text_files

zstandard = pytest.importorskip("zstandard")

ROWS = ["one two", "naïve 中文\u2028 line", ""]


def rows_of(path: Path, field: str = "text") -> Path:
    lines = [json.dumps({"id": n, field: text}) for n, text in enumerate(ROWS)]
    path.write_bytes("\n\n".join(lines).encode())
    return path


def test_encode_takes_each_row_of_a_jsonl_as_a_text(tmp_path: Path) -> None:
    outcome = run("encode", rows_of(tmp_path / "a.jsonl"), "--quiet")
    assert printed(outcome.out) == [ids_of(text) for text in ROWS]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"title": "a"}', "with a str as 'text'; its fields: 'title' (str)"),
        ('{"text": 3}', "with a str as 'text'; its fields: 'text' (int)"),
        ('["text"]', "got a list"),
        ("nonsense", "expected a JSON object in UTF-8"),
        ('{"text": "\\ud800"}', "lone surrogate"),
    ],
)
@pytest.mark.parametrize("command", ["encode", "count"])
def test_a_bad_row_is_named_with_the_fields_it_has(
    tmp_path: Path, row: str, said: str, command: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n' + row, encoding="utf-8")
    outcome = run(command, path, "--quiet")
    assert outcome.code != 0
    assert f"tokpar: error: {path}:2: " in outcome.err
    assert said in outcome.err


def compressed(data: bytes, end: str) -> bytes:
    return gzip.compress(data) if end == ".gz" else zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_compressed_texts_and_rows_have_the_ids_of_plain_ones(tmp_path: Path, end: str) -> None:
    plain = "The quick brown fox. 中文\r\n" * 9000
    text, rows = tmp_path / f"a.txt{end}", tmp_path / f"a.jsonl{end}"
    text.write_bytes(compressed(plain.encode(), end))
    rows.write_bytes(compressed(rows_of(tmp_path / "a.jsonl").read_bytes(), end))
    outcome = run("encode", text, rows, "--quiet")
    assert printed(outcome.out) == [ids_of(text) for text in (plain, *ROWS)]


@pytest.mark.parametrize("end", [".gz", ".zst"])
@pytest.mark.parametrize("kept", [-1, -9, 12, 6])
def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path, end: str, kept: int) -> None:
    path = tmp_path / f"a.txt{end}"
    path.write_bytes(compressed("".join(map(chr, range(33, 9000))).encode(), end)[:kept])
    outcome = run("count", path)
    assert outcome.code != 0
    assert f"{path}: expected a complete {end} file" in outcome.err


def test_zst_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(compressed(b"one", ".zst"))
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = run("count", path)
    assert outcome.code != 0
    assert "pip install zstandard" in outcome.err


def test_a_bad_byte_is_named_by_its_place_in_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 5)
    data = "añ中𝄞 bc".encode() * 3
    for place in (0, 1, 2, 4, 5, 9, 20):
        wrong = data[:place] + b"\xff" + data[place:]
        with pytest.raises(UnicodeDecodeError) as expected:
            wrong.decode()
        blocks = [wrong[start : start + 5] for start in range(0, len(wrong), 5)]
        with pytest.raises(tokpar.FileFormatError, match=f"byte {expected.value.start} is"):
            "".join(text_files.decode_blocks(blocks, "name"))
    single = [bytes([byte]) for byte in data]
    assert "".join(text_files.decode_blocks(single, "name")) == data.decode()
