"""Tokenizers with added tokens, and places where a cut leaves their matching alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from tests.support.tokenizers_drawn import Added


def occurrences(content: str, text: str) -> Iterator[tuple[int, int]]:
    """All of them, overlapping ones included."""
    for start in range(len(text) - len(content) + 1):
        if text.startswith(content, start):
            yield start, start + len(content)


def word(char: str) -> bool:
    return char.isalnum() or char == "_"


def a_safe(tokens: tuple[Added, ...], text: str, p: int) -> bool:
    """Conditions (a) to (d), for ASCII."""
    return all(
        not (s < p < e)
        and not (token.single_word and e == p and word(text[p]))
        and not (token.single_word and s == p and word(text[p - 1]))
        and not (token.rstrip and e <= p and text[e : p + 1].isspace())
        and not (token.lstrip and s >= p and text[p - 1 : s].isspace())
        for token in tokens
        for s, e in occurrences(token.content, text)
    )


@cache
def bytes_only() -> str:
    """A tokenizer without merges: each byte between added tokens is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer.to_str()


def with_tokens(tokenizer: str, tokens: tuple[Added, ...]) -> Tokenizer:
    built = Tokenizer.from_str(tokenizer)
    built.add_tokens([AddedToken(**token._asdict()) for token in tokens])
    return built
