"""``engine="incremental"`` against the engines, and under every lossless strategy."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_conformance import check_tokenizer
from tokpar_incremental.adapter import CharacterFile, PrefixFile, PrefixTokenizer, load
from tokpar_pure.adapter import FileTokenizer, PureTokenizer
from tokpar_pure.formats import rank_vocabulary

import tokpar
from tests.conftest import EXAMPLES, cases, chosen_profile, drawn
from tests.support.pages import blocks
from tests.support.paths import ROOT, VOCAB
from tests.support.pure_ground import on_common_ground
from tests.support.rewritten_patterns import CHANGED
from tests.support.seams import assert_adapter_lossless, part, serial
from tests.support.special_prefixes import BOTH, NAMED
from tests.support.texts import texts as any_texts
from tests.support.tokenizers_drawn import (
    ByteLevelSpec,
    LlamaSpec,
    OtherSpec,
    build,
    byte_level_specs,
    llama_specs,
    other_specs,
)
from tokpar.errors import EngineError, FileFormatError, OptionError
from tokpar.formats.vocabulary import Vocabulary
from tokpar.sessions import streaming

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

NAMES = ("deepseek_part", "cl100k_part", "o200k_part", "default")
PATTERNS = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
BYTES = {bytes([byte]): byte for byte in range(256)}


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
    return PureTokenizer(incremental(name).vocabulary())


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


@pytest.mark.parametrize("name", cases(NAMES, ["deepseek_part"]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_it_conforms_and_gives_the_ids_of_the_pure_engine(name: str) -> None:
    assert isinstance(incremental(name), streaming.StreamsIds)
    check_tokenizer(incremental(name), pure(name), examples=drawn(30))


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


@settings(max_examples=EXAMPLES[chosen_profile()] // 2)
@given(spec=byte_level_specs(finishing=True), text=any_texts(max_size=200))
def test_a_whole_file_has_the_ids_of_its_own_library(spec: ByteLevelSpec, text: str) -> None:
    """Normalizers, prefixes, post-processors, truncation, added tokens of all kinds; the library's
    own ids on what all engines classify alike."""
    native = build(spec)
    config = json.loads(native.to_str())
    try:
        exact = FileTokenizer(config, "drawn")
    except FileFormatError:
        return
    adapter = (CharacterFile if spec.missing else PrefixFile)(config, "drawn")
    try:
        expected = exact.encode_whole(text)
    except (EngineError, OptionError) as error:
        with pytest.raises(type(error)):
            adapter.encode_whole(text)
        return
    assert adapter.encode_whole(text).tolist() == expected.tolist()
    if not native.encode_special_tokens and on_common_ground(text) == text:
        assert expected.tolist() == native.encode(text).ids
    ids = adapter.encode(text)
    assert adapter.locate(ids, text).tolist() == exact.locate(ids, text).tolist()


@settings(max_examples=EXAMPLES[chosen_profile()] // 2)
@given(
    spec=st.one_of(llama_specs(finishing=False), other_specs(finishing=False)),
    text=any_texts(max_size=200),
    ignore_merges=st.booleans(),
    drops=st.booleans(),
)
def test_characters_have_the_ids_of_their_own_library(
    spec: LlamaSpec | OtherSpec, text: str, ignore_merges: bool, drops: bool
) -> None:
    """Byte fallback, complete or not, unknown characters, fused, dropped or not, dummy prefixes."""
    config = json.loads(build(spec).to_str())
    config["model"]["ignore_merges"] = ignore_merges
    if drops:
        config["model"]["unk_token"] = None
    try:
        exact = FileTokenizer(config, "drawn")
    except FileFormatError:
        return
    adapter = CharacterFile(config, "drawn")
    try:
        ids = exact.encode(text)
    except (EngineError, OptionError) as error:
        with pytest.raises(type(error)):
            adapter.encode(text)
        return
    assert adapter.encode(text).tolist() == ids.tolist()
    assert adapter.locate(ids, text).tolist() == exact.locate(ids, text).tolist()
    native = Tokenizer.from_str(json.dumps(config))
    assert native.encode(text, add_special_tokens=False).ids == ids.tolist()


def test_a_dummy_prefix_and_byte_fallback() -> None:
    path = VOCAB / "llama_style.json"
    adapter = tokpar.load(path, engine="incremental")
    assert isinstance(adapter, CharacterFile)
    text = "The caf\u00e9 \u4e2d\u6587 \U0001fae0\U0001fae0 and\n\n" * 9 + "a" * 300
    native = Tokenizer.from_file(str(path))
    assert tokpar.encode(text, adapter).ids.tolist() == native.encode(text).ids
    again, arguments = adapter.spec()
    assert again(**arguments).encode(text).tolist() == adapter.encode(text).tolist()
    assert_adapter_lossless(adapter, native.encode(text).ids, text, (7, 64))


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ({"continuing_subword_prefix": "b"}, "continuing_subword_prefix"),
        ({"end_of_word_suffix": "b"}, "'a' and 'b' make 'ab'"),
        (
            {"vocab": {"a": 0, "b": 1, "ab": 2, "?": 3, "a?": 4}, "merges": ["a ?"]},
            r"merge of '\?'",
        ),
    ],
)
def test_characters_that_cannot_be_read_one_by_one_are_refused(
    model: dict[str, object], named: str
) -> None:
    plain = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "?": 3}, "merges": ["a b"]}
    config: dict[str, Any] = {"model": plain | {"unk_token": "?"} | model}
    with pytest.raises(FileFormatError, match=named):
        CharacterFile(config, "odd")


def test_errors_say_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="bert_part"):
        tokpar.load(VOCAB / "bert_part.json", engine="incremental")
    with pytest.raises(FileFormatError, match="metaspace_unigram"):
        tokpar.load(VOCAB / "metaspace_unigram.json", engine="incremental")
    with pytest.raises(OptionError, match="properize is for BPE of bytes"):
        tokpar.load(VOCAB / "llama_style.json", engine="incremental", properize=True)
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


def test_the_examples_of_the_readme_run_in_order() -> None:
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "plugins" / "tokpar-incremental" / "README.md"):
        exec(block.body, names)


def test_a_vocabulary_may_lack_a_byte_that_no_text_has() -> None:
    tokens = {token: id_ for token, id_ in BYTES.items() if token != b"\xc0"}
    adapter = tokpar.load(
        Vocabulary("lacking", tokens, "pairs", (r"\s+|\S+",), {}, True, True), engine="incremental"
    )
    text = "Some words, " * 20
    assert tokpar.check(tokpar.encode(text, adapter), text, adapter).findings == ()
    assert adapter.facts.tiles


def test_special_tokens_and_patterns_that_the_pure_engine_refuses_are_refused() -> None:
    file, pattern = VOCAB / "cl100k_part.tiktoken", PATTERNS["cl100k_part"]
    with pytest.raises(OptionError, match=NAMED):
        load(file, pat_str=pattern, special_tokens=BOTH)
    with pytest.raises(OptionError, match=r"fancy-regex may take .* engine='tiktoken'"):
        load(file, pat_str=CHANGED[0])
