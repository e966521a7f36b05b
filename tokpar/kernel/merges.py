"""The merges of a byte-level BPE as flat tables, inside the gate of theorem 32."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.kernels import IdArray
from tokpar.pure.vocabulary import byte_alphabet

MOST_IDS = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Merges:
    """See `_pieces`. `table`: pairs; `byte_ids`: uint32, (256,); `tokens`: the UTF-8-like bytes of
    each token that is looked up as a whole piece, and its id, empty where none is."""

    table: NDArray[np.uint64]
    byte_ids: IdArray
    tokens: Mapping[bytes, int]


def merges_of(model: Mapping[str, Any]) -> Merges | str:
    """The merges that the part "model" of a `tokenizer.json` has; or why ids cannot be told from
    them: the conditions are those of theorem 32 (proofs/theorem-32.md)."""
    refusal = _refusal(model)
    if refusal is not None:
        return refusal
    vocab, pairs = model["vocab"], model["merges"]
    if pairs and isinstance(pairs[0], str):
        pairs = [pair.split(" ") for pair in pairs]
    ids = _ids(vocab, pairs)
    if isinstance(ids, str):
        return ids
    alphabet = byte_alphabet()
    byte_ids = np.zeros(256, dtype=np.uint32)
    for letter, byte in alphabet.items():
        byte_ids[byte] = vocab[letter]
    latin = str.maketrans({letter: chr(byte) for letter, byte in alphabet.items()})
    letters, tokens = frozenset(alphabet), {}
    if model.get("ignore_merges"):
        tokens = {
            token.translate(latin).encode("latin-1"): i
            for token, i in vocab.items()
            if letters.issuperset(token)
        }
    return Merges(pair_table(*ids), byte_ids, tokens)


def _refusal(model: Mapping[str, Any]) -> str | None:
    vocab = model.get("vocab")
    if model.get("type", "BPE") != "BPE" or not isinstance(vocab, dict) or "merges" not in model:
        return "its model is no BPE"
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            return f"its BPE has {name} {model[name]!r}"
    if len(set(vocab.values())) < len(vocab):
        return "two of its tokens have one id"
    if not all(0 <= i < MOST_IDS for i in vocab.values()):
        return "it has ids that are too great"
    missing = next((letter for letter in byte_alphabet() if letter not in vocab), None)
    return missing and f"the byte {missing!r} is no token of it"


def _ids(vocab: Mapping[str, int], pairs: Any) -> tuple[IdArray, IdArray, IdArray] | str:
    """Of each merge the ids of its two tokens, and of both together."""
    count, get = len(pairs), vocab.__getitem__
    try:
        left = np.fromiter((get(one) for one, _ in pairs), dtype=np.uint32, count=count)
        right = np.fromiter((get(other) for _, other in pairs), dtype=np.uint32, count=count)
        both = np.fromiter((get(one + other) for one, other in pairs), dtype=np.uint32, count=count)
    except (KeyError, ValueError, TypeError):
        return "it has a merge of what is no token"
    return left, right, both


def pair_table(left: IdArray, right: IdArray, both: IdArray) -> NDArray[np.uint64]:
    """The open-addressed table of `_pieces`: of equal pairs the last counts, as in the engine."""
    from tokpar import kernel

    size = 1 << max(4, (2 * len(left)).bit_length())
    table = np.zeros(2 * size, dtype=np.uint64)
    assert kernel.PIECES is not None
    kernel.PIECES.put_merges(left, right, both, table)
    return table


def model_of(state: bytes | str) -> Mapping[str, Any]:
    """The part "model" of a `tokenizer.json`, as the library writes it."""
    model: Mapping[str, Any] = json.loads(state)
    return model
