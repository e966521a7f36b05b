"""Vocabularies in GGUF files, put into the pipeline that the model's tokenizer.json has."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from tokenizers import Tokenizer, models

from tests.recipes.tokenizer_files.shapes import SHAPES, around

Fields = dict[str, Any]
_FORMATS = dict(zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9
_CONTROL, _ADDED = 3, 4
_MARK = "▁"


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, form: str, count: int = 1) -> list[Any]:
        form = f"<{count}{form}"
        found = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return list(found)

    def string(self) -> str:
        (size,) = self.numbers("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            (kind, count) = (*self.numbers("I"), *self.numbers("Q"))
            if kind == _STRING:
                return [self.string() for _ in range(count)]
            return self.numbers(_FORMATS[kind], count)
        return self.numbers(_FORMATS[kind])[0]


def fields(data: bytes) -> Fields:
    """What the file says of its tokenizer: "tokens", "merges", "scores", "token_type", ..."""
    if data[:4] != b"GGUF":
        raise ValueError("this is no GGUF file")
    reader = _Reader(data)
    reader.at = 8
    _, count = reader.numbers("Q", 2)
    found: Fields = {}
    for _ in range(count):
        name = reader.string()
        (kind,) = reader.numbers("I")
        found[name.removeprefix("tokenizer.ggml.")] = reader.value(kind)
    return found


def _of_type(found: Fields, kind: int) -> list[str]:
    pairs = zip(found["tokens"], found["token_type"], strict=True)
    return [token for token, own in pairs if own == kind and not token.startswith("[PAD")]


def _put(shape: str, model: Any, found: Fields, charsmap: bytes = b"") -> Tokenizer:
    own = SHAPES[shape]
    special, added = _of_type(found, _CONTROL), _of_type(found, _ADDED)
    if own.template != "$A" and not set(own.template.split()) - {"$A"} <= set(found["tokens"]):
        raise ValueError(f"{shape}: the vocabulary lacks a token of {own.template!r}")
    return around(own, model, charsmap, special=special, added=added)


def bytes_of(shape: str) -> Callable[[bytes], Tokenizer]:
    """Byte-level BPE, or BPE with byte fallback, whose merges the file has."""

    def make(data: bytes) -> Tokenizer:
        found = fields(data)
        vocab = {token: id_ for id_, token in enumerate(found["tokens"])}
        merges = [_divided(merge) for merge in found["merges"]]
        if SHAPES[shape].model == "fallback":
            model = models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
        else:
            model = models.BPE(vocab, merges, ignore_merges=shape == "Llama 3")
        return _put(shape, model, found)

    return make


def _divided(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right


def pieces_of(shape: str) -> Callable[[bytes], Tokenizer]:
    """SentencePiece's BPE: the file has scores, and merges follow from them."""

    def make(data: bytes) -> Tokenizer:
        from transformers.convert_slow_tokenizer import generate_merges

        found = fields(data)
        tokens: Sequence[str] = found["tokens"]
        vocab = {token: id_ for id_, token in enumerate(tokens)}
        merges = generate_merges(vocab, list(zip(tokens, found["scores"], strict=True)))
        model = models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
        return _put(shape, model, found)

    return make


def unigram_of(shape: str) -> Callable[[bytes], Tokenizer]:
    def make(data: bytes) -> Tokenizer:
        found = fields(data)
        scored = list(zip(found["tokens"], found["scores"], strict=True))
        model = models.Unigram(scored, unk_id=found["unknown_token_id"], byte_fallback=False)
        table = found["precompiled_charsmap"]
        return _put(shape, model, found, bytes(byte % 256 for byte in table))

    return make


def wordpiece_of(shape: str) -> Callable[[bytes], Tokenizer]:
    """The file marks the starts of words, tokenizer.json what goes on with them."""

    def make(data: bytes) -> Tokenizer:
        found = fields(data)
        special = set(_of_type(found, _CONTROL))
        spelled = [token if token in special else _continued(token) for token in found["tokens"]]
        vocab = {token: id_ for id_, token in enumerate(spelled)}
        return _put(shape, models.WordPiece(vocab, unk_token="[UNK]"), found)

    return make


def _continued(token: str) -> str:
    return token[1:] if token.startswith(_MARK) else "##" + token
