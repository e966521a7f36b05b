"""Tokenizers whose added tokens meet the texts, drawn for sessions, and texts that try to undo a
cut: what completes a token that the text begins, marks, spaces, beginnings of replaced strings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import tiktoken

import tokpar
from tests.support.stages_drawn import drawn_tokenizer
from tests.support.tokenizers_drawn import (
    PATTERNS,
    PRE_TOKENIZERS,
    TIKTOKEN_FAMILIES,
    Added,
    ByteLevelSpec,
    Extras,
    LlamaSpec,
    MetaspaceSpec,
    OtherSpec,
    TiktokenSpec,
    WordPieceSpec,
    contents,
    made,
)
from tokpar.contract.interfaces import TokenizerAdapter

CHARACTERS = (
    *"aabbAB  .\n1é\u0301<>s=",
    *"345",
    "中",
    "▁",
    "\t",
    "\r\n",
    "'s",
    "\u3000",
    "😀",
    "Ⅷ",
)
_NORMALIZERS = (
    *((), (), (), ("NFC",), ("Lowercase",), ("Replace ab by c",), ("NFC", "Lowercase")),
    *(("Lowercase", "Replace ab by c"), ("Strip",), ("NFKC",), ("NFD",), ("StripAccents",)),
    ("Replace aa by b", "NFC"),
)


def added(rng: random.Random, most: int = 3) -> tuple[Added, ...]:
    """A few added tokens with any flags, whose contents are made of the characters of the texts."""
    found: dict[str, Added] = {}
    for _ in range(rng.choice((0, 0, 1, 1, 2, most))):
        letters = "ab<> s.A" if rng.random() < 0.4 else "ab<>"
        content = "".join(rng.choice(letters) for _ in range(rng.randint(1, 4)))
        content += rng.choice(("", "", "", "é", "\u0301", "<|end|>"))
        if content.strip():
            flags = [rng.random() < 0.35 for _ in range(3)]
            found[content] = Added(content, *flags, normalized=rng.random() < 0.3, special=False)
    return tuple(found.values())


def _byte_level(rng: random.Random) -> Any:
    return ByteLevelSpec(
        rng.choice(list(PATTERNS)),
        rng.randrange(1 << 16),
        rng.choice((0, 5, 20, 60)),
        wild=rng.random() < 0.3,
        ignore_merges=rng.random() < 0.2,
        normalizers=rng.choice(_NORMALIZERS),
        prefix_space=rng.random() < 0.2,
        extras=Extras(added(rng)),
    )


def _wordpiece(rng: random.Random) -> Any:
    return WordPieceSpec(
        rng.randrange(1 << 16),
        rng.choice((0, 10, 40)),
        strip_accents=rng.choice((None, True, False)),
        lowercase=rng.random() < 0.7,
        max_characters=rng.choice((100, 6)),
        extras=Extras(added(rng)),
    )


def _metaspace(rng: random.Random) -> Any:
    return MetaspaceSpec(
        rng.choice(("BPE", "BPE", "Unigram")),
        rng.randrange(1 << 16),
        rng.choice((0, 10, 40)),
        scheme=rng.choice(("always", "first", "never")),
        wild=rng.random() < 0.3,
        fuse_unk=rng.random() < 0.5,
        extras=Extras(added(rng)),
    )


def _llama(rng: random.Random) -> Any:
    return LlamaSpec(rng.randrange(1 << 16), rng.choice((0, 10, 40)), extras=Extras(added(rng)))


def _other(rng: random.Random) -> Any:
    kind = rng.choice(list(PRE_TOKENIZERS))
    names = rng.choice(_NORMALIZERS)
    extras = Extras(added(rng))
    return OtherSpec(kind, rng.randrange(1 << 16), rng.choice((0, 20)), names, extras)


def _tiktoken(rng: random.Random) -> Any:
    special = tuple(token.content for token in added(rng))
    family = rng.choice(TIKTOKEN_FAMILIES)
    return TiktokenSpec(family, rng.randrange(1 << 16), rng.choice((0, 20, 60)), special=special)


_KINDS: Sequence[Callable[[random.Random], Any]] = (
    *(_byte_level, _byte_level, _byte_level, _byte_level, _wordpiece, _metaspace, _metaspace),
    *(_llama, _other, _tiktoken),
)


def drawn_adapter(rng: random.Random) -> TokenizerAdapter:
    """Any tokenizer: byte-level BPE, WordPiece, Metaspace, Unigram, Llama 2, tiktoken, any stages.

    Now and then the pure engine of the same file."""
    if rng.random() < 0.15:
        return tokpar.load(drawn_tokenizer(rng), add_special_tokens=False)
    tokenizer = made(rng.choice(_KINDS)(rng))
    if isinstance(tokenizer, tiktoken.Encoding):
        return tokpar.load(tokenizer, allowed_special="all")
    return tokpar.load(tokenizer, add_special_tokens=False)


@cache
def contents_of(adapter: TokenizerAdapter) -> tuple[str, ...]:
    """The contents of the added tokens of an adapter of `drawn_adapter`."""
    own: Any = getattr(adapter, "engine", None) or getattr(adapter, "encoding", None)
    return tuple(filter(str.strip, contents(own)))


def drawn_text(rng: random.Random, tokens: Sequence[str], most: int = 9) -> str:
    """A text of up to `most` characters, tokens and parts of tokens."""
    found = []
    for _ in range(rng.randint(1, most)):
        if rng.random() < 0.72 or not tokens:
            found.append(rng.choice(CHARACTERS))
        else:
            token = rng.choice(tokens)
            found.append(token if rng.random() < 0.6 else token[: rng.randint(1, 3)])
    return "".join(found)


def continuations(rng: random.Random, tokens: Sequence[str], text: str) -> list[str]:
    """Texts that may stand after `text` and undo its cuts."""
    found = ["", "\u0301", " ", "b", drawn_text(rng, tokens), drawn_text(rng, tokens, 3)]
    for token in rng.sample(tokens, min(4, len(tokens))):
        begun = (k for k in range(1, len(token)) if text.endswith(token[:k]))
        found += [token[k:] + rng.choice(("", "a", " ")) for k in begun]
        found.append(rng.choice(("", " ", "\n")) + token + rng.choice(("", "a")))
    return found


def predecessors(rng: random.Random, tokens: Sequence[str], text: str) -> list[str]:
    """Texts that may stand before `text` and undo its cuts."""
    found = ["", "a", "e", "1", " ", drawn_text(rng, tokens), drawn_text(rng, tokens, 3)]
    for token in rng.sample(tokens, min(4, len(tokens))):
        ended = (k for k in range(1, len(token)) if text.startswith(token[k:]))
        found += [rng.choice(("", "a", " ")) + token[:k] for k in ended]
        found.append(rng.choice(("", "a")) + token + rng.choice(("", " ", "\n")))
    return found
