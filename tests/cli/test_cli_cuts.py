"""One number for the places where a text is cut: in `plan`, `encode`, `check`, and why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer

from tests.support.cli_runs import run
from tests.support.paths import DEFAULT, VOCAB

CL100K = (
    VOCAB / "cl100k_part.tiktoken",
    "--pat-str",
    json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"],
)
CUT_AT = re.compile(r"cut at ([\d,]+) places? \(([^;)]*); ([^)]*)\)")
MARKDOWN = "".join(
    f"# Title {n}\n\n| a | b |\n|---|---|\n| `x_{n}`  | naïve 中文 {n * 7919} |\n\n"
    f"- one, two; [three](four.md)  \n\n```python\ndef f{n}(x):\n    return x\n```\n\n"
    for n in range(200)
)


def said(out: str) -> tuple[int, str, str]:
    """The number of places in a summary, the rules, and what they are between."""
    found = CUT_AT.search(" ".join(out.split()))
    assert found is not None, out
    return int(found[1].replace(",", "")), found[2], found[3]


@pytest.mark.each_value
@pytest.mark.parametrize(
    "tokenizer",
    [
        ("default",),
        (VOCAB / "deepseek_part.json",),
        (VOCAB / "bert_part.json", "--no-padding", "--no-truncation"),
        (VOCAB / "metaspace_unigram.json",),
        (VOCAB / "llama_style.json",),
        CL100K,
    ],
    ids=lambda tokenizer: Path(tokenizer[0]).stem,
)
@pytest.mark.parametrize(
    "how", [(), ("--chunk-chars", "900"), ("--strategy", "cut"), ("--strategy", "blocks")]
)
def test_plan_encode_and_check_say_one_number(
    tmp_path: Path, tokenizer: tuple[object, ...], how: tuple[str, ...]
) -> None:
    path = tmp_path / "text.md"
    path.write_bytes(MARKDOWN.encode())
    arguments = (path, "--tokenizer", *tokenizer, *how)
    encoded = run("encode", *arguments, "--no-ids").err
    number, rules, between = said(encoded)
    assert number > 0
    if "when merged" in run("plan", *arguments).out:  # the rule is known when the ids are
        assert said(run("plan", *arguments).out)[0::2] == (number, between)
    else:
        assert said(run("plan", *arguments).out) == (number, rules, between)
        planned = run("plan", *arguments, "--json").json
        reported = run("encode", *arguments, "--no-ids", "--json").json
        assert planned["places"] == reported["seams"] == number
        assert planned["places_by_rule"] == reported["seams_by_rule"]
    assert f"ok: {number:,} seam" in run("check", *arguments).out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("short", "the text is too short for splitting to pay"),
        ("b" * 20001 + "\u2e43", "no place in the text is a certified cut"),
    ],
)
def test_plan_and_encode_say_why_nothing_is_cut(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    encoded = run("encode", path, "--chunk-chars", "30000").err  # not from the cache
    assert f"not cut: {why}" in run("plan", path).out
    assert f"not cut: {len(text):,} code points fit one chunk" in encoded


# ------------------------------------------------------------------ tokenizers that tell no facts


@pytest.mark.usefixtures("engine_only")
def test_an_added_token_that_holds_a_space_leaves_one_number(tmp_path: Path) -> None:
    """The cache does not take such a text whole; its chunks are cut elsewhere."""
    own = Tokenizer.from_file(str(DEFAULT))
    own.add_special_tokens([AddedToken("naïve 中文 ", normalized=False)])
    own.save(str(tmp_path / "tokenizer.json"))
    path = tmp_path / "text.md"
    path.write_bytes(MARKDOWN.replace("naïve 中文", "", 150).encode())
    arguments = (path, "--tokenizer", tmp_path / "tokenizer.json")
    found = said(run("encode", *arguments, "--no-ids").err)
    assert found == said(run("plan", *arguments).out)
    assert f"ok: {found[0]:,} seams" in run("check", *arguments).out
