"""Files that engines may read otherwise than the library that they were made for, and texts.

Patterns of the families and variants of them, classes that engines read in several ways,
normalizers, added tokens with every flag, and vocabularies whose tokens cross the edges of
pre-tokens, so that an edge that is missing or too many shows in the ids.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from tests.support import tokenizers_drawn
from tests.support.adversarial_texts import WHITE, adversarial_texts
from tests.support.tokenizers_drawn import (
    CONTENTS,
    PATTERNS,
    PIECES,
    byte_characters,
    byte_text,
    merged_tokens,
    numbered,
    random_merges,
)

OTHERS = (
    *(
        r"\w+|\s+|[^\w\s]+",
        r"[A-Za-z]+|\d+|\s+|.",
        r"\p{Han}+|\p{L}+|\s+(?!\S)|\s|.",
        r"\s+\S*|\S+",
    ),
    *(r"(?i:ss|a)+|[^sa]", r"\p{L}+(?=\s)|\p{L}|\P{L}+", r"[\u4e00-\u9fa5]+|\w+|\W", r"\X|."),
    *(r" ?\b\w+\b|.", r"[[:alpha:]]+|[[:space:]]+|.", r"\p{Lu}\p{Ll}*|\S|\s+", r"(?<=a)b|\s+|."),
)
NORMALIZERS = {
    name: kind
    for name, kind in tokenizers_drawn.NORMALIZERS.items()
    if name not in ("Strip left", "Replace ab by c")
}


@dataclass(frozen=True)
class DrawnFile:
    """A path to load, with the settings that this takes, and what texts are made of: the added
    tokens, and other tokens."""

    name: str
    path: Path
    settings: dict[str, Any]
    added: tuple[str, ...]
    tokens: tuple[str, ...]


def drawn_file(number: int, seed: int, folder: Path) -> DrawnFile:
    """File `number` of a seed, written into `folder`; the same for the same numbers."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choices((byte_level, characters, unigram, ranks), (8, 4, 2, 2))[0]
    return kind(rng, folder / f"{seed}-{number}")


def drawn_pattern(rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """What it is called, and the regexes that are applied one after the other."""
    if rng.random() < 0.2:
        pattern = rng.choice(OTHERS)
        return ascii(pattern), (pattern,)
    family = rng.choice(sorted(PATTERNS))
    patterns = PATTERNS[family]
    kind = rng.choice(("", "", "possessive", "number", "all possessive", "less"))
    change = {
        "": lambda one: one,
        "possessive": lambda one: one.replace("{1,3}", "{1,3}+").replace("++", "+"),
        "number": lambda one: one.replace("{1,3}", rng.choice(("{1,2}", "{2,3}", "{1,4}", "{3}"))),
        "all possessive": lambda one: one.replace("+|", "++|").replace("+++", "++"),
        "less": lambda one: one.rpartition("|")[0] or one,
    }[kind]
    return f"{family} {kind}".strip(), tuple(map(change, patterns))


def drawn_added(rng: random.Random) -> list[AddedToken]:
    """None, or a few tokens with any flags; white space and what normalizers change among them."""
    contents = (*CONTENTS, *WHITE, "<s>", "<s>", "a<", "aa", "▁", "'s", "\x0c", "\u180e", "ſ")
    flags = ("lstrip", "rstrip", "single_word", "normalized")
    return [
        AddedToken(one, special=rng.random() < 0.5, **{flag: rng.random() < 0.4 for flag in flags})
        for one in rng.sample(sorted({*contents}), rng.choice((0, 0, 1, 2, 4)))
    ]


def drawn_normalizer(rng: random.Random, names: Sequence[str] = ()) -> Any:
    some = [*names] or rng.sample(sorted(NORMALIZERS), rng.choice((0, 0, 0, 1, 2)))
    stages = [NORMALIZERS[name]() for name in some]
    return normalizers.Sequence(stages) if len(stages) > 1 else next(iter(stages), None)


def _sources(rng: random.Random) -> list[str]:
    """What merges are learnt from: whole texts, so that tokens cross the edges of pre-tokens."""
    return [*PIECES, *(adversarial_texts().draw(rng) for _ in range(rng.choice((20, 200, 400))))]


def _merges(rng: random.Random, pieces: Sequence[str]) -> list[tuple[str, str]]:
    return random_merges(pieces, rng.randrange(100), rng.choice((3, 30, 200, 500, 1_000)), False)


def byte_level(rng: random.Random, stem: Path) -> DrawnFile:
    """Byte-level BPE: GPT-2's own pre-tokenizer, or Splits and then bytes."""
    name, patterns = drawn_pattern(rng)
    own = rng.random() < 0.1
    last = pre_tokenizers.ByteLevel(add_prefix_space=rng.random() < 0.2, use_regex=own)
    stages = [] if own else [pre_tokenizers.Split(Regex(one), "isolated") for one in patterns]
    merges = _merges(rng, [byte_text(piece) for piece in _sources(rng)])
    vocab = numbered([*byte_characters(), *merged_tokens(merges)])
    tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=rng.random() < 0.3))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*stages, last]) if stages else last
    tokenizer.normalizer = drawn_normalizer(rng)
    return _saved(rng, stem, "ByteLevel" if own else name, tokenizer)


def characters(rng: random.Random, stem: Path) -> DrawnFile:
    """BPE over characters with byte fallback, as Llama 2 has it, or with other normalizers."""
    plain = ("Prepend", "Replace space by mark")
    chosen = rng.choice((plain, plain, plain[:1], plain[1:], ("NFKC", *plain), ()))
    pieces = [piece.replace(" ", "▁") for piece in _sources(rng)]
    merges = _merges(rng, pieces)
    spelt = "<unk>0123456789ABCDEFx" if rng.random() < 0.7 else ""
    letters = sorted(set("".join(pieces) + spelt))
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = numbered(["<unk>", *fallback, *letters, *merged_tokens(merges)])
    model = models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = drawn_normalizer(rng, chosen)
    if not chosen and rng.random() < 0.5:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=rng.random() < 0.5)
    return _saved(rng, stem, "characters " + " ".join(chosen), tokenizer)


def unigram(rng: random.Random, stem: Path) -> DrawnFile:
    """Unigram or WordPiece, what tokie is offered for."""
    sources = [piece.replace(" ", "▁") for piece in _sources(rng)]
    tokens = sorted({*"".join(sources), *merged_tokens(_merges(rng, sources))})
    scores = [(token, -rng.uniform(1, 12)) for token in tokens if token != "<unk>"]
    tokenizer = Tokenizer(models.Unigram([("<unk>", -20.0), *scores], 0))
    scheme = rng.choice(("always", "first", "never"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme=scheme, split=rng.random() < 0.7
    )
    tokenizer.normalizer = drawn_normalizer(rng)
    return _saved(rng, stem, f"Unigram {scheme}", tokenizer)


def ranks(rng: random.Random, stem: Path) -> DrawnFile:
    """A .tiktoken file with the pattern of a family, or a variant."""
    while True:
        name, patterns = drawn_pattern(rng)
        if len(patterns) == 1 and name in PATTERNS:
            break
    value = {character: byte for byte, character in enumerate(byte_characters())}
    merges = _merges(rng, [byte_text(piece) for piece in _sources(rng)])
    tokens = [*byte_characters(), *dict.fromkeys(merged_tokens(merges))]
    rows = [bytes(value[c] for c in token) for token in tokens]
    path = stem.with_suffix(".tiktoken")
    path.write_bytes(
        b"".join(b"%s %d\n" % (base64.b64encode(row), k) for k, row in enumerate(rows))
    )
    special = {"<|end|>": len(rows), "<s>": len(rows) + 1} if rng.random() < 0.5 else {}
    settings = {"pat_str": patterns[0], "special_tokens": special, "allowed_special": "all"}
    words = tuple(row.decode("utf-8", "ignore") for row in rows[256::7])
    return DrawnFile(f"ranks {name}", path, settings, tuple(special), words)


def _saved(rng: random.Random, stem: Path, name: str, tokenizer: Tokenizer) -> DrawnFile:
    normalizer = tokenizer.normalizer
    added = [
        each
        for each in drawn_added(rng)
        if not normalizer or not each.normalized or normalizer.normalize_str(each.content)
    ]
    normalize = normalizer.normalize_str if normalizer else str
    forms = {normalize(each.content): each for each in added if each.normalized}  # no twins
    added = [each for each in added if not each.normalized or each in forms.values()]
    tokenizer.add_tokens(added)
    path = stem.with_suffix(".json")
    tokenizer.save(str(path))
    stages = json.loads(tokenizer.to_str())["normalizer"]
    told = " ".join([name, stages["type"] if stages else "", f"+{len(added)}" if added else ""])
    kept = [token for token in tokenizer.get_vocab() if len(token) > 1]
    words = tuple(token.replace("Ġ", " ").replace("▁", " ") for token in sorted(kept)[::7])
    return DrawnFile(told, path, {}, tuple(token.content for token in added), words)
