"""Random tokenizer.json files for level `model`, odd ones too, their texts, and forged ids."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokpar_model import file_findings

from tests.support.tokenizers_drawn import PATTERNS, byte_characters
from tokpar.certificate.findings import ModelProof

Config = dict[str, Any]
Ids = list[int]
LETTERS = byte_characters()
FAMILIES = [row for name, row in PATTERNS.items() if name not in ("cl100k", "r50k")]
DRAWN = (
    *(r"[a-z]{1,2}|\s?.{2}[a-z]{1,2}|[\s\S]", r"a1b|bb|[ab1]", r"\d", "(?:ab)+|b", r"a+(?=b)|\s+"),
    *(
        r"\p{L}+?b|\p{N}",
        r"(?i:ab|a1)|[^\s]{1,3}",
        r"b++a|[ab]",
        r"\s+(?!\S)|\s|[^\s]+",
        "a|ab|abb",
    ),
)
CONTENTS = ("<s>", "ab", "a", "1", " a", "aab", "</s>", "b1", "é", "\n", "aaa", "<s", "中")
PIECES = ("a", "b", "ab", "aab", "1", "12", " ", "  ", "\n", "é", "e\u0301", "中", "A", ".", "b ")


def letters_of(text: str) -> str:
    """The letters of the byte alphabet that stand for a text."""
    return "".join(LETTERS[byte] for byte in text.encode())


def byte_level(use_regex: bool = False) -> Config:
    settings = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **settings}


def split(pattern: str) -> Config:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def added(content: str, id_: int, **flags: bool) -> Config:
    plain = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized", "special"), False)
    return {"id": id_, "content": content, **plain, **flags}


def bpe_config(
    vocab: Mapping[str, int],
    merges: Sequence[Any] = (),
    patterns: Sequence[str] = (),
    tokens: Sequence[Config] = (),
    normalizer: Any = None,
    **model: Any,
) -> Config:
    """A byte-level tokenizer.json."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*tokens],
        "normalizer": normalizer,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [*map(split, patterns), byte_level()],
        },
        "post_processor": None,
        "decoder": byte_level(),
        "model": {"type": "BPE", **model, "vocab": dict(vocab), "merges": [*merges]},
    }


BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}


def word_config(*tokens: str, normalizer: Any = BERT, split: str = "", **model: Any) -> Config:
    settings = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added("[UNK]", 0, special=True)],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": split or "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordPiece", **settings, **model, "vocab": numbered("[UNK]", *tokens)},
    }


def numbered(*tokens: str) -> dict[str, int]:
    return {token: k for k, token in enumerate(dict.fromkeys(tokens))}


def drawn_tokens(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    """All tokens, and merges: of tokens that no merge makes, repeated, in any order."""
    atoms = [*letters_of(rng.choice(["ab", "ab1", "aé ", "ab \n"]))]
    loose = ["".join(rng.choices(atoms, k=rng.randint(2, 4))) for _ in range(rng.randrange(3))]
    tokens, merges = [*atoms, *loose], []
    for _ in range(rng.randrange(12)):
        pair = [rng.choice(tokens), rng.choice(tokens)]
        if len("".join(pair)) <= 8:
            merges.append(pair)
            tokens.append("".join(pair))
    if merges and rng.random() < 0.2:
        merges.append(rng.choice(merges))
    if rng.random() < 0.3:
        rng.shuffle(merges)
    every = [*LETTERS] if rng.random() < 0.9 else [*atoms, *letters_of("ab1 ")]
    outside = rng.choices(["中", "a b", "🙂"], k=rng.random() < 0.05)
    return list(dict.fromkeys([*every, *tokens, *outside])), merges


def drawn_config(rng: random.Random) -> Config:
    """A byte-level file; with small chances, one outside each condition of the gate."""
    tokens, merges = drawn_tokens(rng)
    numbers = [*range(len(tokens))]
    if rng.random() < 0.4:
        rng.shuffle(numbers)
    gap = rng.choice([1, 1, 1, 2, 7919])
    vocab = {token: gap * k for token, k in zip(tokens, numbers, strict=True)}
    if rng.random() < 0.05:
        vocab[rng.choice(tokens)] = vocab[tokens[-1]]
    patterns = rng.choice([(), rng.choice(FAMILIES), [rng.choice(DRAWN)], rng.sample(DRAWN, 2)])
    normalizer = rng.choice([None] * 6 + [{"type": "Sequence", "normalizers": []}, *NORMALIZERS])
    chosen = rng.sample(CONTENTS, rng.choice([0, 0, 1, 2, 4]))
    following = iter(range(max(max(vocab.values()) + 1, len(vocab)), 1 << 31))
    if gap > 1:
        following = iter(range(len(vocab), 1 << 31))
    entries = [added(c, vocab[c] if c in vocab else next(following), **flags(rng)) for c in chosen]
    more: Config = {"ignore_merges": rng.random() < 0.3}
    if rng.random() < 0.04:
        more |= {"end_of_word_suffix": "</w>"}
    if rng.random() < 0.3:
        more |= {"unk_token": rng.choice(tokens), "fuse_unk": True, "byte_fallback": True}
    lines = [" ".join(pair) for pair in merges] if rng.random() < 0.2 else merges
    return bpe_config(vocab, lines, patterns, entries, normalizer, **more)


NORMALIZERS = ({"type": "NFC"}, {"type": "Lowercase"}, {"type": "NFKD"}, {"type": "StripAccents"})


def flags(rng: random.Random) -> dict[str, bool]:
    found = {"normalized": rng.random() < 0.3, "special": rng.random() < 0.5}
    if rng.random() < 0.05:
        found[rng.choice(["lstrip", "rstrip", "single_word"])] = True
    return found


def drawn_text(rng: random.Random, config: Config) -> str:
    contents = [token["content"] for token in config["added_tokens"]]
    return "".join(rng.choices([*PIECES, *contents, *contents], k=rng.randint(0, 14)))


def spelled(config: Config) -> dict[int, bytes]:
    """The bytes of each id that is written in the byte alphabet."""
    byte_of = {letter: byte for byte, letter in enumerate(LETTERS)}
    return {
        id_: bytes(byte_of[letter] for letter in token)
        for token, id_ in config["model"]["vocab"].items()
        if all(letter in byte_of for letter in token)
    }


def forged(rng: random.Random, ids: Ids, tokens: Mapping[int, bytes]) -> Iterator[Ids]:
    """Ids that are not `ids`; most of them spell the same bytes."""
    number = {data: id_ for id_, data in tokens.items() if data}
    known = [k for k, id_ in enumerate(ids) if tokens.get(id_)]
    if known:
        k = rng.choice(known)
        data = tokens[ids[k]]
        cuts = [c for c in range(1, len(data)) if data[:c] in number and data[c:] in number]
        if cuts:
            c = rng.choice(cuts)
            yield [*ids[:k], number[data[:c]], number[data[c:]], *ids[k + 1 :]]
        yield [*ids[:k], *tiled(rng, data, number), *ids[k + 1 :]]
        pairs = [j for j in range(len(ids) - 1) if tokens.get(ids[j]) and tokens.get(ids[j + 1])]
        for j in rng.choices(pairs, k=bool(pairs)):
            both = tokens[ids[j]] + tokens[ids[j + 1]]
            yield [*ids[:j], *tiled(rng, both, number), *ids[j + 2 :]]
            yield [*ids[:j], *longest(both, number), *ids[j + 2 :]]
    if len(known) == len(ids):
        whole = b"".join(tokens[id_] for id_ in ids)
        yield longest(whole, number)
        yield tiled(rng, whole, number)
        yield [number[bytes([byte])] for byte in whole if bytes([byte]) in number]
    if ids:
        k = rng.randrange(len(ids))
        yield ids[:k] + ids[k + 1 :]
        yield [*ids[:k], ids[k], *ids[k:]]
        yield [*ids[:k], rng.choice([*tokens, 1 << 31, 7, 123456]), *ids[k + 1 :]]
        yield ids[:k][::-1] + ids[k:]
        yield ids[: len(ids) // 2]
    yield [*ids, rng.choice([*tokens])]


def tiled(rng: random.Random, data: bytes, number: Mapping[bytes, int]) -> Ids:
    """Random tokens that spell some bytes, as far as there are any."""
    found: Ids = []
    at, most = 0, max(map(len, number), default=0)
    while at < len(data):
        room = min(most, len(data) - at)
        sizes = [n for n in range(1, room + 1) if data[at : at + n] in number]
        if not sizes:
            return found
        size = rng.choice(sizes)
        found.append(number[data[at : at + size]])
        at += size
    return found


def longest(data: bytes, number: Mapping[bytes, int]) -> Ids:
    """The longest token, again and again."""
    found: Ids = []
    at, most = 0, max(map(len, number), default=0)
    while at < len(data):
        for size in range(min(most, len(data) - at), 0, -1):
            if data[at : at + size] in number:
                found.append(number[data[at : at + size]])
                at += size
                break
        else:
            return found
    return found


def proved(config: Config, text: str, ids: object) -> ModelProof:
    """What level `model` says of a file."""
    return file_findings(json.dumps(config), text, ids)
