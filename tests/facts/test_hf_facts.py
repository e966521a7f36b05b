"""Facts read from `tokenizer.json` files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    PreTokenizedString,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

from tests.conftest import cases
from tests.recipes.shipped import SPELLINGS
from tokpar.facts.hf_facts import ENGINE, facts_from_json, token_lengths
from tokpar.facts.hf_vocabulary import neighbours
from tokpar.formats.vocabulary import byte_alphabet
from tokpar.types import Facts

BERT = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

ALONE = sorted(
    {
        patterns[0]
        for spellings in SPELLINGS.values()
        for engines, patterns in spellings
        if ENGINE in engines and len(patterns) == 1
    }
)


def bpe(vocab: dict[str, int] | None = None, **options: Any) -> models.BPE:
    if vocab is None:
        vocab = {char: i for i, char in enumerate(sorted(byte_alphabet()))} | {"hé": 256}
    return models.BPE(vocab=vocab, merges=[], **options)


def facts(
    model: Any,
    pre_tokenizer: Any = None,
    normalizer: Any = None,
    added: tuple[AddedToken, ...] = (),
    encode_special_tokens: bool = False,
) -> Facts:
    tokenizer = Tokenizer(model)
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens(list(added))
    config = json.loads(tokenizer.to_str())
    return facts_from_json(config, encode_special_tokens=encode_special_tokens)


def byte_level(**options: Any) -> Any:
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, **options})


def split(pattern: Any, behavior: str = "isolated", invert: bool = False) -> Any:
    return pre_tokenizers.Split(pattern, behavior, invert)


def with_splits(*stages: Any) -> Any:
    return pre_tokenizers.Sequence([*stages, byte_level(use_regex=False)])


# --- regex families


def test_patterns_and_a_prefix_space_are_told_and_decide_what_tiles() -> None:
    found = facts(bpe(), byte_level(add_prefix_space=True))
    assert (found.prefix_space, found.tiles, found.unprovable) == (True, False, None)
    found = facts(bpe(), with_splits(split(Regex(CL100K))))
    assert (found.patterns, found.tiles, found.unprovable) == ((CL100K,), True, None)
    found = facts(bpe(), with_splits(split(Regex("[0-9]+")), split(Regex("x(?=y)"))))
    assert "'[0-9]+' then 'x(?=y)'" in str(found.unprovable)
    assert (found.scheme, found.tiles) == ("regex", True)


@pytest.mark.parametrize(
    ("pre_tokenizer", "reason"),
    [
        (with_splits(split(Regex("b.a"), "removed", True)), "(Removed, invert=True)"),
        (with_splits(split(Regex(CL100K), "removed")), "(Removed, invert=False)"),
        (with_splits(split(Regex(CL100K), "isolated", True)), "(Isolated, invert=True)"),
        (with_splits(split(Regex(CL100K), "merged_with_next")), "(MergedWithNext, invert=False)"),
        (with_splits(split("b a")), "the pre-tokenizer Split on 'b a', which may lie across"),
        (with_splits(split(Regex("b.a"))), "the pattern 'b.a' is not shipped"),
        (split(Regex("b.a")), "the pre-tokenizer Split on {'Regex': 'b.a'}"),
        (pre_tokenizers.UnicodeScripts(), "the pre-tokenizer UnicodeScripts"),
        (pre_tokenizers.FixedLength(4), "the pre-tokenizer FixedLength"),
        (pre_tokenizers.Punctuation(), "the pre-tokenizer Punctuation: no stage is certain to cut"),
        (
            pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Metaspace()]),
            None,
        ),
        (None, "there is no pre-tokenizer"),
    ],
)
def test_stages_that_nothing_is_proved_about_are_named(
    pre_tokenizer: Any, reason: str | None
) -> None:
    found = facts(bpe(), pre_tokenizer)
    assert (found.unprovable is None) == (reason is None)
    assert str(reason or None) in str(found.unprovable)


@pytest.mark.each_value
@pytest.mark.parametrize("between", cases(["", "a", " ", "\n", "1", "!"], ["", "a"]))
@pytest.mark.parametrize("family", cases(ALONE, ALONE[::3]))
def test_the_regex_of_a_family_leaves_no_character_out(family: str, between: str) -> None:
    """So a Split that drops what it does not match drops nothing: one that drops what it matches
    leaves nothing, which is seen at a fraction of the cost."""
    drops, leaves = split(Regex(family), "removed", True), split(Regex(family), "removed")
    for start in range(0, 0x110000, 1 << 12):
        points = range(start, start + (1 << 12))
        text = between.join(chr(point) for point in points if not 0xD800 <= point < 0xE000)
        block = PreTokenizedString(text)
        leaves.pre_tokenize(block)
        assert block.get_splits("original", "byte") == []
        if not start:
            block = PreTokenizedString(text)
            drops.pre_tokenize(block)
            spans = [span for _, span, _ in block.get_splits("original", "byte")]
            assert sum(stop - first for first, stop in spans) == len(text.encode())


def test_a_split_that_drops_what_a_family_does_not_match_is_an_isolated_one() -> None:
    found = facts(bpe(), with_splits(split(Regex(CL100K), "removed", True)))
    assert (found.unprovable, found.tiles) == (None, True)
    for pattern in ("[0-9]+", r"\p{N}{1,3}"):
        assert not facts(bpe(), with_splits(split(Regex(pattern), "removed", True))).tiles


# --- other schemes


def test_bert_needs_its_normalizer_with_both_flags() -> None:
    model = models.WordPiece({"[UNK]": 0, "a": 1, "##中中": 2}, unk_token="[UNK]")
    pre = pre_tokenizers.BertPreTokenizer()
    found = facts(model, pre, normalizers.BertNormalizer())
    assert (found.scheme, found.unprovable) == ("bert", None)
    assert [stage.kind for stage in found.normalizers] == ["BertNormalizer"]
    assert dict(found.normalizers[0].settings) == BERT
    assert (found.model, found.longest_token, found.tiles) == ("WordPiece", 6, False)
    for flag in ("handle_chinese_chars", "clean_text"):
        other = facts(model, pre, normalizers.BertNormalizer(**{flag: False}))
        assert (other.scheme, other.unprovable) == ("spaces", None)
    assert facts(model, pre).scheme == "spaces"
    two = normalizers.Sequence([normalizers.NFKC(), normalizers.BertNormalizer()])
    assert facts(model, pre, two).scheme == "spaces"


def unigram() -> Any:
    return models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0)], 0)


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_metaspace_that_splits_is_provable_for_every_model(scheme: str) -> None:
    pre = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    for model in (unigram(), bpe({"▁": 0, "a": 1}), models.WordLevel({"▁a": 0}, "▁a")):
        found = facts(model, pre)
        assert (found.scheme, found.unprovable) == ("metaspace", None)
        assert (found.byte_level, found.tiles) == (False, False)


def test_metaspace_without_split_or_with_another_sign_goes_by_its_stages() -> None:
    whole = pre_tokenizers.Metaspace(split=False)
    assert "only a BPE parts a text" in str(facts(unigram(), whole).unprovable)
    found = facts(bpe(LLAMA, byte_fallback=True), whole)
    assert (found.scheme, found.chars_before_mark, found.unprovable) == (
        "spaces",
        frozenset(),
        None,
    )
    other = facts(unigram(), pre_tokenizers.Metaspace(replacement="_"))
    assert (other.scheme, other.unprovable) == ("spaces", None)


# --- dummy prefix, no pre-tokenizer

BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
LLAMA = {**BYTES, "▁": 256, "a": 257, "▁a": 258, "▁▁": 259, "▁▁a": 260}


def llama(
    vocab: dict[str, int] = LLAMA, added: tuple[AddedToken, ...] = (), **options: Any
) -> Facts:
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return facts(bpe(vocab, **{"byte_fallback": True, **options}), None, normalizer, added)


def test_a_dummy_prefix_is_a_scheme_that_accounts_for_its_normalizers() -> None:
    found = llama()
    assert (found.scheme, found.normalizers, found.unprovable) == ("dummy", (), None)
    assert (found.longest_token, found.tiles, found.prefix_space) == (7, False, False)
    assert found.chars_before_mark == frozenset()
    found = llama({**LLAMA, "▁a▁": 300, "b▁c▁▁": 301})
    assert (found.chars_before_mark, found.unprovable) == (frozenset("abc"), None)
    small = {"▁": 0, "a": 1, "<unk>": 2}  # no bytes
    assert llama(small, byte_fallback=False, unk_token="<unk>").unprovable is None
    byte_is_token = {**{k: v for k, v in LLAMA.items() if k != "<0x09>"}, "\t": 300}
    assert llama(byte_is_token).unprovable is None
    assert llama(added=(AddedToken("<s>", normalized=False),)).unprovable is None
    moved = llama(added=(AddedToken("<s>", normalized=True),))
    assert "'<s>' is matched with the dummy prefix in front" in str(moved.unprovable)


@pytest.mark.parametrize(
    ("vocab", "options", "reason"),
    [
        ({**LLAMA, "<0x41>▁": 300}, {}, "token '<0x41>▁' has '▁' behind what stands for other"),
        ({**LLAMA, "<unk>": 300, "<unk>▁": 301}, {"unk_token": "<unk>"}, "token '<unk>▁' has"),
        ({k: v for k, v in LLAMA.items() if k != "<0x7F>"}, {}, "fewer than 256 byte tokens"),
        ({k: v for k, v in LLAMA.items() if k != "▁"}, {}, "'▁' is not in the vocabulary"),
        (LLAMA, {"byte_fallback": False}, "characters may be dropped"),
        (LLAMA, {"dropout": 0.1}, "dropout"),
        (LLAMA, {"ignore_merges": True}, "ignore_merges"),
        (LLAMA, {"end_of_word_suffix": "</w>"}, "where words start or end"),
        (LLAMA, {"continuing_subword_prefix": "##"}, "where words start or end"),
    ],
)
def test_each_gate_of_the_absorb_rule_is_checked(
    vocab: dict[str, int], options: dict[str, Any], reason: str
) -> None:
    assert reason in str(llama(vocab, **options).unprovable)


def test_a_dummy_prefix_before_another_model_is_unprovable() -> None:
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    assert "only a BPE parts a text" in str(facts(unigram(), None, normalizer).unprovable)


@pytest.mark.parametrize(
    "stages",
    [
        [normalizers.Prepend("_"), normalizers.Replace(" ", "▁")],
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "_")],
        [normalizers.Prepend("▁"), normalizers.Replace(Regex(" "), "▁")],
        [normalizers.Replace(" ", "▁"), normalizers.Prepend("▁")],
        [normalizers.Prepend("▁")],
        [normalizers.NFKC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")],
    ],
)
def test_variations_of_the_dummy_prefix_are_unprovable(stages: list[Any]) -> None:
    found = facts(bpe(LLAMA, byte_fallback=True), None, normalizers.Sequence(stages))
    assert "nothing is proved about the normalizer Prepend" in str(found.unprovable)
    assert len(found.normalizers) == len(stages)


# --- models, normalizers


def test_models_that_are_random_or_score_whole_texts_are_unprovable() -> None:
    assert "dropout 0.5 is random" in str(facts(bpe(dropout=0.5), byte_level()).unprovable)
    assert facts(bpe(dropout=0.0), byte_level()).unprovable is None
    assert facts(unigram(), byte_level()).unprovable is None
    whole = byte_level(use_regex=False)
    assert "only behind a pre-tokenizer that cuts" in str(facts(unigram(), whole).unprovable)
    assert facts(models.WordLevel({"a": 0}, "a"), byte_level()).unprovable is None
    for sampling in ({"alpha": 0.1}, {"nbest_size": 4}):
        model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -1.0]], **sampling}
        metaspace = {"type": "Metaspace", "replacement": "▁"}
        found = facts_from_json({"model": model, "pre_tokenizer": metaspace})
        assert "sampling" in str(found.unprovable)
    config: dict[str, Any] = {"model": {"type": "New", "vocab": {}}, "pre_tokenizer": None}
    config["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁"}
    assert "the model New" in str(facts_from_json(config).unprovable)


@pytest.mark.parametrize(
    ("normalizer", "reason"),
    [
        (normalizers.Prepend("▁"), "the normalizer Prepend"),
        (normalizers.ByteLevel(), "the normalizer ByteLevel"),
        (normalizers.Replace(Regex("a+"), " "), "Replace with a regex"),
    ],
)
def test_these_normalizers_are_unprovable(normalizer: Any, reason: str) -> None:
    assert reason in str(facts(bpe(), byte_level(), normalizer).unprovable)
    inner = normalizers.Sequence([normalizers.NFC(), normalizers.Sequence([normalizer])])
    assert reason in str(facts(bpe(), byte_level(), inner).unprovable)


# --- added tokens, lengths


def test_a_missing_byte_and_an_added_token_named_as_one_do_not_tile() -> None:
    vocab = {char: i for i, char in enumerate(sorted(byte_alphabet().keys() - {"x"}))}
    assert not facts(bpe(vocab), byte_level()).tiles
    for token, tiles in ((AddedToken("é"), False), (AddedToken("e"), True)):
        assert facts(bpe(), byte_level(), added=(token,)).tiles == tiles
    for flag in ("lstrip", "rstrip"):
        assert not facts(bpe(), byte_level(), added=(AddedToken("e", **{flag: True}),)).tiles


def test_special_tokens_that_are_encoded_as_text_are_left_out() -> None:
    special, plain = AddedToken("<s>", special=True), AddedToken("xyz")
    found = facts(bpe(), byte_level(), added=(special, plain), encode_special_tokens=True)
    assert [token.content for token in found.added_tokens] == ["xyz"]
    assert found.unprovable is None


@pytest.mark.parametrize(
    ("special", "plain"), [("ab", "bc"), ("bc", "ab"), ("abc", "b"), ("b", "abc"), ("ab", "ab ")]
)
def test_a_special_token_that_hides_another_is_unprovable(special: str, plain: str) -> None:
    added = (AddedToken(special, special=True, normalized=False), AddedToken(plain))
    found = facts(bpe(), byte_level(), added=added, encode_special_tokens=True)
    assert "overlap" in str(found.unprovable)
    assert facts(bpe(), byte_level(), added=added).unprovable is None


def test_a_special_token_hides_a_plain_one_with_its_content() -> None:
    config = json.loads(Tokenizer(bpe()).to_str())
    flags = [{"id": 300 + k, "content": "ab", "special": k == 0} for k in range(2)]
    found = facts_from_json({**config, "added_tokens": flags}, encode_special_tokens=True)
    assert "'ab' and 'ab' overlap" in str(found.unprovable)


def test_a_hidden_token_is_really_not_matched_by_the_engine() -> None:
    tokenizer = Tokenizer(bpe({char: i for i, char in enumerate("abc")}))
    tokenizer.add_tokens([AddedToken("ab", special=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("bc", normalized=False)])
    tokenizer.encode_special_tokens = True
    assert tokenizer.encode("abc").ids == [0, 1, 2]
    assert tokenizer.encode("a").ids + tokenizer.encode("bc").ids == [0, 4]


def test_a_special_token_matched_in_normalized_text_is_unprovable_when_encoded() -> None:
    added = (AddedToken("<s>", special=True, normalized=True),)
    found = facts(bpe(), byte_level(), normalizers.Lowercase(), added, encode_special_tokens=True)
    assert "normalized" in str(found.unprovable)


def test_lengths_count_bytes_of_text() -> None:
    tokenizer = Tokenizer(bpe())
    tokenizer.pre_tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("¿中?")])
    config = json.loads(tokenizer.to_str())
    lengths = token_lengths(config)
    found = lengths.lengths_of(np.arange(259, dtype=np.uint32))
    assert found.dtype == np.int64
    assert found.tolist() == [1] * 256 + [2, 6, 0]
    assert facts_from_json(config).longest_token == 6


@given(st.lists(st.text("ab\u4e2d\U0001f600\ud800\udc00\0", max_size=4)))
def test_neighbours_are_the_pairs_of_characters_of_the_tokens(tokens: list[str]) -> None:
    pairs = {token[i : i + 2] for token in tokens for i in range(len(token) - 1)}
    assert neighbours(tokens) == pairs.union(token for token in tokens if len(token) == 1)
