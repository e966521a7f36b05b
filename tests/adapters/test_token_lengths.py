"""Bytes by id: ids far apart cost nothing, and ids of several tokens are looked up in the text."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.tokenizers_drawn import byte_characters
from tokpar.contract.interfaces import facts_of
from tokpar.facts.token_lengths import TokenLengths
from tokpar.patterns.shipped_patterns import GPT2

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

config, far, text = json.loads(sys.argv[1]), int(sys.argv[2]), "abab <s> cab " * 100
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
def test_one_id_far_above_the_others_costs_no_memory() -> None:
    command = [sys.executable, "-c", FAR_APART, byte_level(MOST), str(MOST)]
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


@given(st.lists(st.sampled_from(["<end>", "<of prompt>", "a", "é", " ", "b c"]), max_size=30))
def test_special_tokens_of_one_id_are_no_hindrance(parts: list[str]) -> None:
    """As 200018 of o200k_harmony."""
    encoding = tiktoken.Encoding(
        "shared",
        pat_str=GPT2,
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens=dict.fromkeys(["<end>", "<of prompt>"], 300),
    )
    adapter, text = tokpar.load(encoding, allowed_special="all"), "".join(parts)
    assert facts_of(adapter).unprovable is None
    assert not facts_of(adapter).tiles
    expected = encoding.encode(text, allowed_special="all")
    for strategy in ("cut", "lopt"):
        found = tokpar.encode(text, adapter, strategy=strategy, chunk_chars=2, executor="serial")
        assert found.ids.tolist() == expected
        data = text.encode()
        assert b"".join(data[start:stop] for start, stop in found.spans.tolist()) == data
