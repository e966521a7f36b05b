"""Tokenizers that the planner was told otherwise than their files say: each is a finding of the
checker, and read right there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import tiktoken
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors
from tokenizers import pre_tokenizers as stages
from tokpar_conformance.worlds.charsmaps import charsmap

import tokpar
from tests.conftest import needs_kernel
from tests.support.tokenizers_drawn import PATTERNS, byte_characters
from tokpar.adapters import hf_call
from tokpar.certificate import checker
from tokpar.certificate.fact_differences import checked_facts
from tokpar.compiled import compiled_build
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.compiled.merges import merges_of
from tokpar.contract.adapter import origin_of

MARK = "\u2581"
LETTERS = {letter: byte for byte, letter in enumerate(byte_characters())}
Make = Callable[[], Any]


def byte_level(
    *added: AddedToken, before: Any = None, normalizer: Any = None, **options: Any
) -> Any:
    own = Tokenizer(models.BPE({**LETTERS, "ab": 256}, [("a", "b")], **options))
    own.pre_tokenizer = before or stages.ByteLevel(add_prefix_space=False)
    if normalizer is not None:
        own.normalizer = normalizer
    own.add_tokens([*added])
    return own


def row(*given: Any) -> Any:
    return byte_level(
        before=stages.Sequence([*given, stages.ByteLevel(add_prefix_space=False, use_regex=False)])
    )


def split(name: str, behavior: str = "isolated", invert: bool = False) -> Any:
    return stages.Split(Regex(PATTERNS[name][0]), behavior, invert)


def words(*tokens: str, before: Any = None, normalizer: Any = None, **options: Any) -> Tokenizer:
    """BPE over characters."""
    vocab = {token: k for k, token in enumerate(["<unk>", MARK, *"abcde", *tokens])}
    merges = [(token[0], token[1:]) for token in tokens if len(token) > 1]
    own = Tokenizer(models.BPE(vocab, merges, **{"unk_token": "<unk>"} | options))
    own.normalizer, own.pre_tokenizer = normalizer, before
    return own


def dummy(*tokens: str, **options: Any) -> Tokenizer:
    """The stages of Llama 2."""
    both = normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)
    return words(*tokens, normalizer=normalizers.Sequence([*both]), **options)


def metaspace(**options: Any) -> Tokenizer:
    own = words(before=stages.Metaspace(**options))
    own.add_tokens([AddedToken("<x>", normalized=False)])
    return own


def metaspace_behind(normalizer: Any, *others: Any) -> Tokenizer:
    before = stages.Sequence([stages.WhitespaceSplit(), *others])
    return words(before=before, normalizer=normalizer)


def bert(**options: Any) -> Tokenizer:
    own = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer(**options)
    own.pre_tokenizer = stages.BertPreTokenizer()
    return own


def finished(template: bool = False, most: int = 0, padded: str = "") -> Tokenizer:
    own = byte_level(AddedToken("<s>", special=True))
    if template:
        pieces = [("<s>", own.token_to_id("<s>"))]
        own.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=pieces)
    if most:
        own.enable_truncation(most)
    if padded:
        own.enable_padding(direction=padded, length=100)
    return own


def exchanged(own: Tokenizer) -> Tokenizer:
    """The ids of two tokens of different lengths exchanged."""
    written = own.to_str().replace('"ab":256', '"ab":97').replace('"a":97', '"a":256')
    return Tokenizer.from_str(written)


def skipping(skips: bool) -> Tokenizer:
    own = byte_level(AddedToken("<x>", special=True))
    own.encode_special_tokens = skips
    return own


class Reversed(tiktoken.Encoding):
    def encode(self, text: str, **settings: Any) -> list[int]:
        return super().encode(text[::-1], **settings)


def of_transformers(has_own_call: bool) -> Any:
    library = pytest.importorskip("transformers", "5").PreTrainedTokenizerFast

    class Own(library):  # type: ignore[misc, valid-type]  # it has no types
        def encode(self, text: str, **settings: Any) -> Any:
            return super().encode(text[::-1], **settings)

    return (Own if has_own_call else library)(tokenizer_object=byte_level())


def replaced_call() -> tiktoken.Encoding:
    own = encoding()
    own.encode = lambda text, **settings: []  # type: ignore[method-assign]
    return own


def encoding(kind: type[tiktoken.Encoding] = tiktoken.Encoding, **options: Any) -> Any:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    given = {"pat_str": PATTERNS["gpt2"][0], "special_tokens": {"<x>": 257}} | options
    return kind("small", mergeable_ranks=ranks, **given)


X = partial(AddedToken, "<x>")
NFC, LOWER = normalizers.NFC, normalizers.Lowercase
BEGIN_ALIKE = partial(encoding, special_tokens={"<x>": 257, "<x>y": 258})
CASES: dict[str, tuple[str, Make, Make]] = {
    # what is wrong: the fact that the finding names, the tokenizer, what it is taken for
    "lstrip of an added token read as rstrip": (
        "added_tokens", lambda: byte_level(X(lstrip=True)), lambda: byte_level(X(rstrip=True))
    ),
    "single_word of an added token missed": (
        "added_tokens", lambda: byte_level(X(single_word=True)), lambda: byte_level(X())
    ),
    "normalized of an added token missed": (
        "added_tokens",
        lambda: byte_level(X(normalized=True), normalizer=NFC()),
        lambda: byte_level(X(normalized=False), normalizer=NFC()),
    ),
    "an added token lost": ("added_tokens", lambda: byte_level(X()), byte_level),
    "encode_special_tokens missed": (
        "added_tokens", lambda: skipping(True), lambda: skipping(False)
    ),
    "the normalizer missed": ("normalizers", lambda: byte_level(normalizer=NFC()), byte_level),
    "the last normalizer of a row missed": (
        "normalizers",
        lambda: byte_level(normalizer=normalizers.Sequence([NFC(), LOWER()])),
        lambda: byte_level(normalizer=normalizers.Sequence([NFC()])),
    ),
    "the string of a Replace misread": (
        "normalizers",
        lambda: byte_level(normalizer=normalizers.Replace("ab", "c")),
        lambda: byte_level(normalizer=normalizers.Replace("zz", "c")),
    ),
    "clean_text read as true": ("scheme", lambda: bert(clean_text=False), bert),
    "lowercase missed": ("normalizers", bert, lambda: bert(lowercase=False, strip_accents=True)),
    "the prefix space missed": (
        "prefix_space", lambda: byte_level(before=stages.ByteLevel(True)), byte_level
    ),
    "use_regex ignored": ("scheme", row, byte_level),
    "the behavior of a Split ignored": (
        "scheme", lambda: row(split("llama3", "merged_with_previous")), lambda: row(split("llama3"))
    ),
    "invert of a Split ignored": (
        "scheme", lambda: row(split("llama3", invert=True)), lambda: row(split("llama3"))
    ),
    "the pattern of a Split misread": (
        "patterns", lambda: row(split("llama3")), lambda: row(split("qwen2"))
    ),
    "a Split of a row missed": (
        "patterns",
        lambda: row(stages.Split(Regex(r"\p{N}{1,3}"), "isolated"), split("llama3")),
        lambda: row(split("llama3")),
    ),
    "byte_fallback missed": ("chars_before_mark", lambda: dummy(byte_fallback=True), dummy),
    "an unknown token where there is none": (
        "chars_before_mark", lambda: dummy(unk_token=None), dummy
    ),
    "ignore_merges missed": ("chars_before_mark", lambda: dummy(ignore_merges=True), dummy),
    "a token with a mark inside lost": ("chars_before_mark", lambda: dummy(f"e{MARK}"), dummy),
    "no stage: a token with a space inside lost": (
        "chars_before_mark", lambda: words("e ", " "), lambda: words("f", " ")
    ),
    "no stage: which characters tokens join misread": (
        "adjacent", lambda: words("ab", " "), lambda: words("cd", " ")
    ),
    "no stage: fuse_unk missed": ("unprovable", lambda: words(fuse_unk=True), words),
    "the regex of a Replace misread": (
        "normalizers",
        lambda: metaspace_behind(normalizers.Replace(Regex(r"\s+"), " ")),
        lambda: metaspace_behind(normalizers.Replace(Regex(r"\d+"), " ")),
    ),
    "dropout missed": ("unprovable", lambda: byte_level(dropout=0.5), byte_level),
    "the suffix of words missed": (
        "tiles", lambda: byte_level(end_of_word_suffix="</w>"), byte_level
    ),
    "a shared id missed": (
        "tiles",
        lambda: Tokenizer.from_str(byte_level().to_str().replace('"ab":256', '"ab":255')),
        byte_level,
    ),
    "prepend_scheme first read as always": (
        "first_prefix", lambda: metaspace(prepend_scheme="first"), metaspace
    ),
    "split of a Metaspace ignored": ("scheme", lambda: metaspace(split=False), metaspace),
    "the mark of a Metaspace misread": ("scheme", lambda: metaspace(replacement="_"), metaspace),
    "the table of a Precompiled misread": (
        "normalizers",
        lambda: metaspace_behind(normalizers.Precompiled(charsmap({"ａ": "a"}))),
        lambda: metaspace_behind(normalizers.Precompiled(charsmap({"ａ": "b"}))),
    ),
    "a pre-tokenizer of a row missed": (
        "pre_tokenizers",
        lambda: metaspace_behind(LOWER(), stages.Metaspace()),
        lambda: metaspace_behind(LOWER()),
    ),
    "the bytes of tokens misread": (
        "sizes",
        lambda: byte_level(normalizer=NFC()),
        lambda: exchanged(byte_level(normalizer=NFC())),
    ),
    "which characters tokens join misread": (
        "adjacent",
        lambda: words("ab", normalizer=normalizers.Replace(" ", MARK)),
        lambda: words("cd", normalizer=normalizers.Replace(" ", MARK)),
    ),
    "truncation missed": ("truncation", lambda: finished(most=20), finished),
    "the length of a truncation misread": (
        "post-processing", lambda: finished(most=20), lambda: finished(most=21)
    ),
    "padding missed": ("truncation and padding", lambda: finished(padded="right"), finished),
    "the side of padding misread": (
        "post-processing", lambda: finished(padded="left"), lambda: finished(padded="right")
    ),
    "a special token in front missed": ("special tokens", lambda: finished(True), finished),
    "a call of a subclass of transformers overlooked": (
        "unprovable", lambda: of_transformers(True), lambda: of_transformers(False)
    ),
    "tiktoken: a call of a subclass overlooked": (
        "unprovable", lambda: encoding(kind=Reversed), encoding
    ),
    "tiktoken: a replaced call overlooked": ("added_token_cuts_refused", replaced_call, encoding),
    "tiktoken: another pattern": (
        "patterns", encoding, lambda: encoding(pat_str=PATTERNS["r50k"][0])
    ),
    "tiktoken: another engine": ("engine", encoding, byte_level),
    "tiktoken: another model": ("model", encoding, bert),
    "tiktoken: gaps of a pattern overlooked": (
        "tiles", lambda: encoding(pat_str=r"\p{L}+|\s"), encoding
    ),
    "tiktoken: specials that begin alike": ("unprovable", BEGIN_ALIKE, encoding),
    "tiktoken: an edge of a special token that is matched by chance": (
        "added_token_cuts_refused", BEGIN_ALIKE, encoding
    ),
}  # fmt: skip


def adapter_of(tokenizer: Any) -> Any:
    allowed = {"allowed_special": "all"} if isinstance(tokenizer, tiktoken.Encoding) else {}
    return tokpar.load(tokenizer, **allowed)


@pytest.mark.parametrize("name", CASES)
def test_a_misreading_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fact, make, other = CASES[name]
    source, taken_for = make(), adapter_of(other())
    true = adapter_of(source)
    assert checked_facts(true).findings == checked_facts(taken_for).findings == ()
    origin = origin_of(true) or replace(taken_for.origin, source=source)
    monkeypatch.setattr(type(taken_for), "origin", origin)
    found = checked_facts(taken_for).findings
    assert [each for each in found if each.message.startswith(fact)], found
    assert {each.kind for each in found} == {"facts"}
    assert "the file says" in found[0].message
    assert "the planner was told" in found[0].message


@needs_kernel
@pytest.mark.compiled_at_once
def test_a_merge_that_the_planner_reads_twice_is_found_in_the_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Merges are no fact that a seam rests on. The check finds what they make of a text, even where
    the comparisons with the engine overlook it."""

    def doubled(written: bytes, size: int, parts: object) -> Any:
        state = json.loads(written)
        state = state.get("model", state)
        state["merges"] += state["merges"][:1] * planted  # of equal pairs the last counts
        return merges_of(json.dumps(state).encode(), size)

    monkeypatch.setattr(hf_call, "merges_of", doubled)
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
    monkeypatch.setattr(CompiledCall, "_compare", lambda self, samples: None)
    text = "some abc words " * 4_000
    for planted, last in ((False, "zq"), (True, "qz")):
        merges = [("a", "b"), ("b", "c"), (last[0], last[1])]
        own = Tokenizer(models.BPE({**LETTERS, "ab": 256, "bc": 257, last: 258}, merges))
        own.pre_tokenizer = stages.ByteLevel(add_prefix_space=False)
        own.decoder = decoders.ByteLevel()
        encoding = tokpar.encode(text, own)
        assert (encoding.ids.tolist() != own.encode(text).ids) == planted
        assert checker.check_seams(encoding, text, tokpar.load(own)).findings == ()
        for level in ("ids", "model"):
            assert tokpar.check(encoding, text, own, level=level).ok != planted
