"""Tokenizers whose engine tells wrong offsets."""

from __future__ import annotations

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

MARKS = {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}


def falling_back(**marks: str) -> Tokenizer:
    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256}
    own = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True, **marks))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return own
