"""Cut the part vocabularies out of the full ones and train the two small ones.

Usage: python -m tests.vocab.make_subsets --cl100k cl100k_base.tiktoken \\
           --o200k o200k_base.tiktoken --bert tokenizer.json --deepseek tokenizer.json \\
           --tekken tekken_240911.json

A BPE part holds all single bytes, every final token of the texts in `samples.py`, and every
token that arises while these are merged. The merges inside a final token are those of the token
alone, so each sample, and each kept token, encodes in the part as it does in the full vocabulary.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import tiktoken
from tiktoken_ext import openai_public  # type: ignore[import-untyped]
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from tests.vocab import samples

HERE = Path(__file__).parent
Encode = Callable[[str], list[int]]
Ranks = dict[bytes, int]

TEKKEN_SIZE = 131072 - 1000
"""Mistral's models use this many ranks of the file; 1000 ids are for special tokens."""
BERT_COMMON_IDS = range(1996, 2900)
"""Where the most frequent words of BERT's vocabulary lie ("the" is 1996)."""
DEEPSEEK_ADDED_IDS = {0, 1, 2, 128800, 128803, 128804, 128805}
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]


def all_texts() -> list[str]:
    """Every sample once, in a fixed order."""
    texts = [samples.expand(text) for text in samples.catalogue()]
    for family in samples.families().values():
        texts.extend(family)
    return list(dict.fromkeys(texts))


def write_json(path: Path, data: object) -> None:
    path.write_text(
        json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )


# Byte-pair encoding


def merged_tokens(atoms: list[Any], rank: Callable[[Any, Any], float]) -> list[Any]:
    """The tokens made, in order, while atoms are merged: "abc" -> ["ab", "abc"]."""
    parts, made = list(atoms), []
    while len(parts) > 1:
        best, i = min((rank(parts[i], parts[i + 1]), i) for i in range(len(parts) - 1))
        if best == float("inf"):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        made.append(parts[i])
    return made


def merge_closure(tokens: Iterable[Any], rank: Callable[[Any, Any], float]) -> set[Any]:
    """The tokens and all that arise while each is merged from its atoms."""
    closed: set[Any] = set()
    for token in tokens:
        atoms = [token[i : i + 1] for i in range(len(token))]
        made = merged_tokens(atoms, rank)
        if len(atoms) > 1 and (not made or made[-1] != token):
            raise ValueError(f"token {token!r} is not reachable by merges")
        closed.update(made, atoms)
    return closed


# tiktoken files


def read_tiktoken(path: Path) -> Ranks:
    lines = path.read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


def read_tekken(path: Path) -> tuple[Ranks, str]:
    data = json.loads(path.read_text(encoding="utf-8"))
    entries = data["vocab"][:TEKKEN_SIZE]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}
    return ranks, data["config"]["pattern"]


def openai_pattern(name: str) -> str:
    """The regex of an OpenAI encoding, without fetching its vocabulary."""
    with mock.patch.object(openai_public, "load_tiktoken_bpe", return_value={}):
        return str(getattr(openai_public, name)()["pat_str"])


def encoding(name: str, ranks: Ranks, pattern: str) -> tiktoken.Encoding:
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def tiktoken_part(name: str, ranks: Ranks, pattern: str, texts: list[str]) -> tuple[Encode, Encode]:
    """Write the part and return the full and the part encode function."""
    full = encoding(name, ranks, pattern)
    final = {token for text in texts for token in full.encode_ordinary(text)}
    infinity = float("inf")
    kept = merge_closure(
        map(full.decode_single_token_bytes, sorted(final)),
        lambda left, right: ranks.get(left + right, infinity),
    )
    kept |= {bytes([byte]) for byte in range(256)}
    part = {token: ranks[token] for token in sorted(kept, key=ranks.__getitem__)}
    lines = [f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in part.items()]
    (HERE / f"{name}.tiktoken").write_text("".join(lines), encoding="ascii")
    return full.encode_ordinary, encoding(name, part, pattern).encode_ordinary


# tokenizer.json files


def plain_encode(data: dict[str, Any]) -> Encode:
    """Encode without special tokens, truncation and padding."""
    tokenizer = Tokenizer.from_str(json.dumps(data | {"truncation": None, "padding": None}))
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def deepseek_part(path: Path, texts: list[str]) -> tuple[Encode, Encode]:
    data = json.loads(path.read_text(encoding="utf-8"))
    model, full = data["model"], plain_encode(data)
    vocab: dict[str, int] = model["vocab"]
    tokens = {id_: token for token, id_ in vocab.items()}
    merges = [tuple(merge.split(" ")) for merge in model["merges"]]
    ranks = {merge: rank for rank, merge in enumerate(merges)}
    added = [token for token in data["added_tokens"] if token["id"] in DEEPSEEK_ADDED_IDS]
    special = {token["content"]: token["id"] for token in data["added_tokens"]}
    final = {id_ for text in texts for id_ in full(text)} - set(special.values())
    infinity = float("inf")
    kept = merge_closure(
        (tokens[id_] for id_ in sorted(final)), lambda *pair: ranks.get(pair, infinity)
    )
    kept.update(pre_tokenizers.ByteLevel.alphabet())
    ids = {token: vocab[token] for token in kept} | {t["content"]: t["id"] for t in added}
    model["vocab"] = dict(sorted(ids.items(), key=lambda item: item[1]))
    model["merges"] = [
        f"{left} {right}" for left, right in merges if {left, right, left + right} <= kept
    ]
    data["added_tokens"] = added
    write_json(HERE / "deepseek_part.json", data)
    return full, plain_encode(data)


def wordpieces_met(word: str, vocab: dict[str, int]) -> list[str]:
    """The pieces greedy matching finds, also where it ends in [UNK]."""
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        stops = range(len(word), start, -1)
        stop = next((stop for stop in stops if prefix + word[start:stop] in vocab), None)
        if stop is None:
            break
        pieces.append(prefix + word[start:stop])
        start = stop
    return pieces


def bert_part(path: Path, texts: list[str]) -> tuple[Encode, Encode]:
    data = json.loads(path.read_text(encoding="utf-8"))
    full, tokenizer = plain_encode(data), Tokenizer.from_file(str(path))
    vocab: dict[str, int] = data["model"]["vocab"]
    words = {
        word
        for text in texts
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(
            tokenizer.normalizer.normalize_str(text)
        )
        if len(word) <= data["model"]["max_input_chars_per_word"]
    }
    kept = {piece for word in words for piece in wordpieces_met(word, vocab)}
    kept.update(token["content"] for token in data["added_tokens"])
    kept.update(token for token in vocab if len(token.removeprefix("##")) == 1)
    kept.update(token for token, id_ in vocab.items() if id_ in BERT_COMMON_IDS)
    data["model"]["vocab"] = {token: id_ for token, id_ in vocab.items() if token in kept}
    write_json(HERE / "bert_part.json", data)
    return full, plain_encode(data)


# Vocabularies trained here


def training_lines() -> list[str]:
    """Latin, Greek and Cyrillic samples, a line each; the rest is left to byte fallback."""
    texts = [samples.ENGLISH, samples.PYTHON, samples.OTHER_CODE, *samples.LANGUAGES[-5:]]
    lines = "\n".join(texts).split("\n")
    return [line.replace("\t", "").replace(" ", "▁") for line in lines if line.strip()]


def added_token(id_: int, content: str) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id_, "content": content, **flags, "special": True}


def llama_template() -> dict[str, Any]:
    bos: dict[str, Any] = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": i}} for i, name in enumerate("AB"))
    return {
        "type": "TemplateProcessing",
        "single": [bos, first],
        "pair": [bos, first, {"SpecialToken": {"id": "<s>", "type_id": 1}}, second],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
    }


def trained_bpe(size: int) -> dict[str, Any]:
    """Vocabulary and merges where ▁ stands only at the start of a token."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    words = Regex("▁+(?=▁[^▁])|▁?[^▁]+|▁+")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(words, "isolated")
    reserved = ["<unk>", "<s>", "</s>", *BYTE_TOKENS]
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=1, special_tokens=reserved, show_progress=False
    )
    lines = ["▁" + line for line in training_lines()]
    tokenizer.train_from_iterator([*lines, "▁" * 16], trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    assert not any("▁" in token.lstrip("▁") for token in model["vocab"])
    return model


def llama_style() -> dict[str, Any]:
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(i, t) for i, t in enumerate(["<unk>", "<s>", "</s>"])],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": "▁"}, space],
        },
        "pre_tokenizer": None,
        "post_processor": llama_template(),
        "decoder": {
            "type": "Sequence",
            "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, strip],
        },
        "model": trained_bpe(1400) | {"fuse_unk": True, "byte_fallback": True},
    }


def unigram_pieces(size: int) -> list[tuple[str, float]]:
    """All characters, then the substrings that cover most of the text, with log frequencies.

    HF's UnigramTrainer gives other scores in each run; these are the same each time.
    """
    words = f"{samples.ENGLISH}\n{samples.PYTHON}".replace(" ", " ▁").split(" ")
    counts = Counter(
        piece
        for word in words
        for piece in samples.substrings(word)
        if len(piece) == 1 or (len(piece) <= 12 and "\n" not in piece)
    )
    cover = sorted(counts, key=lambda piece: (len(piece) > 1, -counts[piece] * len(piece), piece))
    total = sum(counts.values())
    return [(piece, round(math.log(counts[piece] / total), 4)) for piece in cover[:size]]


def metaspace_unigram() -> dict[str, Any]:
    """A small Unigram model that scores each word alone."""
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    vocab = [("<unk>", 0.0), *unigram_pieces(499)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(0, "<unk>")],
        "normalizer": None,
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
    }


# Expected ids


def packed(ids: list[int]) -> list[int | list[int]]:
    """Runs of one id as [id, count]: [7, 7, 7, 5] -> [[7, 3], 5]."""
    runs: list[list[int]] = []
    for id_ in ids:
        if runs and runs[-1][0] == id_:
            runs[-1][1] += 1
        else:
            runs.append([id_, 1])
    return [run if run[1] > 1 else run[0] for run in runs]


def digest(encode: Encode, texts: list[str]) -> str:
    ids = [list(encode(text)) for text in texts]
    return hashlib.sha256(json.dumps(ids, separators=(",", ":")).encode()).hexdigest()


def expected(encoders: dict[str, Encode]) -> dict[str, Any]:
    texts, families = samples.catalogue(), samples.families()
    return {
        "texts": texts,
        "ids": {
            name: [packed(encode(samples.expand(text))) for text in texts]
            for name, encode in encoders.items()
        },
        "digests": {
            name: {family: digest(encode, group) for family, group in families.items()}
            for name, encode in encoders.items()
        },
    }


def require_equal(name: str, full: Encode, part: Encode, texts: list[str]) -> None:
    for text in texts:
        if full(text) != part(text):
            raise ValueError(f"{name}: {text[:80]!r} gives {part(text)}, expected {full(text)}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("cl100k", "o200k", "bert", "deepseek", "tekken"):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="FILE")
    return parser.parse_args()


def main() -> None:
    arguments, texts = parse_arguments(), all_texts()
    tekken, tekken_pattern = read_tekken(arguments.tekken)
    patterns = {
        "cl100k_part": openai_pattern("cl100k_base"),
        "o200k_part": openai_pattern("o200k_base"),
        "tekken_part": tekken_pattern,
    }
    vocabularies = {
        "cl100k_part": read_tiktoken(arguments.cl100k),
        "o200k_part": read_tiktoken(arguments.o200k),
        "tekken_part": tekken,
    }
    pairs = {
        name: tiktoken_part(name, ranks, patterns[name], texts)
        for name, ranks in vocabularies.items()
    }
    pairs["bert_part"] = bert_part(arguments.bert, texts)
    pairs["deepseek_part"] = deepseek_part(arguments.deepseek, texts)
    for name, (full, part) in pairs.items():
        require_equal(name, full, part, texts)
    encoders = {name: full for name, (full, _) in pairs.items()}
    for name, data in {
        "llama_style": llama_style(),
        "metaspace_unigram": metaspace_unigram(),
    }.items():
        write_json(HERE / f"{name}.json", data)
        encoders[name] = plain_encode(data)
    write_json(HERE / "patterns.json", patterns)
    write_json(HERE / "expected.json", expected(encoders))


if __name__ == "__main__":
    main()
