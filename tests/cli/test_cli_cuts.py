"""One number for the places where a text is cut: in `plan`, `encode`, `check`, and why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.support.cli_runs import run
from tests.support.paths import DEFAULT, ROOT, VOCAB
from tokpar.arrays import IdArray
from tokpar.cli.cuts import foresee_cuts
from tokpar.combining import build_parts

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


def test_readme_is_cut_at_one_number_of_places() -> None:
    readme = ROOT / "README.md"
    numbers = {
        said(run("plan", readme).out)[0],
        said(run("encode", readme, "--no-ids").err)[0],
        len(tokpar.encode(readme.read_bytes().decode()).seams),
    }
    assert len(numbers) == 1
    could = re.search(r"could be cut at ([\d,]+) places", run("plan", "--gaps", readme).out)
    assert could is not None
    assert int(could[1].replace(",", "")) >= max(numbers)


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


@pytest.mark.compiled_at_once
def test_a_text_that_the_cache_knows_whole_is_one_segment() -> None:
    said = [run("encode", "--text", "d" * 20003, "--no-ids").err for _ in range(3)]
    assert "; not cut: it is one segment; lossless" in said[-1]


# ------------------------------------------------------------------ tokenizers that tell no facts


class Bytes:
    """The tokenizer of docs/plugins.md: it has a name and encodes, and tells nothing."""

    name = "bytes"

    def encode(self, text: str) -> IdArray:
        return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.uint32)


NO_FACTS = "the tokenizer tells no facts about itself"


@pytest.mark.parametrize("length", [0, 5, 5000, 9_000_000])
def test_a_tokenizer_without_facts_is_not_said_to_be_given_short_texts(length: int) -> None:
    encoding = tokpar.encode("one two " * (length // 8), Bytes())
    assert encoding.report.why == NO_FACTS
    assert encoding.report.plan == "serial"


def test_each_text_of_a_batch_says_so_too() -> None:
    batch = tokpar.encode_batch(["one two", "one two " * 200_000], Bytes())
    assert [encoding.report.why for encoding in batch] == [NO_FACTS] * 2


@pytest.mark.parametrize("length", [5, 9_000_000])
def test_a_plan_for_it_says_so_too(length: int) -> None:
    strategy = build_parts("auto", {}, allow_approximate=False)
    split, cuts = foresee_cuts("a b " * (length // 4), tokpar.load(Bytes()), strategy)
    assert (split.why, cuts.count) == (NO_FACTS, 0)


def test_a_short_text_of_a_known_tokenizer_is_short() -> None:
    assert tokpar.encode("one two").report.why == "the text is too short for splitting to pay"
    batch = tokpar.encode_batch(["one", "two"])
    assert batch[1].report.why != NO_FACTS


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
