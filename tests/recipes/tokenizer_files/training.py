"""Small vocabularies learned from texts, for the shapes of `shapes.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from tests.recipes.tokenizer_files.shapes import Shape, around

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
RUNS = tuple("▁" * 2**k for k in range(1, 5))


def train(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes = b"") -> Tokenizer:
    """A tokenizer of the shape with about `size` tokens."""
    return around(shape, TRAINERS[shape.model](shape, texts, size, charsmap), charsmap)


def _by_bytes(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(shape.special),
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    return _trained(shape, models.BPE(), trainer, texts, charsmap).model


def _by_ends(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(shape.special),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    model = models.BPE(end_of_word_suffix="</w>", unk_token="<|endoftext|>")
    return _trained(shape, model, trainer, texts, charsmap).model


def _with_fallback(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    """Learned in words, as SentencePiece does, whatever the shape's own pre-tokenizer is."""
    special = [*shape.special, *BYTES]
    tokens, merges = _pieces(texts, special, size)
    joined = [(run[: len(run) // 2], run[len(run) // 2 :]) for run in RUNS]
    for left, right in (*joined, *shape.crossing):
        merges.append((left, right))
        for token in (left, right, left + right):
            tokens.setdefault(token, len(tokens))
    return models.BPE(
        vocab=tokens, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True
    )


def _by_pieces(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    tokens, merges = _pieces(texts, shape.special, size)
    return models.BPE(vocab=tokens, merges=merges, unk_token="<unk>", fuse_unk=True)


def _pieces(
    texts: Sequence[str], special: Sequence[str], size: int
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    learning = Tokenizer(models.BPE())
    learning.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(special), limit_alphabet=1500, show_progress=False
    )
    learning.train_from_iterator(texts, trainer)
    model = json.loads(learning.to_str())["model"]
    return model["vocab"], [(left, right) for left, right in model["merges"]]


def _unigram(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    trainer = trainers.UnigramTrainer(
        vocab_size=size,
        special_tokens=list(shape.special),
        unk_token=next(token for token in shape.special if "unk" in token.lower()),
        show_progress=False,
    )
    return _trained(shape, models.Unigram(), trainer, texts, charsmap).model


def _wordpiece(shape: Shape, texts: Sequence[str], size: int, charsmap: bytes) -> Any:
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=list(shape.special),
        limit_alphabet=1500,
        show_progress=False,
    )
    return _trained(shape, models.WordPiece(unk_token="[UNK]"), trainer, texts, charsmap).model


def _trained(
    shape: Shape, model: Any, trainer: Any, texts: Sequence[str], charsmap: bytes
) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = shape.normalizer(charsmap) or normalizers.Sequence([])
    tokenizer.pre_tokenizer = shape.pre_tokenizer()
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


TRAINERS: dict[str, Callable[[Shape, Sequence[str], int, bytes], Any]] = {
    "bytes": _by_bytes,
    "words": _by_ends,
    "fallback": _with_fallback,
    "pieces": _by_pieces,
    "Unigram": _unigram,
    "WordPiece": _wordpiece,
}
