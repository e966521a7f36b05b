"""Tokenizers of sessions."""

from __future__ import annotations

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

from tests.support.tokenizers_drawn import PATTERNS, byte_characters


def byte_level(pattern: str, *merges: tuple[str, str]) -> Tokenizer:
    """A byte-level BPE with these merges."""
    atoms = [*byte_characters(), *(left + right for left, right in merges)]
    vocabulary = {token: id_ for id_, token in enumerate(dict.fromkeys(atoms))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_])
    return tokenizer


CL100K = PATTERNS["llama3"][0]


def token(content: str, **flags: bool) -> AddedToken:
    return AddedToken(content, **{"normalized": False, **flags})
