"""`tokpar diff --baseline`: what is written once is found changed, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mutated_files import (
    QWEN_2,
    Change,
    exchange_merges,
    mutated,
    set_flag,
    set_normalizer,
    set_pattern,
)

from tests.support.cli_runs import run
from tests.support.paths import VOCAB


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The baseline of a file with an added token, NFC and Qwen's pattern."""
    path = tmp_path / "ids.jsonl"
    assert run("diff", mutated(tmp_path), "--baseline", path).code == 0
    return path


@pytest.mark.parametrize(
    "tokenizer",
    [
        ("default",),
        (VOCAB / "deepseek_part.json",),
        (VOCAB / "bert_part.json",),
        (VOCAB / "metaspace_unigram.json",),
        (VOCAB / "llama_style.json",),
        (VOCAB / "cl100k_part.tiktoken", "--encoding", "cl100k_base"),
    ],
    ids=lambda words: Path(words[0]).stem,
)
def test_a_second_run_finds_the_rows_of_the_first(
    tmp_path: Path, tokenizer: tuple[object, ...]
) -> None:
    path = tmp_path / "ids.jsonl"
    first = run("diff", *tokenizer, "--baseline", path)
    assert first.code == 0, first
    assert "run again to compare" in first.out
    before = path.read_bytes()
    again = run("diff", *tokenizer, "--baseline", path)
    names = "ids, ids without special tokens, offsets, decode, decode without special tokens"
    if tokenizer[0] == VOCAB / "cl100k_part.tiktoken":  # tiktoken tells neither
        names = "ids, ids without special tokens, decode"
    assert (again.code, again.out.splitlines()[-1]) == (0, f"equal in all texts: {names}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "part", "aspect"),
    [
        (exchange_merges(0, -1), "merges", "ids"),
        (set_flag("rstrip"), "added tokens", "ids"),
        (set_flag("single_word"), "added tokens", "ids"),
        (set_normalizer("NFKC"), "normalizer", "ids"),
        (set_pattern(QWEN_2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")), "pre-tokenizer", "ids"),
        (
            lambda config: config["added_tokens"][0].update(special=False),
            "added tokens",
            "plain_text",
        ),
        (lambda config: config.update(decoder=None), "decoder", "text"),
    ],
    ids=["merge", "rstrip", "single_word", "nfkc", "digits", "special", "decoder"],
)
def test_a_change_is_found(
    written: Path, tmp_path: Path, change: Change, part: str, aspect: str
) -> None:
    printed = run("diff", mutated(tmp_path, change), "--baseline", written, "--json")
    assert printed.code == 1, printed
    assert printed.json["changes"] == [part]
    found = printed.json["differences"]
    assert aspect in found[0]["aspects"]
    assert found[0]["row_a"][aspect] != found[0]["row_b"][aspect]


def test_a_reader_sees_the_change_and_the_text_that_differs(written: Path, tmp_path: Path) -> None:
    changed = mutated(tmp_path, set_flag("rstrip"))
    found = run("diff", changed, "--baseline", written, "--json").json["differences"]
    shown = run("diff", changed, "--baseline", written).out
    assert "spelled otherwise than in the baseline: added tokens" in shown
    assert repr(found[0]["text"]) + " (" in shown


def test_another_spelling_of_the_same_structure_is_no_difference(
    written: Path, tmp_path: Path
) -> None:
    def nest(config: dict) -> None:
        config["normalizer"] = {"type": "Sequence", "normalizers": [config["normalizer"]] * 2}

    printed = run("diff", mutated(tmp_path, nest), "--baseline", written)
    assert printed.code == 0
    assert "spelled otherwise than in the baseline: normalizer" in printed.out


def test_a_changed_row_is_found(written: Path, tmp_path: Path) -> None:
    lines = written.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        row = json.loads(line)
        if row.get("of") == "I'm you'LL we've don'T":
            row["offsets"][3] += 1
            lines[number] = json.dumps(row)
    written.write_text("\n".join(lines), "utf-8")
    (found,) = run("diff", mutated(tmp_path), "--baseline", written, "--json").json["differences"]
    assert (found["text"], found["aspects"]) == ("I'm you'LL we've don'T", ["offsets"])


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no whole baseline"),
        (b"\xff\xfe\x00", "no whole baseline"),
        (b"[1, 2]\n", "no whole baseline"),
        (b'{"format": "another"}\n', "its format is 'another'"),
        (b'{"format": "tokpar diff baseline 1", "texts": 3}\n', "it has 0 of 3 texts"),
    ],
)
def test_a_broken_baseline_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_bytes(data)
    error = run("diff", "default", "--baseline", path).error
    assert said in error
    assert error.endswith("delete it to write it anew, or name another file")


def test_the_baseline_of_another_tokenizer_is_refused(written: Path) -> None:
    error = run("diff", VOCAB / "bert_part.json", "--baseline", written).error
    assert error.startswith(f"{written} is the baseline of another tokenizer, ")
    assert error.endswith("name that tokenizer, or another file")
