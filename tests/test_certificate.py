"""The certificate accepts what the engines confirm, and catches every mutation of a seam or id."""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import AddedToken as Added
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tokpar.certificate import CheckReport, check, from_json, seam_findings, to_json
from tokpar.certificate.tables import SPACES, load_tables
from tokpar.errors import FileFormatError
from tokpar.kernels import IdArray, SpanArray, spans_from_lengths
from tokpar.types import AddedToken, Encoding, Facts, NormalizerStage, Report, Seam, Witness

VOCAB = Path(__file__).parent / "vocab"
POOL = [
    *"aabbAB  sdlvre'tT1239٣²½\t\n\r\x0b\x85\xa0\u3000\u2028\x1c\u0301\u0338éİÉ中文、。，かゞﾞ",
    *"\u3099\u200b\u200d\xad\ufeff\0\x07ﬁ¨ͺ가각\u11a8▁▁.,/-=<>!_~😀\u1680🏽ΣςǅŉℎK㎡①\U00016139ⁿ",
]
WORDS = ["  ", "ab", "'s", "a b", "12", "123", "AB", "\n ", " \n", "e\u0301", "1/2", "<s>", ". "]
PIECE = st.sampled_from(POOL) | st.sampled_from(WORDS)
TEXTS = st.lists(PIECE, min_size=2, max_size=14).map("".join)
ONIGURUMA = "oniguruma"
REGEX_FAMILIES = ["gpt2", "cl100k", "o200k", "qwen2", "tekken", "deepseek"]


class Small:
    """An engine's tokenizer with its facts filled in by hand."""

    name = "small"

    def __init__(self, tokenizer: Tokenizer, facts: Facts) -> None:
        self.tokenizer = tokenizer
        self.facts = facts

    def encode(self, text: str) -> IdArray:
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return np.array(encoding.ids, dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        return text


class Bracketed(Small):
    """With one id in front and two behind, as a post-processor puts them."""

    def finish(self, ids: IdArray, text: str) -> IdArray:
        return np.concatenate(([7], ids, [8, 9])).astype(np.uint32)


class Cut(Small):
    """Truncated to four ids."""

    def finish(self, ids: IdArray, text: str) -> IdArray:
        return ids[:4]


class Tik:
    """A tiktoken encoding of a part vocabulary, with places from token lengths."""

    name = "tik"

    def __init__(self, part: str, family: str) -> None:
        pattern = json.loads((VOCAB / "patterns.json").read_text())[part]
        ranks = tiktoken.load.load_tiktoken_bpe(str(VOCAB / f"{part}.tiktoken"))
        self._encoding = tiktoken.Encoding(
            part, pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 300_000}
        )
        self._lengths = {rank: len(token) for token, rank in ranks.items()} | {300_000: 7}
        self.facts = Facts(
            engine="fancy-regex",
            model="BPE",
            scheme="regex",
            family=family,
            patterns=(pattern,),
            added_tokens=(AddedToken("<|end|>", 300_000),),
            byte_level=True,
            tiles=True,
        )

    def encode(self, text: str) -> IdArray:
        return np.array(self._encoding.encode(text, allowed_special="all"), dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        return self._encoding.decode(list(ids))

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        return spans_from_lengths(
            np.array([self._lengths[i] for i in ids.tolist()], dtype=np.int64)
        )


def oniguruma_patterns(family: str) -> tuple[str, ...]:
    sources = load_tables().families[family].sources
    return min(patterns for engine, patterns in sources if engine == ONIGURUMA)


@functools.cache
def byte_level_model() -> str:
    """A BPE whose merges cross every border a pre-tokenizer might draw, as a tokenizer file."""
    draw = random.Random(5)
    texts = ["".join(draw.choices(POOL + WORDS, k=12)) for _ in range(2500)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=3000, initial_alphabet=alphabet, show_progress=False, max_token_length=8
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.decoder = decoders.ByteLevel()
    text: str = tokenizer.to_str()
    return text


def stages_of(normalizer: Any) -> tuple[NormalizerStage, ...]:
    """HF normalizers as facts; a Sequence is flattened."""
    if normalizer is None:
        return ()
    data = json.loads(normalizer.__getstate__())
    stages = data["normalizers"] if data["type"] == "Sequence" else [data]
    return tuple(
        NormalizerStage(s["type"], tuple((k, v) for k, v in s.items() if k != "type"))
        for s in stages
    )


def added_of(tokens: Sequence[Added]) -> tuple[AddedToken, ...]:
    return tuple(
        AddedToken(t.content, 0, t.lstrip, t.rstrip, t.single_word, t.normalized, t.special)
        for t in tokens
    )


def finished(
    tokenizer: Tokenizer,
    normalizer: Any,
    added: Sequence[Added],
    kind: type[Small] = Small,
    **facts: Any,
) -> Small:
    """The tokenizer with its normalizer and added tokens set, and facts that say so."""
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens(list(added))
    known = Facts(
        engine=ONIGURUMA, added_tokens=added_of(added), normalizers=stages_of(normalizer), **facts
    )
    return kind(tokenizer, known)


def regex_tokenizer(
    family: str,
    normalizer: Any = None,
    added: Sequence[Added] = (),
    prefix_space: bool = False,
    kind: type[Small] = Small,
) -> Small:
    tokenizer = Tokenizer.from_str(byte_level_model())
    patterns = oniguruma_patterns(family)
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=False)
    if prefix_space:
        splits.insert(0, pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True))
        del splits[1:]
        assert family == "gpt2"
    else:
        splits.append(last)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tiles = normalizer is None and not prefix_space and not any(t.lstrip or t.rstrip for t in added)
    return finished(
        tokenizer,
        normalizer,
        added,
        kind,
        model="BPE",
        scheme="regex",
        family=family,
        patterns=patterns,
        prefix_space=prefix_space,
        byte_level=True,
        tiles=tiles,
    )


def bert_tokenizer(normalizer: Any, added: Sequence[Added] = ()) -> Small:
    data = json.loads((VOCAB / "bert_part.json").read_text())
    data["added_tokens"], data["normalizer"], data["post_processor"] = [], None, None
    data["truncation"] = data["padding"] = None
    tokenizer = Tokenizer.from_str(json.dumps(data))
    facts = {"model": "WordPiece", "scheme": "bert", "family": "bert"}
    return finished(tokenizer, normalizer, added, **facts)


def metaspace_tokenizer(normalizer: Any, added: Sequence[Added], scheme: str) -> Small:
    data = json.loads((VOCAB / "metaspace_unigram.json").read_text())
    assert data["normalizer"] is None
    data["added_tokens"], data["post_processor"] = [], None
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    facts = {"model": "Unigram", "scheme": "metaspace", "family": "metaspace"}
    return finished(tokenizer, normalizer, added, **facts)


def dummy_tokenizer(added: Sequence[Added] = ()) -> Small:
    data = json.loads((VOCAB / "llama_style.json").read_text())
    data["added_tokens"], data["post_processor"] = [], None
    tokenizer = Tokenizer.from_str(json.dumps(data))
    return finished(tokenizer, None, added, model="BPE", scheme="dummy")


def witness(family: str, left: str, right: str) -> Witness:
    return (("family", family), ("left", left), ("right", right))


def candidates(text: str, facts: Facts) -> Iterator[Seam]:
    """Every seam a planner might claim in a text, right or wrong."""
    tables = load_tables()
    scheme = str(facts.scheme)
    for p in range(1, len(text)):
        if scheme == "dummy":
            yield Seam(p, "K3", "6.4", (("absorbed", 1),))
            continue
        family = tables.families[facts.family or ""]
        if scheme == "regex":
            yield Seam(p, "K1", "20", witness(family.name, "non-space", "space"))
            for start in range(p % 3, p, 3):
                yield Seam(p, "K2", "22", (("family", family.name), ("run", start)))
        else:
            yield Seam(p, "K3", "4.8", witness(family.name, "any", "space"))
        for left in {text[p - 1], text[p - 1].lower()[-1], " "}:
            for right in {text[p], text[p].lower()[0], " "}:
                pair = tables.class_of(left, family), tables.class_of(right, family)
                theorem = family.pairs.get(pair)  # type: ignore[arg-type]
                if theorem is not None:
                    rule: Any = "K1" if scheme == "regex" else "K3"
                    yield Seam(p, rule, theorem, witness(family.name, *map(str, pair)))


def licensed(text: str, facts: Facts) -> list[Seam]:
    return [s for s in candidates(text, facts) if not list(seam_findings([s], text, facts))]


def serial_or_skip(tokenizer: Small, text: str) -> list[int]:
    """Serial ids; texts on which the engine itself panics have none."""
    try:
        return tokenizer.encode(text).tolist()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        assume(False)
        raise


def assert_true_to_engine(tokenizer: Small, text: str) -> int:
    """Every seam the checker licenses gives the serial ids; returns how many there were."""
    serial = serial_or_skip(tokenizer, text)
    seams = licensed(text, tokenizer.facts)
    for seam in seams:
        left = serial_or_skip(tokenizer, text[: seam.position])
        right = text[seam.position + (seam.theorem == "6.4") :]
        assert left + serial_or_skip(tokenizer, right) == serial, (seam, text, tokenizer.facts)
    return len(seams)


CONTENTS = st.sampled_from(
    [
        "a",
        "b",
        " ",
        "ab",
        " a",
        "a ",
        "  ",
        "\n",
        "1",
        "<s>",
        "a\u0301",
        "É",
        "é",
        "'s",
        ".",
        "A",
        "AB",
        "b a",
        "中",
        "\t",
        " . ",
        "K",
        "aa",
        "▁a",
        "▁",
        "12",
    ]
)
ADDED = st.lists(
    st.builds(
        Added, CONTENTS, lstrip=st.booleans(), rstrip=st.booleans(), single_word=st.booleans(),
        normalized=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda token: token.content,
)  # fmt: skip


def bert_normalizer(clean: bool, chinese: bool, strip: bool | None, lower: bool) -> Any:
    return normalizers.BertNormalizer(
        clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower
    )


ANY_BERT = st.builds(
    bert_normalizer, st.booleans(), st.booleans(), st.sampled_from([None, True, False]),
    st.booleans(),
)  # fmt: skip
REPLACEMENTS = [
    ("a", "b"), ("ab", " "), ("b", " a"), ("bb", "\u0301"), ("  ", " "), ("aa", "\u0301"),
    (".", ""), ("1", "a"), ("'", "\u030c"), (" a", "1"),
]  # fmt: skip
STAGE = st.one_of(
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"]).map(
        lambda name: getattr(normalizers, name)()
    ),
    st.builds(normalizers.Strip, st.booleans(), st.booleans()),
    st.sampled_from(REPLACEMENTS).map(lambda pair: normalizers.Replace(*pair)),
    ANY_BERT,
)
NORMALIZERS = st.none() | STAGE | st.lists(STAGE, min_size=2, max_size=3).map(normalizers.Sequence)
PLAIN_TEXTS = st.lists(
    st.sampled_from([*"aabbABsl   '..,11\n\t中é\u0301"]), min_size=2, max_size=20
).map("".join)


@given(TEXTS, st.sampled_from(REGEX_FAMILIES), ADDED)
def test_licensed_seams_of_regex_families_give_the_serial_ids(
    text: str, family: str, added: list[Added]
) -> None:
    assert_true_to_engine(regex_tokenizer(family, None, added), text)


@given(TEXTS | PLAIN_TEXTS, st.sampled_from(REGEX_FAMILIES), NORMALIZERS, ADDED)
@example("a \u0301 b", "cl100k", normalizers.StripAccents(), [])
@example(
    "¨ a", "cl100k", normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()]), []
)
@example("中 a", "cl100k", bert_normalizer(True, True, None, True), [])
@example("ab.c", "gpt2", normalizers.Strip(), [Added(" ", normalized=True)])
@example(
    "A|B",
    "gpt2",
    normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace("a|b", "c")]),
    [],
)
@example("㎡12 3456", "cl100k", normalizers.NFKC(), [])
@example("1\u0301234567", "cl100k", normalizers.StripAccents(), [])
def test_licensed_seams_beside_normalizers_give_the_serial_ids(
    text: str, family: str, normalizer: Any, added: list[Added]
) -> None:
    assert_true_to_engine(regex_tokenizer(family, normalizer, added), text)


@given(TEXTS, NORMALIZERS, ADDED)
def test_licensed_seams_beside_a_prefix_space_give_the_serial_ids(
    text: str, normalizer: Any, added: list[Added]
) -> None:
    assert_true_to_engine(regex_tokenizer("gpt2", normalizer, added, prefix_space=True), text)


@given(TEXTS, ANY_BERT | NORMALIZERS, ADDED)
@example("foo\u2e43bar", bert_normalizer(True, True, None, True), [])
@example("foo\x0bbar\u061dbaz", bert_normalizer(True, True, None, True), [])
def test_licensed_seams_of_bert_give_the_serial_ids(
    text: str, normalizer: Any, added: list[Added]
) -> None:
    assert_true_to_engine(bert_tokenizer(normalizer, added), text)


@given(TEXTS, NORMALIZERS, ADDED, st.sampled_from(["always", "first", "never"]))
def test_licensed_seams_of_metaspace_give_the_serial_ids(
    text: str, normalizer: Any, added: list[Added], scheme: str
) -> None:
    assert_true_to_engine(metaspace_tokenizer(normalizer, added, scheme), text)


@given(TEXTS, ADDED)
@example("a <s>", [Added("<s>")])
@example("<s> b", [Added("<s>")])
@example("a b", [Added(" b")])
@example("a  b", [])
def test_licensed_absorbed_spaces_give_the_serial_ids(text: str, added: list[Added]) -> None:
    assert_true_to_engine(dummy_tokenizer(added), text)
