"""`tokpar explain` beside the commands of tokpar: the same numbers, rows, and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cli_runs import run
from tests.support.paths import VOCAB

MARKDOWN = "".join(
    f"# Title {n}\n\n| a | b |\n|---|---|\n| `x_{n}`  | naïve 中文 {n * 7919} |\n\n"
    f"- one, two; [three](four.md)  \n\n```python\ndef f{n}(x):\n    return x\n```\n\n"
    for n in range(200)
)
CUTS = re.compile(r"(?:cut at [\d,]+ places? \([^)]*\)|not cut: [^;]*)")


def cuts(said: str) -> str:
    """Where a summary says that the text is cut, and by which rules, or why it is not."""
    found = CUTS.search(" ".join(said.split()))
    assert found is not None, said
    return found[0]


@pytest.mark.each_value
@pytest.mark.parametrize(
    "tokenizer",
    [
        ("default",),
        (VOCAB / "bert_part.json", "--no-padding", "--no-truncation"),
        (VOCAB / "metaspace_unigram.json",),
        (VOCAB / "llama_style.json",),
    ],
    ids=lambda tokenizer: Path(tokenizer[0]).stem,
)
@pytest.mark.parametrize(
    "how", [(), ("--chunk-chars", "900"), ("--strategy", "cut"), ("--strategy", "blocks")]
)
def test_it_says_the_cuts_that_encode_says(
    tmp_path: Path, tokenizer: tuple[object, ...], how: tuple[str, ...]
) -> None:
    path = tmp_path / "text.md"
    path.write_bytes(MARKDOWN.encode())
    arguments = (path, "--tokenizer", *tokenizer, *how)
    explained = run("explain", *arguments, "--seam", "0").out
    assert cuts(explained) == cuts(run("encode", *arguments, "--no-ids").err)


def test_no_control_of_a_terminal_in_the_name_of_a_file_reaches_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31mb.txt"
    path.write_text("one two", encoding="utf-8")
    printed = run("explain", path)
    assert "\x1b" not in printed.out + printed.err
    assert "a\\x1b[31mb.txt" in printed.out


def test_a_special_token_in_a_text_is_one_line_with_options_that_work(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hello <|endoftext|>", encoding="utf-8")
    given = (path, "--tokenizer", VOCAB / "cl100k_part.tiktoken", "--encoding", "cl100k_base")
    assert "--disallowed-special none" in run("explain", *given).error
    for option in (("--disallowed-special", "none"), ("--allowed-special", "<|endoftext|>")):
        assert run("explain", *given, *option).code == 0
