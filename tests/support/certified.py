"""Small tokenizers of each kind, their encodings, and seams and ids that are written by hand."""

from __future__ import annotations

import dataclasses
import functools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tiktoken
import tiktoken.load
from hypothesis import strategies as st
from tokenizers import AddedToken as Added
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tests.support.paths import VOCAB
from tokpar.arrays import IdArray, SpanArray, spans_from_lengths
from tokpar.certificate.findings import CheckReport
from tokpar.certificate.frozen_tables import load_tables
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Seams
from tokpar.results.spans import postprocess_single
from tokpar.types import AddedToken, Facts, NormalizerStage, Report, Seam, Witness

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
    sources = next(each.sources for each in load_tables().patterns if each.name == family)
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


@functools.cache
def byte_level() -> Tokenizer:
    return Tokenizer.from_str(byte_level_model())


@functools.cache
def stored(name: str) -> Tokenizer:
    """A part of a real vocabulary, without added tokens and what is done to the ids."""
    data = json.loads((VOCAB / f"{name}.json").read_text())
    data["added_tokens"], data["post_processor"] = [], None
    data["truncation"] = data["padding"] = None
    return Tokenizer.from_str(json.dumps(data))


def another(tokenizer: Tokenizer) -> Tokenizer:
    """One with the same model, which takes long to read, and decoder."""
    twin = Tokenizer(tokenizer.model)
    twin.decoder = tokenizer.decoder
    return twin


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


def endless(token: Added, normalizer: Any) -> bool:
    """A token that the normalizer empties: with rstrip, the engine's own call never
    ends and takes all memory (tokenizers 0.23)."""
    return token.normalized and token.rstrip and not normalizer.normalize_str(token.content)


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
        added = [token for token in added if not endless(token, normalizer)]
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
    tokenizer = another(byte_level())
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
        patterns=patterns,
        prefix_space=prefix_space,
        byte_level=True,
        tiles=tiles,
    )


def bert_tokenizer(normalizer: Any, added: Sequence[Added] = ()) -> Small:
    tokenizer = another(stored("bert_part"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    facts = {"model": "WordPiece", "scheme": "bert"}
    return finished(tokenizer, normalizer, added, **facts)


def metaspace_tokenizer(normalizer: Any, added: Sequence[Added], scheme: str) -> Small:
    assert stored("metaspace_unigram").normalizer is None
    tokenizer = another(stored("metaspace_unigram"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    facts = {"model": "Unigram", "scheme": "metaspace"}
    return finished(tokenizer, normalizer, added, **facts)


def dummy_tokenizer(added: Sequence[Added] = ()) -> Small:
    tokenizer = another(stored("llama_style"))
    tokenizer.normalizer = stored("llama_style").normalizer
    return finished(tokenizer, None, added, model="BPE", scheme="dummy")


def witness(family: str, left: str, right: str) -> Witness:
    return (("pattern", family), ("left", left), ("right", right))


def pair(p: int, family: str) -> Seam:
    """The seam before `p` that the two characters beside it license, for a family of one Split."""
    return Seam(p, "PAIR", "40", (("pattern", family),))


def candidates(text: str, facts: Facts) -> Iterator[Seam]:
    """Every seam a planner might claim in a text, right or wrong."""
    tables = load_tables()
    scheme = str(facts.scheme)
    for p in range(1, len(text)):
        if scheme == "dummy":
            yield Seam(p, "STAGE", "6.4", (("absorbed", "1"),))
            continue
        if scheme == "regex":
            shipped = tables.pattern_of(facts.engine, facts.patterns)
            assert shipped is not None
            named, own = ("pattern", shipped.name), "42" if len(facts.patterns) > 1 else "40"
            yield Seam(p, "PAIR", "20", witness(shipped.name, "non-space", "space"))
            yield Seam(p, "PAIR", own, (named,))
            yield Seam(p, "PAIR", own, witness(shipped.name, "non-space", "space"))
            continue
        yield Seam(p, "PAIR", "4.8", witness(scheme, "any", "space"))
        yield Seam(p, "PAIR", "4.8", (("pattern", scheme),))


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
        "ab中",
        ".中",
        " .é",
        "a.b",
        "中 a",
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


FAMILIES = st.sampled_from(REGEX_FAMILIES)
KINDS: dict[str, st.SearchStrategy[Small]] = {
    "regex": st.builds(regex_tokenizer, FAMILIES, st.none(), ADDED),
    "regex behind normalizers": st.builds(regex_tokenizer, FAMILIES, NORMALIZERS, ADDED),
    "prefix space": st.builds(regex_tokenizer, st.just("gpt2"), NORMALIZERS, ADDED, st.just(True)),
    "bert": st.builds(bert_tokenizer, ANY_BERT | NORMALIZERS, ADDED),
    "metaspace": st.builds(
        metaspace_tokenizer, NORMALIZERS, ADDED, st.sampled_from(["always", "first", "never"])
    ),
    "dummy": st.builds(dummy_tokenizer, ADDED),
}
"""Tokenizers whose seams rest on one rule, under any normalizer and added tokens."""


def ids_by_hand(tokenizer: Any, text: str, seams: Sequence[Seam]) -> tuple[IdArray, list[Seam]]:
    """Ids of the parts between seams, one after the other, and the seams with their counts."""
    edges = [0, *(seam.position for seam in seams), len(text)]
    absorbed = [0, *(int(seam.theorem == "6.4") for seam in seams)]
    parts = [
        tokenizer.encode(text[start + skip : stop])
        for start, stop, skip in zip(edges, edges[1:], absorbed, strict=False)
    ]
    counts = np.cumsum([len(part) for part in parts]).tolist()
    joined = [dataclasses.replace(s, token=n) for s, n in zip(seams, counts, strict=False)]
    return np.concatenate(parts).astype(np.uint32), joined


def changed_ids(ids: IdArray) -> Iterator[IdArray]:
    """One id changed, dropped, doubled, or swapped with its neighbour."""
    for k in range(len(ids)):
        yield np.concatenate((ids[:k], ids[k : k + 1] + 1, ids[k + 1 :])).astype(np.uint32)
        yield np.delete(ids, k)
        yield np.insert(ids, k, ids[k])
        if k and ids[k] != ids[k - 1]:
            yield np.concatenate((ids[: k - 1], ids[[k, k - 1]], ids[k + 1 :]))


def encoding_of(ids: IdArray, seams: Sequence[Seam]) -> Encoding:
    return Encoding.of(ids, Seams.of(seams), Report(strategy="by hand"))


def by_hand(tokenizer: Any, text: str, seams: Sequence[Seam]) -> Encoding:
    ids, joined = ids_by_hand(tokenizer, text, seams)
    return encoding_of(postprocess_single(tokenizer, ids, text), joined)


@functools.cache
def cl100k() -> Tik:
    return Tik("cl100k_part", "cl100k_tiktoken")


CL100K_TEXT = "Hello world, it is 1234567 o'clock.\nNext line: 中文 text<|end|> and \tmore."


def cl100k_case(text: str = CL100K_TEXT) -> tuple[Tik, str, Encoding]:
    family, at = "cl100k_tiktoken", text.index
    seams = [
        Seam(at(" world"), "PAIR", "20", witness(family, "non-space", "space")),
        pair(at(", it"), family),
        pair(at(" o'"), family),
        pair(at("."), family),
        pair(at("Next"), family),
        Seam(at(" and"), "PAIR", "20", witness(family, "non-space", "space")),
    ]
    return cl100k(), text, by_hand(cl100k(), text, seams)


def dummy_case() -> tuple[Small, str, Encoding]:
    text = "the time  of a day"
    seams = [Seam(p, "STAGE", "6.4", (("absorbed", "1"),)) for p in (3, 8, 12)]
    return dummy_tokenizer(), text, by_hand(dummy_tokenizer(), text, seams)


def with_seam(encoding: Encoding, k: int, seam: Seam) -> Encoding:
    return encoding_of(encoding.ids, [*encoding.seams[:k], seam, *encoding.seams[k + 1 :]])


def kinds(report: CheckReport) -> set[str]:
    return {finding.kind for finding in report.findings}
