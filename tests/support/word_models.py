"""The models of words by the file, in the order of their definitions: what the compiled call does
by tables (call_word_model.h)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any


class UnknownTokenError(Exception):
    """`unk_token` is no token, and the engine's call raises an error."""


def level_ids(model: Mapping[str, Any], piece: str) -> list[int]:
    """Returns the ids that a WordLevel gives for one pre-token."""
    vocab, unknown = model["vocab"], model["unk_token"]
    if piece not in vocab and unknown not in vocab:
        raise UnknownTokenError
    return [vocab.get(piece, vocab.get(unknown))] if piece else []


def bpe_ids(model: Mapping[str, Any], piece: str) -> list[int]:
    """Returns the ids that a BPE over characters gives for one pre-token."""
    vocab = model["vocab"]
    if model["ignore_merges"] and piece in vocab:
        return [vocab[piece]]
    prefix = len(model["continuing_subword_prefix"] or "")
    ranks, made = {}, {}
    for rank, (left, right) in enumerate(model["merges"]):
        pair = vocab[left], vocab[right]
        ranks[pair], made[pair] = rank, vocab[left + right[prefix:]]
    row = bpe_atoms(model, piece)
    while len(row) > 1:
        pairs = [*pairwise(row)]
        at = min(range(len(pairs)), key=lambda k: (ranks.get(pairs[k], len(ranks)), k))
        if pairs[at] not in ranks:
            break
        row[at : at + 2] = [made[pairs[at]]]
    return row


def bpe_atoms(model: Mapping[str, Any], piece: str) -> list[int]:
    """Returns the ids of the characters of a pre-token, before any merge.

    An unknown token waits for the next known character; names of bytes do not end its waiting."""
    vocab, unknown = model["vocab"], model["unk_token"]
    prefix, suffix = (
        model[name] or "" for name in ("continuing_subword_prefix", "end_of_word_suffix")
    )
    row: list[int] = []
    waits = False
    for k, char in enumerate(piece):
        name = (prefix if k else "") + char + (suffix if k + 1 == len(piece) else "")
        names = [f"<0x{byte:02X}>" for byte in name.encode()]
        if name in vocab:
            row += [vocab[unknown], vocab[name]] if waits else [vocab[name]]
            waits = False
        elif model["byte_fallback"] and all(each in vocab for each in names):
            row += [vocab[each] for each in names]
        elif unknown is not None:
            if unknown not in vocab:
                raise UnknownTokenError
            row += [vocab[unknown]] if waits and not model["fuse_unk"] else []
            waits = True
    return [*row, vocab[unknown]] if waits else row
