"""SentencePiece models, converted by transformers or trained here."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models

from tests.recipes.tokenizer_files.shapes import SHAPES, around

BPE, CONTROL, ADDED = 2, 3, 4


def message(model: bytes) -> Any:
    """The model's fields."""
    found = import_module("sentencepiece.sentencepiece_model_pb2").ModelProto()
    found.ParseFromString(model)
    return found


def trained(texts: Sequence[str], kind: str, size: int) -> bytes:
    """A model with the replacements `nmt_nfkc`, SentencePiece's default."""
    from sentencepiece import SentencePieceTrainer

    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        normalization_rule_name="nmt_nfkc",
        character_coverage=0.995,
        max_sentence_length=8000,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


class _Slow:
    """What a converter of transformers asks of the tokenizer that it converts."""

    _extra_ids = 100
    do_lower_case = keep_accents = split_by_punct = False

    def __init__(self, path: str, prefix: bool) -> None:
        self.vocab_file, self.add_prefix_space = path, prefix


def converted(model: bytes) -> Tokenizer:
    """What transformers makes of the model: of Unigram by its `SpmConverter`, of BPE with the same
    pipeline and merges by its `generate_merges` (the converter itself fails on BPE in 5.23)."""
    from transformers.convert_slow_tokenizer import SpmConverter

    parts = message(model)
    if parts.trainer_spec.model_type == BPE:
        return as_shape("SentencePiece, BPE")(model)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "spiece.model"
        path.write_bytes(model)
        slow = _Slow(str(path), parts.normalizer_spec.add_dummy_prefix)
        tokenizer: Tokenizer = SpmConverter(slow).converted()
    return tokenizer


def as_shape(shape: str) -> Callable[[bytes], Tokenizer]:
    """The model's pieces in a published pipeline, ids of pieces as in the model."""

    def make(model: bytes) -> Tokenizer:
        parts = message(model)
        own = SHAPES[shape]
        pieces = [(piece.piece, piece.score) for piece in parts.pieces]
        lacking = [token for token in own.special if token not in dict(pieces)]
        special = [piece.piece for piece in parts.pieces if piece.type == CONTROL]
        added = [piece.piece for piece in parts.pieces if piece.type == ADDED]
        learned = _model(own.model, [*pieces, *((token, 0.0) for token in lacking)], parts)
        table = parts.normalizer_spec.precompiled_charsmap
        return around(own, learned, table, special=[*special, *lacking], added=added)

    return make


def _model(kind: str, pieces: Sequence[tuple[str, float]], parts: Any) -> Any:
    from transformers.convert_slow_tokenizer import generate_merges

    if kind == "Unigram":
        return models.Unigram(list(pieces), parts.trainer_spec.unk_id, False)
    vocab = {piece: id_ for id_, (piece, _) in enumerate(pieces)}
    return models.BPE(
        vocab,
        generate_merges(vocab, list(pieces)),
        unk_token=parts.trainer_spec.unk_piece,
        fuse_unk=True,
        byte_fallback=bool(parts.trainer_spec.byte_fallback),
    )


def charsmap(model: bytes) -> bytes:
    """The model's table of replacements, read without protobuf: field 2 of field 3."""
    return _field(_field(model, 3), 2)


def _field(data: bytes, wanted: int) -> bytes:
    """The first field of that number that holds bytes, or nothing."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        size, at = _varint(data, at) if kind in (0, 2) else ({1: 8, 5: 4}[kind], at)
        if kind == 2 and key >> 3 == wanted:
            return data[at : at + size]
        at += 0 if kind == 0 else size
    return b""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at
