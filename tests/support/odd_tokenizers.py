"""Small tokenizers with odd vocabularies: ids with holes, two tokens with one id, tokens that no
text reaches, and added tokens with any flags that normalizers change."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from tests.support import stage_configs
from tests.support.stage_configs import config, word_level
from tests.support.stages_drawn import tokenizer_of
from tests.support.tokenizers_drawn import PATTERNS, Added, byte_text, vanishes

WORDS = (
    *("a", "b", "k", "1", ".", "A", "é", "中", "aa", "ab", "ba", "bb", "a1", "##a", "##b", "##1"),
    *("##ab", "▁", "▁a", "▁b", "▁ab", "▁▁", " ", " a", " ab", "zz", "##zz", "a b", "e\u0301"),
)
CHARACTERS = (
    *(
        "a",
        "b",
        "a",
        "b",
        " ",
        " ",
        " ",
        "A",
        "B",
        ".",
        "1",
        "\n",
        "\xa0",
        "é",
        "É",
        "e\u0301",
        "中",
    ),
    *("ﬁ", "▁", "k", "-", "<", "\u3000", "\r\n", "Ａ"),
)
CONTENT_LETTERS = "aabb AB1.\xa0<>éÉ中ﬁ\u3000Ａ▁-"
FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


def odd_ids(rng: random.Random, words: Sequence[str]) -> dict[str, int]:
    """A vocabulary of `words`: ids in any order with holes; now and then two words have one id."""
    ids = rng.sample(range(rng.choice((1, 2, 3)) * len(words)), len(words))
    found = dict(zip(words, ids, strict=True))
    if rng.random() < 0.3:
        found[rng.choice(words)] = found[rng.choice(words)]
    return found


def odd_bpe(rng: random.Random, is_byte_level: bool) -> Any:
    """BPE of few characters, so that bytes or characters may be unknown, with tokens that no merge
    makes."""
    atoms = [byte_text(char) for char in CHARACTERS] if is_byte_level else list(CHARACTERS)
    tokens = [atom for atom in dict.fromkeys("".join(atoms)) if rng.random() < 0.9] or ["a"]
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randint(0, 14)):
        pair = rng.choice(tokens), rng.choice(tokens)
        if pair not in merges:
            merges.append(pair)
            tokens.append("".join(pair))
    strays = [byte_text(word) if is_byte_level else word for word in rng.sample(WORDS, 4)]
    options = {"unk_token": "[UNK]"} if rng.random() < 0.6 else {}
    if not merges and rng.random() < 0.3:
        options |= {"continuing_subword_prefix": "##"}
    vocabulary = odd_ids(rng, list(dict.fromkeys([*tokens, *strays, "[UNK]"])))
    return models.BPE(
        vocabulary, merges, fuse_unk=rng.random() < 0.3, ignore_merges=rng.random() < 0.3, **options
    )


def odd_model(rng: random.Random) -> Any:
    kind = rng.choice(("BPE", "WordPiece", "WordPiece", "WordLevel", "Unigram"))
    some = rng.sample(WORDS, rng.randint(3, len(WORDS)))
    if kind == "BPE":
        return odd_bpe(rng, False)
    if kind == "WordPiece":
        most, vocabulary = rng.choice((2, 100)), odd_ids(rng, ["[UNK]", *some])
        return models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=most)
    if kind == "WordLevel":
        return models.WordLevel(odd_ids(rng, ["[UNK]", *some]), unk_token="[UNK]")
    pieces = [*some, rng.choice(some)] if rng.random() < 0.3 else some
    scored = [("<unk>", 0.0), *((piece, -1 - rng.randint(0, 4) / 2) for piece in pieces)]
    return models.Unigram(scored, 0, rng.random() < 0.2)


def odd_normalizers(rng: random.Random) -> list[Any]:
    if rng.random() < 0.25:
        return []
    if rng.random() < 0.4:
        before = [stage_configs.normalizer(rng) for _ in range(rng.choice((1, 1, 2)))]
        return [tokenizer_of(config(word_level(), before)).normalizer]
    name = rng.choice(("Lowercase", "NFC", "NFKC", "NFD", "StripAccents", "Bert", "Bert"))
    if name == "Bert":
        flags = [rng.random() < 0.7 for _ in range(3)]
        return [normalizers.BertNormalizer(flags[0], flags[1], rng.choice((None, True)), flags[2])]
    return [getattr(normalizers, name)()]


def odd_added(rng: random.Random, tokenizer: Tokenizer) -> list[AddedToken]:
    """Up to three added tokens. Some are added twice with other flags, or are in the vocabulary."""
    found = []
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        size = rng.choice((1, 2, 2, 3))
        content = "".join(rng.choice(CONTENT_LETTERS) for _ in range(size))
        content = rng.choice(WORDS) if rng.random() < 0.15 else content
        for _ in range(rng.choice((1, 1, 1, 2))):
            flags = {flag: rng.random() < 0.3 for flag in FLAGS}
            flags["normalized"] = rng.random() < 0.6
            if not vanishes(Added(content, **flags), tokenizer):
                found.append(AddedToken(content, **flags))
    return found


def odd_tokenizer(rng: random.Random) -> Tokenizer:
    """A tokenizer with an odd vocabulary, drawn normalizers and added tokens.

    Its pre-tokenizer is one that texts may be cut by (bytes, BERT, Metaspace), or any row."""
    kind = rng.choice(("bytes", "bytes", "bert", "bert", "metaspace", "any"))
    model = odd_bpe(rng, True) if kind == "bytes" and rng.random() < 0.9 else odd_model(rng)
    tokenizer = Tokenizer(model)
    stages = odd_normalizers(rng)
    tokenizer.normalizer = normalizers.Sequence(stages) if stages else None
    if kind == "bert" and rng.random() < 0.8:
        tokenizer.normalizer = normalizers.BertNormalizer()
    if kind == "bytes":
        [pattern] = PATTERNS[rng.choice(("gpt2", "llama3", "qwen2", "o200k"))]
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        row = [split, pre_tokenizers.ByteLevel(rng.random() < 0.1, use_regex=False)]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(row)
    elif kind == "bert":
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif kind == "metaspace":
        scheme = rng.choice(("always", "first", "never"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme, rng.random() < 0.8)
    else:
        stage_row = [stage_configs.pre_tokenizer(rng, False) for _ in range(rng.choice((1, 1, 2)))]
        made = tokenizer_of(config(word_level(), row=stage_row))
        tokenizer.pre_tokenizer = made.pre_tokenizer
    tokenizer.add_tokens(odd_added(rng, tokenizer))
    return tokenizer


def odd_text(rng: random.Random, contents: Sequence[str], most: int) -> str:
    """A text of up to `most` characters, added tokens, and added tokens as a normalizer makes or
    takes them."""
    found = []
    for _ in range(rng.randint(0, most)):
        part = rng.choice(CHARACTERS)
        if contents and rng.random() < 0.2:
            content = rng.choice(contents)
            part = rng.choice((content, content.lower(), content.upper(), content[:-1]))
            part = part.replace("\xa0", " ") if rng.random() < 0.3 else part
        found.append(part)
    return "".join(found)
