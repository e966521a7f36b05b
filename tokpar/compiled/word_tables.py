"""The tables of the compiled call for models behind a pre-tokenizer that looks at pairs of
neighbours: WordLevel, WordPiece, and BPE over characters with all its settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tokpar.compiled.call_tables import Arrays, last_of_equal, pair_arrays, with_keys
from tokpar.compiled.character_tables import BYTE_NAMES, WrittenBpe, read_model, require_apart
from tokpar.compiled.compiled_build import BY_PAIRS
from tokpar.compiled.merges import GateError, Parts, are_distinct
from tokpar.compiled.pair_tables import pair_tables_of
from tokpar.compiled.wordpiece_tables import BEGINS, read_pieces

WORD_LEVEL, WORD_PIECE, WORD_BPE = range(3)
"""Models of call_word_model.h."""
_NONE, _NO_TOKEN_ID = 2**32 - 1, 2**32 - 2
_LONGEST, _LONGEST_AFFIX = 400, 64  # bytes of a token; of a prefix or suffix of a BPE


def level_arrays(model: Mapping[str, Any], normalizer: Any, pre_tokenizer: Any) -> Arrays:
    """Returns the tables of a WordLevel.

    The arguments are parts of a `tokenizer.json`. Raises GateError where a condition of the page of
    the compiled call does not hold."""
    arrays = _pairs(WORD_LEVEL, normalizer, pre_tokenizer)
    tokens = [(token.encode(), number) for token, number in model["vocab"].items() if token]
    unknown = model["vocab"].get(model["unk_token"], _NO_TOKEN_ID)
    arrays["model"] = _model(arrays, unknown)
    return with_keys(arrays, [*_looked_up(tokens), *tokens])


def piece_arrays(
    model: Mapping[str, Any], size: int, normalizer: Any, pre_tokenizer: Any
) -> Arrays:
    """Returns the tables of a WordPiece of `size` tokens. Raises what `level_arrays` does."""
    arrays = _pairs(WORD_PIECE, normalizer, pre_tokenizer)
    pieces = read_pieces(model, size)
    lengths = pieces.most, *pieces.longest
    arrays["model"] = _model(arrays, pieces.unknown, prefix=pieces.prefix, lengths=lengths)
    return with_keys(arrays, [*pieces.keys().items(), *pieces.tokens.items()])


def bpe_arrays(
    state: bytes, parts: Parts, size: int, normalizer: Any, pre_tokenizer: Any
) -> Arrays:
    """Returns the tables of a BPE over characters with `size` tokens.

    `state`, `parts`: its model as JSON, see `merges_of`. Raises what `level_arrays` does."""
    settings = {
        name: json.loads(state[i:j])
        for name, (i, j) in parts.items()
        if name not in ("vocab", "merges")
    }
    names = ("continuing_subword_prefix", "end_of_word_suffix")
    prefix, suffix = ((settings.get(name) or "").encode() for name in names)
    falls_back, ignores = (bool(settings.get(x)) for x in ("byte_fallback", "ignore_merges"))
    if settings.get("dropout"):
        raise GateError(f"its BPE has dropout {settings['dropout']}")
    if max(len(prefix), len(suffix)) > _LONGEST_AFFIX or (falls_back and prefix + suffix):
        raise GateError("its BPE has a long prefix or suffix, or one beside its fallback to bytes")
    arrays = _pairs(WORD_BPE, normalizer, pre_tokenizer, falls_back)
    model = read_model(state, parts, is_marked=False, prefix=len(prefix))
    if len(model.ids) != size or not are_distinct(model.ids):
        raise GateError("it has a token twice, or two of its tokens have one id")
    unknown = settings.get("unk_token")
    unknown_id = _unknown_id(arrays, model, unknown, falls_back)
    flags = falls_back, bool(settings.get("fuse_unk")), ignores
    arrays["model"] = _model(arrays, unknown_id, flags, len(prefix), len(suffix))
    arrays["affixes"] = np.frombuffer(prefix + suffix, dtype=np.uint8)
    arrays["char_ids"] = model.tables["char_ids"]
    tokens = model.tokens()
    words = [
        (token.removesuffix(suffix), number)
        for token, number in tokens
        if token.endswith(suffix) and not (prefix and token.startswith(prefix))
    ]
    keys = _looked_up(tokens) if ignores or prefix or suffix else []
    return with_keys(arrays | _merges(model), [*keys, *((word, k) for word, k in words if word)])


def _pairs(kind: int, normalizer: Any, pre_tokenizer: Any, falls_back: bool = False) -> Arrays:
    tables = pair_tables_of(normalizer, pre_tokenizer, falls_back)
    settings = [BY_PAIRS, tables.is_local, kind, 0, 0, 0, 0]
    return dict(tables.arrays) | {
        "settings": np.array(settings, dtype=np.int64),
        "lengths": np.zeros(1, dtype=np.uint16),
        "length_ids": np.zeros(0, dtype=np.uint32),
    }


def _model(
    arrays: Arrays,
    unknown: int,
    flags: tuple[bool, bool, bool] = (False, False, False),
    prefix: int = 0,
    suffix: int = 0,
    lengths: tuple[int, ...] = (0, 0, 0),
) -> Any:
    """Returns the array `model` of call.c."""
    has_forms = bool((arrays["forms"] & 7).any())
    return np.array([unknown, has_forms, *flags, prefix, suffix, *lengths], dtype=np.int64)


def _looked_up(tokens: Iterable[tuple[bytes, int]]) -> list[tuple[bytes, int]]:
    """Returns the keys with which whole tokens are looked up. Raises GateError for a long token."""
    found = [(BEGINS + token, number) for token, number in tokens]
    if max((len(key) for key, _ in found), default=0) > _LONGEST:
        raise GateError(f"it has a token of {_LONGEST} bytes or more")
    return found


def _unknown_id(arrays: Arrays, model: WrittenBpe, unknown: str | None, falls_back: bool) -> int:
    """Puts the ids of the names of bytes into `arrays`. Returns the id of the unknown token."""
    names = model.ids_of((*BYTE_NAMES, *([] if unknown is None else [unknown])))
    require_apart(model, names, unknown, falls_back)
    arrays["byte_ids"] = np.array([names.get(name, _NONE) for name in BYTE_NAMES], dtype=np.uint32)
    return _NONE if unknown is None else names.get(unknown, _NO_TOKEN_ID)


def _merges(model: WrittenBpe) -> Arrays:
    """Returns the tables of pairs; of equal merges the last one counts."""
    keys = model.merges[0].astype(np.uint64) << np.uint64(32) | model.merges[1]
    left, right, results = model.merges[:, last_of_equal(keys)].astype(np.int64)
    return pair_arrays(left, right, np.arange(len(left)), results)
