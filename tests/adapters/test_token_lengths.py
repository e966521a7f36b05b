"""Bytes by id: ids far apart cost nothing, and ids of several tokens are looked up in the text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.seams import assert_adapter_lossless
from tests.support.tokenizers_drawn import byte_characters
from tokpar.facts.token_lengths import TokenLengths
from tokpar.interfaces import Locates, facts_of

pytestmark = pytest.mark.compiled_at_once

MOST = 2**32 - 1
FAR_APART = """
import json, resource, sys
import tokpar
from tokenizers import Tokenizer
import tiktoken

def memory():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

config, far, text = json.loads(sys.argv[1]), int(sys.argv[2]), "abab <s> cab " * 1000
own = Tokenizer.from_str(json.dumps(config))
ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
encoding = tiktoken.Encoding(
    "far", pat_str=r"\\s+|\\S+", mergeable_ranks=ranks, special_tokens={"<s>": far}
)
started = memory()
for source, settings in ((own, {}), (encoding, {"allowed_special": "all"})):
    adapter = tokpar.load(source, **settings)
    for strategy in ("auto", "cut", "lopt"):
        found = tokpar.encode(text, adapter, strategy=strategy)
        assert far in found.ids
        assert found.ids.tolist() == adapter.encode_whole(text).tolist()
        assert found.spans[-1, 1] == len(text)
        assert tokpar.check(found, text, adapter).ok
print(memory() - started)
"""


def byte_level(far: int) -> str:
    vocabulary = {char: byte for byte, char in enumerate(byte_characters())} | {"ab": far}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"]]}
    return json.dumps({"pre_tokenizer": {**byte_level, "use_regex": True}, "model": model})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the memory it took")
@pytest.mark.parametrize("far", [300_000_000, MOST])
def test_one_id_far_above_the_others_costs_no_memory(far: int) -> None:
    command = [sys.executable, "-c", FAR_APART, byte_level(far), str(far)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 200 << 20


@given(
    st.dictionaries(st.integers(0, 40) | st.integers(0, MOST), st.integers(1, 9)),
    st.lists(st.integers(0, 60) | st.integers(0, MOST)),
)
def test_lengths_are_those_given_however_far_ids_are_apart(
    given_lengths: dict[int, int], others: list[int]
) -> None:
    lengths = TokenLengths(given_lengths, given_lengths.values())
    asked = [*given_lengths, *others]
    found = lengths.lengths_of(np.array(asked, dtype=np.uint32))
    assert found.tolist() == [given_lengths.get(id_, 0) for id_ in asked]


def harmony(names: Iterable[str]) -> tiktoken.Encoding:
    """Special tokens with one id, as 200018 of o200k_harmony."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    return tiktoken.Encoding(
        "shared", pat_str=gpt2, mergeable_ranks=ranks, special_tokens=dict.fromkeys(names, 300)
    )


@given(st.lists(st.sampled_from(["<end>", "<of prompt>", "a", "é", " ", "b c"]), max_size=30))
def test_special_tokens_of_one_id_are_no_hindrance_to_any_strategy(parts: list[str]) -> None:
    encoding, text = harmony(["<end>", "<of prompt>"]), "".join(parts)
    adapter = tokpar.load(encoding, allowed_special="all")
    assert facts_of(adapter).unprovable is None
    assert not facts_of(adapter).tiles
    expected = encoding.encode(text, allowed_special="all")
    assert_adapter_lossless(adapter, expected, text, (2, 7))
    assert isinstance(adapter, Locates)
    spans = adapter.locate(adapter.encode(text), text)
    data = text.encode()
    assert b"".join(data[start:stop] for start, stop in spans.tolist()) == data
