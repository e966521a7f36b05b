"""The fast tokenizers of transformers 4, whose classes are given an engine and not a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

Merges = Sequence[tuple[str, str]]


def bert_4(vocab: dict[str, int], **options: Any) -> Any:
    own = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.decoder = decoders.WordPiece()
    ends = [(token, vocab[token]) for token in ("[SEP]", "[CLS]")]
    own.post_processor = processors.BertProcessing(*ends)
    return transformers.BertTokenizerFast(tokenizer_object=own, **options)


def byte_level_4(
    kind: str, vocab: dict[str, int], merges: Merges, split: Any, **options: Any
) -> Any:
    """GPT-2's or Qwen's class. `split`: the stage before the bytes."""
    own = Tokenizer(models.BPE(vocab, list(merges)))
    own.pre_tokenizer = split
    own.decoder = decoders.ByteLevel()
    own.post_processor = processors.ByteLevel(trim_offsets=False)
    return getattr(transformers, kind)(tokenizer_object=own, **options)


def marked_4(kind: str, vocab: dict[str, int], merges: Merges, prefix: str, **options: Any) -> Any:
    """Llama's or Gemma's class: spaces are marks. `prefix`: the mark before a text."""
    own = Tokenizer(
        models.BPE(vocab, list(merges), unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    marks = [normalizers.Replace(" ", "▁")]
    own.normalizer = normalizers.Sequence(
        [*([normalizers.Prepend(prefix)] if prefix else []), *marks]
    )
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    own.decoder = decoders.Sequence([*parts, *([decoders.Strip(" ", 1, 0)] if prefix else [])])
    return getattr(transformers, kind)(tokenizer_object=own, **options)
