"""TokenTree beside true BPE: what `Comparison` counts, and `tokpar tokentree`."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from tokpar_bench.tokentree import Comparison
from tokpar_bench.tokentree_engine import TreeTokenizer
from tokpar_conformance.text_strategies import texts
from tokpar_pure.adapter import PureTokenizer
from tokpar_pure.formats import rank_vocabulary, read_tokenizer_json

from tests.support.cli_runs import run
from tests.support.paths import DEFAULT
from tokpar.formats.vocabulary import Vocabulary

ENDOFTEXT = "<|endoftext|>"
DIFFERS = " astronauts"
"""Longest match and BPE of the bundled vocabulary cut it in different ways."""
BYTES = {bytes([byte]): byte for byte in range(256)}


def vocabulary_of(drawn: list[bytes], pattern: str) -> Vocabulary:
    ranks = BYTES | {token: 256 + i for i, token in enumerate(drawn)}
    return rank_vocabulary("drawn", ranks, pattern, {"<s>": 9000})


# The comparison


def test_shared_tokens_have_the_same_bytes_at_the_same_place() -> None:
    """BPE: a bc | a bc | ab | <s>; TokenTree: ab c | ab c | ab | <s>."""
    comparison = Comparison(vocabulary_of([b"bc", b"ab"], pattern="[a-c]+"))
    found = comparison.difference_in("abc.abc.ab<s>")
    assert (found.bpe_tokens, found.tree_tokens, found.shared_tokens) == (6, 6, 2)
    assert found.token_share == pytest.approx(1 - 2 * 2 / 12)
    assert (found.texts, found.texts_differing, found.text_share) == (1, 1, 1.0)
    both = found + comparison.difference_in("ab")
    assert (both.texts, both.texts_differing, both.text_share) == (2, 1, 0.5)
    assert (both.bpe_tokens, both.shared_tokens) == (7, 3)


@given(texts(added=("<|endoftext|>",), max_size=200))
def test_the_comparison_counts_what_the_adapters_give(text: str) -> None:
    vocabulary = bundled()
    exact, longest = PureTokenizer(vocabulary), TreeTokenizer(vocabulary)
    bpe, cut = exact.encode(text), longest.encode(text)
    shared = set(map(tuple, exact.locate(bpe, text).tolist())) & set(
        map(tuple, longest.locate(cut, text).tolist())
    )
    found = bundled_comparison().difference_in(text)
    assert found.bpe_tokens == len(bpe)
    assert found.tree_tokens == len(cut)
    assert found.shared_tokens == len(shared)
    assert found.texts_differing == (bpe.tolist() != cut.tolist())


@cache
def bundled() -> Vocabulary:
    return read_tokenizer_json(DEFAULT)


@cache
def bundled_comparison() -> Comparison:
    return Comparison(bundled())


# The command


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "same.txt", tmp_path / "other.txt"]
    paths[0].write_text("the", encoding="utf-8")
    paths[1].write_text(f"the{DIFFERS}", encoding="utf-8")
    return paths


def test_the_command_says_how_much_differs(files: list[Path]) -> None:
    outcome = run("tokentree", "default", *files)
    header, *rows, last = outcome.out.splitlines()
    assert outcome.code == 0
    assert header.startswith("text ")
    assert header.endswith("BPE tokens  TokenTree tokens  tokens differ  speed  model alone")
    assert [row.split()[0] for row in rows] == [str(path) for path in files]
    assert "0.000%" in rows[0]
    assert last.startswith("1 of 2 texts (50.00%) and ")
    assert "times as fast as BPE" in last


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """The 256 bytes, under a name that is no encoding's."""
    path = tmp_path / "own.tiktoken"
    rows = (f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in BYTES.items())
    path.write_text("".join(rows))
    return path


def test_a_tiktoken_file_takes_its_pattern_and_special_tokens(ranks: Path) -> None:
    arguments = (ranks, "--pat-str", r"\s+|\S+", "--special", f"{ENDOFTEXT}=300000", "--json")
    found = json.loads(run("tokentree", *arguments, "--text", f"a{ENDOFTEXT}").out)
    assert found["total"]["bpe_tokens"] == found["total"]["shared_tokens"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: VOCAB"),
        (("no-such-name", "--text", "a"), "unknown tokenizer 'no-such-name'"),
        (("none.json", "--text", "a"), "none.json"),
        (("default", "--pat-str", "a", "--text", "a"), "unknown setting"),
        (("default", "no-such-file.txt"), "no-such-file.txt"),
        (("default", "a.txt", "--text", "a"), "either files or --text"),
        (("default", "--lines", "--text", ""), "no line to compare"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    arguments: tuple[object, ...], message: str
) -> None:
    outcome = run("tokentree", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("tokpar: error: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
