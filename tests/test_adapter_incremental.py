"""``engine="incremental"`` against the engines, and under every lossless strategy."""

from __future__ import annotations

import json
import pickle
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tokpar
from tests.conftest import EXAMPLES, chosen_profile
from tests.seams import assert_adapter_lossless, part, serial
from tests.texts import texts as any_texts
from tokpar import streaming
from tokpar.adapters.incremental import PrefixTokenizer, load
from tokpar.adapters.pure import PureTokenizer
from tokpar.errors import FileFormatError, OptionError, UnknownNameError
from tokpar.executors.processes import ProcessExecutor
from tokpar.interfaces import (
    Decodes,
    EncodesWhole,
    HasFacts,
    HasSpec,
    Locates,
)
from tokpar.pure.vocabulary import Vocabulary, rank_vocabulary

pytestmark = pytest.mark.ids

VOCAB = Path(__file__).parent / "vocab"
NAMES = ("deepseek_part", "cl100k_part", "o200k_part", "default")
PATTERNS = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
BYTES = {bytes([byte]): byte for byte in range(256)}
SPECIAL = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276}


@cache
def incremental(name: str) -> PrefixTokenizer:
    if name == "default":
        adapter = tokpar.load(engine="incremental")
    elif name == "deepseek_part":
        adapter = tokpar.load(VOCAB / f"{name}.json", engine="incremental")
    else:
        adapter = tokpar.load(
            VOCAB / f"{name}.tiktoken", engine="incremental", pat_str=PATTERNS[name]
        )
    assert isinstance(adapter, PrefixTokenizer)
    return adapter


@cache
def pure(name: str) -> PureTokenizer:
    return PureTokenizer(incremental(name).vocabulary)


def expected(name: str, text: str) -> list[int]:
    if name == "default":
        return tokpar.encode(text).ids.tolist()
    return serial(part(name), text)


@pytest.mark.parametrize("name", NAMES)
@given(text=any_texts(max_size=300))
@example(text="The " + "a" * 700 + "中" * 200 + " " * 300 + "\n" * 50 + "12345678 " * 9)
def test_ids_are_those_of_the_pure_engine(name: str, text: str) -> None:
    adapter = incremental(name)
    ids = adapter.encode(text)
    assert ids.dtype == np.uint32
    assert ids.tolist() == pure(name).encode(text).tolist()


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text("abcXYZ é中 \n.,'’=1234567890", max_size=200))
@example(text="astronauts' 中文中文 \t\n  x" * 20)
def test_ids_are_those_of_the_native_engine(name: str, text: str) -> None:
    assert incremental(name).encode(text).tolist() == expected(name, text)


@settings(max_examples=EXAMPLES[chosen_profile()] // 3)  # each runs every strategy in 3 sizes
@given(name=st.sampled_from(NAMES), text=st.text("abcXYZ é中 \n.,'=1234567890", max_size=120))
@example(name="cl100k_part", text="The " + "a" * 300 + "中" * 60 + " 12345678 end" * 9)
@example(name="deepseek_part", text="=" * 400)
def test_every_lossless_strategy_gives_its_serial_ids(name: str, text: str) -> None:
    adapter = incremental(name)
    assert_adapter_lossless(adapter, adapter.encode(text).tolist(), text, (2, 7, 64))


def test_strategies_cut_inside_its_pre_tokens() -> None:
    """Rules K4 to K6 are for BPE alone, and this is BPE."""
    encoding = tokpar.encode(
        "ab" * 4000, incremental("cl100k_part"), executor="serial", chunk_chars=1000
    )
    assert encoding.report.chunks > 1
    assert {seam.rule for seam in encoding.seams} <= {"K4", "K5", "K6"}


@pytest.mark.parametrize("name", NAMES)
def test_its_facts_are_those_of_the_pure_engine(name: str) -> None:
    adapter = incremental(name)
    facts, exact = adapter.facts, PureTokenizer(adapter.vocabulary).facts
    assert (facts.model, facts.family, facts.patterns) == ("BPE", exact.family, exact.patterns)
    assert facts.undivided == exact.undivided
    assert facts.tokens is not None
    assert exact.tokens is not None
    assert facts.tokens() == exact.tokens()


@pytest.mark.parametrize("name", NAMES)
@given(text=any_texts(max_size=200))
def test_the_eager_model_and_the_prefixes_give_the_ids_of_a_pre_token(name: str, text: str) -> None:
    adapter = incremental(name)
    model = adapter._tokenizer.model
    eager, prefixes = adapter.eager_model(), adapter.prefixes()
    data = text.encode()
    out = [id_ for i in range(len(data)) for id_ in eager.feed(data[i : i + 1])] + eager.finish()
    prefixes.append(data)
    assert out == prefixes.tokens() == list(model.encode(text))


@pytest.mark.parametrize("name", NAMES)
@given(text=any_texts(max_size=100))
def test_spans_of_a_pre_token_are_the_characters_that_tokens_touch(name: str, text: str) -> None:
    model = incremental(name)._tokenizer.model
    spans = model.spans(text)
    assert [span[0] for span in spans] == list(model.encode(text))
    if text:
        assert (spans[0][1], spans[-1][2]) == (0, len(text))
    assert all(before[2] >= after[1] > before[1] - 1 for before, after in pairwise(spans))


@pytest.mark.parametrize("name", NAMES)
@given(text=any_texts(max_size=200))
def test_spans_tile_the_text_and_decoding_gives_it_back(name: str, text: str) -> None:
    adapter = incremental(name)
    ids = adapter.encode(text)
    data = text.encode()
    spans = adapter.locate(ids, text).tolist()
    assert b"".join(data[start:stop] for start, stop in spans) == data
    assert adapter.decode(ids.tolist()) == text


@given(st.lists(st.text("abc", min_size=2, max_size=5), unique=True, max_size=8), st.data())
def test_a_token_that_merging_cannot_make_is_a_whole_pre_token_as_in_the_engine(
    tokens: list[str], data: st.DataObject
) -> None:
    ranks = BYTES | {token.encode(): 256 + i for i, token in enumerate(tokens)}
    vocabulary = rank_vocabulary("drawn", ranks, r"[abc]+|[^abc]+", {"<s>": 9000})
    adapter = PrefixTokenizer(vocabulary)
    piece = st.sampled_from([*tokens, "a", "-", "<s>"])
    text = "".join(data.draw(st.lists(piece, max_size=6)))
    assert adapter.encode(text).tolist() == PureTokenizer(vocabulary).encode(text).tolist()
    eager = adapter.eager_model()
    for some in ["abc", "-", *tokens]:
        out = eager.feed(some.encode()[:1]) + eager.feed(some.encode()[1:]) + eager.finish()
        assert out == list(adapter._tokenizer.model.encode(some))


def test_it_is_loaded_only_when_named() -> None:
    assert tokpar.load(VOCAB / "deepseek_part.json").name.startswith("huggingface")
    assert incremental("deepseek_part").name == "incremental:deepseek_part"
    assert load(VOCAB / "deepseek_part.json", engine="pure") is None
    assert load(object()) is None
    with pytest.raises(UnknownNameError):
        tokpar.load(object(), engine="incremental")


def test_errors_say_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="bert_part"):
        tokpar.load(VOCAB / "bert_part.json", engine="incremental")
    with pytest.raises(FileFormatError, match="llama_style"):
        tokpar.load(VOCAB / "llama_style.json", engine="incremental")
    with pytest.raises(OptionError, match="pass pat_str"):
        tokpar.load(VOCAB / "cl100k_part.tiktoken", engine="incremental")
    with pytest.raises(FileNotFoundError):
        tokpar.load(tmp_path / "none.json", engine="incremental")
    with pytest.raises(OptionError, match="lone surrogate at position 1"):
        incremental("cl100k_part").encode("a\ud800")
    tokens = BYTES | {b"ab": 256, b"ac": 257}
    broken = Vocabulary("broken", tokens, "pairs", (), {(97, 98): (0, 257)}, True, False)
    with pytest.raises(OptionError, match="broken: the merge of b'a' and b'b', priority 0"):
        load(broken)


def test_it_has_the_abilities_of_the_pure_engine_and_one_more() -> None:
    adapter = incremental("cl100k_part")
    for ability in (Decodes, streaming.EncodesEagerly, EncodesWhole, HasFacts, HasSpec, Locates):
        assert isinstance(adapter, ability)
    ids = adapter.encode("a b")
    assert adapter.encode_whole("a b").tolist() == ids.tolist()
    adapter.check_text("a b")


def test_added_tokens_are_one_token_each() -> None:
    adapter = tokpar.load(
        VOCAB / "cl100k_part.tiktoken",
        engine="incremental",
        pat_str=PATTERNS["cl100k_part"],
        special_tokens=SPECIAL,
    )
    assert adapter.encode("a<|endoftext|>b").tolist()[1] == 100257


def test_it_can_be_built_again_elsewhere() -> None:
    adapter = incremental("cl100k_part")
    build, arguments = pickle.loads(pickle.dumps(adapter.spec()))
    again, text = build(**arguments), "Hello 中文 123"
    assert again.name == adapter.name
    assert again.encode(text).tolist() == adapter.encode(text).tolist()


def test_processes() -> None:
    text = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too. " * 40
    adapter = incremental("deepseek_part")
    with ProcessExecutor(2) as executor:
        encoding = tokpar.encode(text, adapter, executor=executor, chunk_chars=200)
    assert encoding.report.chunks > 5
    assert encoding == adapter.encode(text)


def improper(*merges: tuple[str, str]) -> Vocabulary:
    """Merges of a few letters, the best first."""
    tokens = dict(BYTES)
    for left, right in merges:
        tokens.setdefault((left + right).encode(), len(tokens))
    by_ids = {
        (tokens[left.encode()], tokens[right.encode()]): (rank, tokens[(left + right).encode()])
        for rank, (left, right) in enumerate(merges)
    }
    return Vocabulary("improper", tokens, "pairs", (r"[\s\S]+",), by_ids, True, False)


def test_merges_without_a_proper_order_are_encoded_exactly_or_refused_on_request() -> None:
    vocabulary = improper(("aa", "a"), ("a", "a"))
    adapter = tokpar.load(vocabulary, engine="incremental")
    assert adapter.encode("aaaa").tolist() == PureTokenizer(vocabulary).encode("aaaa").tolist()
    with pytest.raises(OptionError, match="no proper order of the merges gives the same tokens"):
        tokpar.load(vocabulary, engine="incremental", properize=True)


@given(text=st.text("abc", max_size=30))
def test_a_proper_order_gives_the_same_ids_and_is_kept_in_other_processes(text: str) -> None:
    vocabulary = improper(("ab", "c"), ("a", "b"))
    adapter = tokpar.load(vocabulary, engine="incremental", properize=True)
    build, arguments = adapter.spec()
    assert arguments["properize"] is True
    expected = PureTokenizer(vocabulary).encode(text).tolist()
    assert adapter.encode(text).tolist() == build(**arguments).encode(text).tolist() == expected


def test_the_setting_properize_is_true_or_false() -> None:
    with pytest.raises(OptionError, match="properize must be True or False, got 1"):
        tokpar.load("default", engine="incremental", properize=1)
