"""Tokenizers with drawn rows of any of Hugging Face's stages, and real shapes of such rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from tests.support.adversarial_texts import AdversarialTexts
from tests.support.charsmaps import NMT_LIKE
from tests.support.tokenizers_drawn import may_never_end

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

FLAGS = ("lstrip", "rstrip", "single_word", "normalized")
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
NORMALIZERS = (
    *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip", "Replace"),
    *("Replace", "Runs", "Bert", "Precompiled", "Precompiled", "Marks", "Marks", "Prepend"),
)
PRE_TOKENIZERS = (
    *("WhitespaceSplit", "Whitespace", "BertPreTokenizer", "Metaspace", "Metaspace", "Whole"),
    *("Punctuation", "Digits", "CharDelimiterSplit", "Split", "Split", "Regex", "Regex"),
    "UnicodeScripts",
    *(["FixedLength"] if hasattr(pre_tokenizers, "FixedLength") else []),  # since tokenizers 0.22
    *("ByteLevel", "ByteLevel"),
)
SPACES = ("a", "b", " ", " ", " ")
CHARACTERS = (
    *("a", "a", "b", "b", " ", " ", " ", "▁", ".", "1", "\n", "\t", "A", "中", "ф", "_", "`", "'"),
    *("\u0301", "\u200b", "\u3000", "é", "\u0600", "ﬁ", "¨", "\u00ad", "😀", "가", "\u200d", "ا"),
    *("\r\n", "\u093f", "က", "\x07", "<s>"),
)
"""Among them what composes, extends, precedes, vanishes, and becomes a space."""
TEXTS = AdversarialTexts((CHARACTERS, CHARACTERS, SPACES))


def normalizer(rng: random.Random) -> Any:
    kind = rng.choice(NORMALIZERS)
    if kind == "Strip":
        return normalizers.Strip(left=rng.random() < 0.2, right=rng.random() < 0.8)
    if kind == "Replace":
        pattern = rng.choice(("a", "ab", "``", "b ", "a b", " a", "▁", "中", "."))
        return normalizers.Replace(pattern, rng.choice(("", "b", " ", "\u0301", "▁", "\u0600")))
    if kind == "Runs":
        return normalizers.Replace(Regex(" {2,}"), rng.choice((" ", "▁", "", "x")))
    if kind == "Bert":
        flags = [rng.random() < 0.5 for _ in range(3)]
        return normalizers.BertNormalizer(flags[0], flags[1], rng.choice((None, True)), flags[2])
    if kind == "Precompiled":
        return normalizers.Precompiled(NMT_LIKE)
    if kind == "Marks":
        return normalizers.Replace(" ", "▁")
    return normalizers.Prepend("▁") if kind == "Prepend" else getattr(normalizers, kind)()


def pre_tokenizer(rng: random.Random) -> Any:
    kind = rng.choice(PRE_TOKENIZERS)
    scheme, behavior = rng.choice(("always", "first", "never")), rng.choice(BEHAVIORS)
    if kind in ("Metaspace", "Whole"):
        mark = "▁" if kind == "Whole" else rng.choice("▁▁_")
        return pre_tokenizers.Metaspace(mark, scheme, kind == "Metaspace")
    if kind == "Punctuation":
        return pre_tokenizers.Punctuation(behavior)
    if kind == "Digits":
        return pre_tokenizers.Digits(rng.random() < 0.5)
    if kind == "CharDelimiterSplit":
        return pre_tokenizers.CharDelimiterSplit(rng.choice(" a▁"))
    if kind == "Split":
        pattern = rng.choice((" ", " ", "▁", "a", "ab", "aa", " a", "b "))
        return pre_tokenizers.Split(pattern, behavior, rng.random() < 0.4)
    if kind == "Regex":
        one = (r"\s", r"\S", r"\d", r"\p{L}", r"\p{P}", "[0-9]", " ")
        patterns = (*one, *(each + "+" for each in one), GPT2)
        return pre_tokenizers.Split(Regex(rng.choice(patterns)), behavior, rng.random() < 0.3)
    if kind == "FixedLength":
        return pre_tokenizers.FixedLength(3)
    if kind == "ByteLevel":
        return pre_tokenizers.ByteLevel(rng.random() < 0.5, rng.random() < 0.6)
    return getattr(pre_tokenizers, kind)()


def bpe(rng: random.Random) -> Any:
    tokens, merges = ["▁", *"abcx.1中 Ġ_Aéф"], []
    for _ in range(rng.randint(0, 14)):
        pair = rng.choice(tokens), rng.choice(tokens)
        if pair not in merges:
            merges.append(pair)
        if "".join(pair) not in tokens:
            tokens.append("".join(pair))
    fallback = rng.random() < 0.3
    tokens += ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256) if fallback)]
    return models.BPE(
        {token: i for i, token in enumerate(tokens)},
        merges,
        unk_token=rng.choice(("<unk>", "<unk>", None)),
        fuse_unk=rng.random() < 0.5,
        byte_fallback=fallback,
        ignore_merges=rng.random() < 0.2,
    )


def model(rng: random.Random) -> Any:
    kind = rng.choice(("BPE", "BPE", "WordPiece", "WordLevel", "Unigram"))
    words = ("a", "b", "ab", "ba", "▁a", "▁", "##a", "##b", "▁ab", " a", " ", "aa", "1", ".")
    vocabulary = {word: i for i, word in enumerate(("[UNK]", *words))}
    if kind == "BPE":
        return bpe(rng)
    if kind == "WordPiece":
        most = rng.choice((3, 100))
        return models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=most)
    if kind == "WordLevel":
        return models.WordLevel(vocabulary, unk_token="[UNK]")
    pieces = ("▁", *"abc. 1", "ab", "▁a", "a▁", "▁▁", "b▁a", " a", "a b")
    scored = [("<unk>", 0.0), *((piece, -5 * rng.random()) for piece in pieces)]
    return models.Unigram(scored, 0, rng.random() < 0.4)


def drawn_tokenizer(rng: random.Random) -> Tokenizer:
    """Any row of stages around any model, with added tokens that have any flags."""
    tokenizer = Tokenizer(model(rng))
    marks = rng.random() < 0.2
    before = [normalizer(rng) for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    if marks:
        before = [normalizers.Replace(" ", "▁")]
    row = [pre_tokenizer(rng) for _ in range(rng.choice((0, 1)) if marks else rng.randint(1, 3))]
    tokenizer.normalizer = normalizers.Sequence(before) if before else None
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(row) if row else None
    for _ in range(rng.choice((0, 0, 1, 2))):
        content = rng.choice(("<s>", "a", "b ", "ab", " b", "▁a", ". a", "  ", " "))
        token = AddedToken(content, **{flag: rng.random() < 0.25 for flag in FLAGS})
        if not may_never_end(token, tokenizer):
            tokenizer.add_tokens([token])
    return tokenizer


def byte_bpe(merges: Sequence[tuple[str, str]], **options: Any) -> Any:
    """A BPE that falls back to bytes, over the atoms of the merges."""
    atoms = {"▁", *"ab>", *(char for pair in merges for char in "".join(pair))}
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *sorted(atoms)]
    vocabulary = {t: i for i, t in enumerate(dict.fromkeys([*tokens, *map("".join, merges)]))}
    settings = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, **options}
    return models.BPE(vocabulary, list(merges), **settings)


def shaped(own: Any, before: Sequence[Any] = (), row: Sequence[Any] = ()) -> Tokenizer:
    """A tokenizer of these parts."""
    tokenizer = Tokenizer(own)
    tokenizer.normalizer = normalizers.Sequence(list(before)) if before else None
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(row)) if row else None
    return tokenizer
