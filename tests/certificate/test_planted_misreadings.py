"""Misreadings planted in the planner's reader of a tokenizer: each is a finding of the checker, and
without them there is none."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import pytest
import tiktoken
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

import tokpar
from tests.conftest import needs_kernel
from tests.support.charsmaps import charsmap
from tests.support.tokenizers_drawn import PATTERNS, byte_characters
from tokpar.adapters import hf_call, hf_copy, hf_postprocess, hf_v0
from tokpar.adapters import tiktoken as tiktoken_adapter
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.cache import compiled_build
from tokpar.cache.compiled_call import CompiledCall
from tokpar.cache.merges import merges_of
from tokpar.certificate import checker
from tokpar.facts import hf_facts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.types import Facts

LINE = "Hello there, ab ab <x> 123456 words of some text.\nThe next line is here, too. "
TEXT = LINE * 40 + "abcdefgh" * 60 + LINE
MARK = "\u2581"
Plant = Callable[[pytest.MonkeyPatch], None]


class Case(NamedTuple):
    """`fact`: what the finding names."""

    fact: str
    tokenizer: Callable[[], Any]
    plant: Plant


# ------------------------------------------------------------------------------ tokenizers


def byte_level(
    *added: AddedToken, stages: Any = None, normalizer: Any = None, **options: Any
) -> Tokenizer:
    vocab = {letter: byte for byte, letter in enumerate(byte_characters())}
    own = Tokenizer(models.BPE({**vocab, "ab": 256}, [("a", "b")], **options))
    own.pre_tokenizer = stages or pre_tokenizers.ByteLevel(add_prefix_space=False)
    if normalizer is not None:
        own.normalizer = normalizer
    own.add_tokens([*added])
    return own


def splits(*given: Any) -> Any:
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*given, last])


def split(name: str, behavior: str = "isolated", invert: bool = False) -> Any:
    return pre_tokenizers.Split(Regex(PATTERNS[name][0]), behavior, invert)


def characters(**options: Any) -> Any:
    """BPE over characters; some characters are tokens."""
    atoms = ["<unk>", MARK, *sorted(set(TEXT) - {" ", "\n", "x"})]
    vocab = {token: k for k, token in enumerate([*atoms, f"e{MARK}"])}
    unknown = {"unk_token": "<unk>"} | options
    return models.BPE(vocab, [("e", MARK)], **unknown)


def dummy(**options: Any) -> Tokenizer:
    """The stages of Llama 2."""
    own = Tokenizer(characters(**options))
    own.normalizer = normalizers.Sequence(
        [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]
    )
    return own


def marked() -> Tokenizer:
    """The stages of Gemma: no place is certain to end a piece, but tokens join few characters."""
    own = Tokenizer(characters())
    own.normalizer = normalizers.Replace(" ", MARK)
    return own


def metaspace(*added: str, **options: Any) -> Tokenizer:
    own = Tokenizer(characters())
    own.pre_tokenizer = pre_tokenizers.Metaspace(**options)
    own.add_tokens([AddedToken(content, normalized=False) for content in added])
    return own


def bert(limit: int = 100, **options: Any) -> Tokenizer:
    words = ["[UNK]", *sorted(set(TEXT.lower())), *(f"##{c}" for c in sorted(set(TEXT.lower())))]
    vocab = {word: k for k, word in enumerate(words)}
    own = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=limit))
    own.normalizer = normalizers.BertNormalizer(**options)
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return own


def finished(
    template: bool = False, truncated: bool = False, padded: str | None = None
) -> Tokenizer:
    own = byte_level()
    if template:
        own.add_special_tokens(["<s>"])
        pieces = [("<s>", own.token_to_id("<s>"))]
        own.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=pieces)
    if truncated:
        own.enable_truncation(20)
    if padded:
        own.enable_padding(direction=padded, length=10_000)
    return own


def skipping() -> Tokenizer:
    own = byte_level(AddedToken("<x>", special=True))
    own.encode_special_tokens = True
    return own


class Reversed(tiktoken.Encoding):
    def encode(self, text: str, **settings: Any) -> list[int]:
        return super().encode(text[::-1], **settings)


def own_transformers() -> Any:
    transformers = pytest.importorskip("transformers", "5")

    class Own(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]  # it has no types
        def encode(self, text: str, **settings: Any) -> Any:
            return super().encode(text[::-1], **settings)

    return Own(tokenizer_object=byte_level())


def replaced_call() -> tiktoken.Encoding:
    own = encoding()
    own.encode = lambda text, **settings: []  # type: ignore[method-assign]
    return own


def encoding(
    kind: type[tiktoken.Encoding] = tiktoken.Encoding, **options: Any
) -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    given = {"pat_str": PATTERNS["gpt2"][0], "special_tokens": {"<x>": 257}} | options
    return kind("small", mergeable_ranks=ranks, **given)


# ------------------------------------------------------------------------------ misreadings


def file_as(change: Callable[[dict[str, Any]], object]) -> Plant:
    """The planner reads the file as `change` makes it."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        true = hf_copy._config

        def misread(*given: Any) -> dict[str, Any]:
            config = dict(true(*given))
            change(config)
            return config

        patch.setattr(hf_copy, "_config", misread)

    return plant


def added_as(**flags: Any) -> Plant:
    return file_as(lambda c: c.update(added_tokens=[{**t, **flags} for t in c["added_tokens"]]))


def model_as(**settings: Any) -> Plant:
    return file_as(lambda c: c.update(model={**c["model"], **settings}))


def stage_as(part: str, place: int | None = None, **settings: Any) -> Plant:
    """A stage with other settings: the only one, or that of a place in a Sequence."""

    def change(config: dict[str, Any]) -> None:
        if place is None:
            config[part] = {**config[part], **settings}
            return
        members = next(name for name in config[part] if name != "type")
        stages = list(config[part][members])
        stages[place] = {**stages[place], **settings}
        config[part] = {**config[part], members: stages}

    return file_as(change)


def without_stage(part: str, members: str, place: int) -> Plant:
    def change(config: dict[str, Any]) -> None:
        stages = config[part][members]
        config[part] = {**config[part], members: stages[:place] + stages[place + 1 :]}

    return file_as(change)


def without_token(token: str) -> Plant:
    def change(config: dict[str, Any]) -> None:
        vocab = {t: k for t, k in config["model"]["vocab"].items() if t != token}
        config["model"] = {**config["model"], "vocab": vocab}

    return file_as(change)


def each(*plants: Plant) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        for one in plants:
            one(patch)

    return plant


READ_FACTS = hf_copy.facts_from_json


def set_to(where: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(where, name, value)


def told_by_tiktoken(change: Callable[[Facts], Facts]) -> Plant:
    true = TiktokenTokenizer.__dict__["facts"].func
    misread = cached_property(lambda self: change(true(self)))
    misread.__set_name__(TiktokenTokenizer, "facts")
    return set_to(TiktokenTokenizer, "facts", misread)


def finished_without(*names: str) -> Plant:
    """Truncation or padding is not read."""
    true = hf_v0.postprocess_of
    missed: dict[str, Any] = dict.fromkeys(names)
    return set_to(hf_v0, "postprocess_of", lambda *given: replace(true(*given), **missed))


X = partial(AddedToken, "<x>", special=False)
CASES = {
    "lstrip of an added token read as rstrip": Case(
        "added_tokens", lambda: byte_level(X(lstrip=True)), added_as(lstrip=False, rstrip=True)
    ),
    "single_word of an added token missed": Case(
        "added_tokens", lambda: byte_level(X(single_word=True)), added_as(single_word=False)
    ),
    "normalized of an added token missed": Case(
        "added_tokens",
        lambda: byte_level(X(normalized=True), normalizer=normalizers.NFC()),
        added_as(normalized=False),
    ),
    "an added token lost": Case(
        "added_tokens",
        lambda: byte_level(X()),
        file_as(lambda config: config.update(added_tokens=[])),
    ),
    "encode_special_tokens missed": Case(
        "added_tokens",
        skipping,
        set_to(
            hf_copy,
            "facts_from_json",
            lambda config, **given: READ_FACTS(config, **given | {"encode_special_tokens": False}),
        ),
    ),
    "the normalizer missed": Case(
        "normalizers",
        lambda: byte_level(normalizer=normalizers.NFC()),
        file_as(lambda config: config.update(normalizer=None)),
    ),
    "the last normalizer of a row missed": Case(
        "normalizers",
        lambda: byte_level(
            normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
        ),
        without_stage("normalizer", "normalizers", 1),
    ),
    "the string of a Replace misread": Case(
        "normalizers",
        lambda: byte_level(normalizer=normalizers.Replace("ab", "c")),
        stage_as("normalizer", pattern={"String": "zz"}),
    ),
    "clean_text read as true": Case(
        "scheme", lambda: bert(clean_text=False), stage_as("normalizer", clean_text=True)
    ),
    "lowercase missed": Case(
        "normalizers", lambda: bert(lowercase=True), stage_as("normalizer", lowercase=False)
    ),
    "the prefix space missed": Case(
        "prefix_space",
        lambda: byte_level(stages=pre_tokenizers.ByteLevel(add_prefix_space=True)),
        stage_as("pre_tokenizer", add_prefix_space=False),
    ),
    "use_regex ignored": Case(
        "scheme",
        lambda: byte_level(
            stages=pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        ),
        stage_as("pre_tokenizer", use_regex=True),
    ),
    "the behavior of a Split ignored": Case(
        "scheme",
        lambda: byte_level(stages=splits(split("llama3", "merged_with_previous"))),
        stage_as("pre_tokenizer", 0, behavior="Isolated"),
    ),
    "invert of a Split ignored": Case(
        "scheme",
        lambda: byte_level(stages=splits(split("llama3", "isolated", True))),
        stage_as("pre_tokenizer", 0, invert=False),
    ),
    "the pattern of a Split misread": Case(
        "patterns",
        lambda: byte_level(stages=splits(split("llama3"))),
        stage_as("pre_tokenizer", 0, pattern={"Regex": PATTERNS["qwen2"][0]}),
    ),
    "a Split of a row missed": Case(
        "patterns",
        lambda: byte_level(
            stages=splits(pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), split("llama3"))
        ),
        without_stage("pre_tokenizer", "pretokenizers", 0),
    ),
    "byte_fallback missed": Case(
        "chars_before_mark", lambda: dummy(byte_fallback=True), model_as(byte_fallback=False)
    ),
    "an unknown token where there is none": Case(
        "chars_before_mark", lambda: dummy(unk_token=None), model_as(unk_token="t")
    ),
    "ignore_merges missed": Case(
        "chars_before_mark", lambda: dummy(ignore_merges=True), model_as(ignore_merges=False)
    ),
    "a token with a mark inside lost": Case("chars_before_mark", dummy, without_token(f"e{MARK}")),
    "dropout missed": Case(
        "unprovable",
        lambda: byte_level(dropout=0.5),
        each(model_as(dropout=None), set_to(hf_copy, "_is_random", lambda model: False)),
    ),
    "the suffix of words missed": Case(
        "tiles", lambda: byte_level(end_of_word_suffix="</w>"), model_as(end_of_word_suffix=None)
    ),
    "a shared id missed": Case(
        "tiles",
        lambda: Tokenizer.from_str(byte_level().to_str().replace('"ab":256', '"ab":255')),
        each(
            set_to(hf_facts, "shared_id", lambda model: None),
            set_to(hf_copy, "read_model", lambda *given: READ_WHOLE(given[0], None, False)),
        ),
    ),
    "prepend_scheme first read as always": Case(
        "first_prefix",
        lambda: metaspace("<x>", prepend_scheme="first"),
        stage_as("pre_tokenizer", prepend_scheme="always"),
    ),
    "split of a Metaspace ignored": Case(
        "scheme", lambda: metaspace(split=False), stage_as("pre_tokenizer", split=True)
    ),
    "the mark of a Metaspace misread": Case(
        "scheme", lambda: metaspace(replacement="_"), stage_as("pre_tokenizer", replacement=MARK)
    ),
    "the table of a Precompiled misread": Case(
        "normalizers",
        lambda: metaspace_behind(normalizers.Precompiled(charsmap({"ａ": "a"}))),
        stage_as("normalizer", precompiled_charsmap=b64encode(charsmap({"ａ": "b"})).decode()),
    ),
    "truncation missed": Case(
        "truncation", lambda: finished(truncated=True), finished_without("truncation")
    ),
    "padding missed": Case(
        "truncation and padding", lambda: finished(padded="right"), finished_without("padding")
    ),
    "the side of padding misread": Case(
        "post-processing",
        lambda: finished(padded="left"),
        set_to(hf_postprocess, "Padding", lambda *given: PADDING(*given[:2], "right", given[3])),
    ),
    "a special token in front missed": Case(
        "special tokens",
        lambda: finished(template=True),
        set_to(hf_postprocess, "around_of", lambda post: ((), ())),
    ),
    "tiktoken: another pattern": Case(
        "patterns",
        encoding,
        told_by_tiktoken(lambda facts: replace(facts, patterns=(PATTERNS["r50k"][0],))),
    ),
    "a call of a subclass of transformers overlooked": Case(
        "unprovable", own_transformers, set_to(hf_v0, "own_methods", lambda *given: {})
    ),
    "a call of a subclass of tiktoken overlooked": Case(
        "unprovable",
        lambda: encoding(kind=Reversed),
        set_to(tiktoken_adapter, "own_encode", lambda encoding: None),
    ),
    "a replaced call of an encoding overlooked": Case(
        "added_token_cuts_refused",
        replaced_call,
        set_to(tiktoken_adapter, "own_encode", lambda encoding: None),
    ),
    "a pre-tokenizer of a row missed": Case(
        "pre_tokenizers",
        lambda: metaspace_behind(normalizers.Lowercase()),
        without_stage("pre_tokenizer", "pretokenizers", 1),
    ),
    "the bytes of tokens misread": Case(
        "sizes",
        lambda: byte_level(normalizer=normalizers.NFC()),
        set_to(hf_facts, "token_lengths", lambda config: TokenLengths(range(257), [1] * 257)),
    ),
    "which characters tokens join misread": Case(
        "adjacent", marked, set_to(hf_facts, "neighbours", lambda tokens: frozenset("ab"))
    ),
    "tiktoken: another engine": Case(
        "engine", encoding, told_by_tiktoken(lambda facts: replace(facts, engine="oniguruma"))
    ),
    "tiktoken: another model": Case(
        "model", encoding, told_by_tiktoken(lambda facts: replace(facts, model="WordPiece"))
    ),
    "tiktoken: gaps of a pattern overlooked": Case(
        "tiles",
        lambda: encoding(pat_str=r"\p{L}+|\s"),
        told_by_tiktoken(lambda facts: replace(facts, tiles=True)),
    ),
    "tiktoken: an edge of a special token that is matched by chance": Case(
        "added_token_cuts_refused",
        lambda: encoding(special_tokens={"<x>": 257, "<x>y": 258}),
        told_by_tiktoken(lambda facts: replace(facts, added_token_cuts_refused=None)),
    ),
    "tiktoken: specials that begin alike": Case(
        "unprovable",
        lambda: encoding(special_tokens={"<x>": 257, "<x>y": 258}),
        told_by_tiktoken(
            lambda facts: replace(facts, unprovable=None, added_token_cuts_refused=None)
        ),
    ),
}
READ_WHOLE = hf_copy.read_model
PADDING = hf_postprocess.Padding


def metaspace_behind(normalizer: Any) -> Tokenizer:
    own = Tokenizer(characters())
    own.normalizer = normalizer
    own.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return own


def report_of(tokenizer: Any) -> Any:
    """What is found in an encoding that the planner cuts where it can."""
    allowed = {"allowed_special": "all"} if isinstance(tokenizer, tiktoken.Encoding) else {}
    adapter = tokpar.load(tokenizer, **allowed)
    with tokpar.Encoder(adapter, strategy="auto", chunk_chars=16, executor="serial") as encoder:
        return tokpar.check(encoder.encode(TEXT), TEXT, adapter)


@pytest.mark.parametrize("name", CASES)
def test_a_misreading_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fact, tokenizer, plant = CASES[name]
    plant(monkeypatch)
    found = [each for each in report_of(tokenizer()).findings if each.kind == "facts"]
    assert [each for each in found if each.message.startswith(fact)], found
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
    vocab = {letter: byte for byte, letter in enumerate(byte_characters())}
    text = "some abc words " * 40_000
    for planted, last in ((False, "zq"), (True, "qz")):
        merges = [("a", "b"), ("b", "c"), (last[0], last[1])]
        own = Tokenizer(models.BPE({**vocab, "ab": 256, "bc": 257, last: 258}, merges))
        own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        own.decoder = decoders.ByteLevel()
        encoding = tokpar.encode(text, own)
        assert (encoding.ids.tolist() != own.encode(text).ids) == planted
        assert checker.check_seams(encoding, text, tokpar.load(own)).findings == ()
        for level in ("ids", "model"):
            assert tokpar.check(encoding, text, own, level=level).ok != planted
