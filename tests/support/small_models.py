"""Small byte-level and BERT tokenizers, of given merges and words."""

from __future__ import annotations

from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level(merges: list[tuple[str, str]], pattern: str = LLAMA3) -> Tokenizer:
    """A byte-level BPE with these merges; every byte is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = alphabet + [a + b for a, b in merges]
    vocab = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def bert(**switches: Any) -> Tokenizer:
    words = ["[UNK]", "a", "##a", "b", "##b", "foo", "##bar", "bar", "中", "文", "##文"]
    tokenizer = Tokenizer(
        models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]")  # type: ignore[arg-type]
    )
    tokenizer.normalizer = normalizers.BertNormalizer(**switches)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
