"""The tables of the compiled call for a Unigram behind Metaspace (proofs/compiled-call.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.compiled.call_tables import Arrays
from tokpar.compiled.character_tables import FIRST, MARK, NEVER, UNLESS_SPACE
from tokpar.compiled.charsmap_tables import NormalizerRow, normalizer_arrays, normalizer_row
from tokpar.compiled.merges import GateError, parts_of
from tokpar.formats.json_parts import stage_names
from tokpar.process import kernel_modules

NO_PIECE = 2**32 - 1
MOST_PIECES = 1 << 22
UNKNOWN_PENALTY = 10.0
"""What an unknown character scores less than the least of all pieces."""
_SCHEMES = {"always": UNLESS_SPACE, "first": FIRST, "never": NEVER}
_BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))


@dataclass(frozen=True, slots=True)
class ScoredPieces:
    """The pieces of a Unigram by id, with their scores as the engine has them."""

    names: list[str]
    scores: NDArray[np.float64]
    unknown: int | None
    falls_back: bool

    def ids(self) -> dict[str, int]:
        """Returns the id of each piece: of equal pieces the last one."""
        return {name: id_ for id_, name in enumerate(self.names)}

    def unknown_score(self) -> float:
        """Returns the score of an unknown character, in the engine's arithmetic."""
        return float(np.min(self.scores, initial=np.inf)) - UNKNOWN_PENALTY


@dataclass(frozen=True, slots=True)
class PretokenStages:
    """`normalizers`: what stands before the pre-tokenizer. `prepends`: when a mark is put before a
    piece, see call_characters.h. `splits`: each mark begins a pre-token. `splits_white`: the text
    is first split at white space."""

    normalizers: NormalizerRow
    prepends: int
    splits: bool
    splits_white: bool


def read_pieces(state: bytes) -> ScoredPieces:
    """Returns the pieces in `model.__getstate__()`: a score has all its digits there. A file has
    them, too, but the engine reads some of them one unit off in the last place.

    Raises GateError for a score that is no number, which the engine does not write."""
    assert kernel_modules.VOCABULARY is not None
    parts = parts_of(state, kernel_modules.VOCABULARY)
    others = {name: json.loads(state[i:j]) for name, (i, j) in parts.items() if name != "vocab"}
    start, stop = parts["vocab"]
    text, names, scores = state[start:stop].decode(), list[str](), list[float]()
    read = json.JSONDecoder().raw_decode
    place = text.find("[", 1)
    while place >= 0:  # one piece at a time: other threads run between two
        (name, score), place = read(text, place)
        names.append(name)
        scores.append(np.nan if score is None else score)
        place = text.find("[", place)
    found = np.array(scores, dtype=np.float64)
    if not np.isfinite(found).all():
        raise GateError("the score of a piece is no number")
    return ScoredPieces(names, found, others.get("unk_id"), bool(others.get("byte_fallback")))


def unigram_stages(normalizer: Any, pre_tokenizer: Any) -> PretokenStages:
    """Returns what the pre-tokenizer does. The stages are parts of a `tokenizer.json`. Raises
    GateError for others than the call has."""
    rows = [] if pre_tokenizer is None else pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    kinds = [row["type"] for row in rows]
    splits_white = kinds[:1] == ["WhitespaceSplit"]
    if kinds[splits_white:] != ["Metaspace"]:
        named = stage_names(pre_tokenizer, "pretokenizers") if rows else "missing"
        raise GateError(
            f"its pre-tokenizer is {named}, not Metaspace with WhitespaceSplit or alone"
        )
    stage = rows[-1]
    if stage["replacement"] != MARK:
        raise GateError(f"its Metaspace writes {stage['replacement']!r} for a space, not U+2581")
    own = "always" if stage.get("add_prefix_space", True) else "never"
    scheme = stage.get("prepend_scheme", own)
    if scheme == "first" and (splits_white or normalizer is not None):
        raise GateError('its Metaspace "first" stands behind another stage')
    row = normalizer_row(normalizer, splits_white)
    return PretokenStages(row, _SCHEMES[scheme], bool(stage.get("split", True)), splits_white)


def unigram_arrays(state: bytes, normalizer: Any, pre_tokenizer: Any) -> Arrays:
    """Returns the tables as call_unigram.h reads them.

    `state`: the model as the engine writes it. The stages are parts of a `tokenizer.json`. Raises
    GateError for what the call does not have."""
    assert kernel_modules.CALL is not None
    stages = unigram_stages(normalizer, pre_tokenizer)
    pieces = read_pieces(state)
    if len(pieces.names) > MOST_PIECES:
        raise GateError(f"it has more than {MOST_PIECES:,} pieces")
    data, ends = _spelled(pieces.names)
    cells, first = kernel_modules.CALL.unigram_cells(data, ends)
    ids = pieces.ids()
    unknown = NO_PIECE if pieces.unknown is None else pieces.unknown
    row = stages.normalizers
    numbers = [unknown, pieces.falls_back, stages.prepends, stages.splits, stages.splits_white, 1]
    numbers += [row.joins_spaces, row.strips_first, row.strips]
    return normalizer_arrays(row) | {
        "unigram_settings": np.array(numbers, dtype=np.int64),
        "unigram_cells": np.frombuffer(cells, dtype=np.uint32),
        "unigram_first": np.frombuffer(first, dtype=np.uint32),
        "unigram_scores": np.append(pieces.scores, pieces.unknown_score()),
        "unigram_bytes": np.array(
            [ids.get(name, NO_PIECE) for name in _BYTE_NAMES], dtype=np.uint32
        ),
    }


NO_UNIGRAM: Arrays = {
    "unigram_settings": np.zeros(0, dtype=np.int64),
    "unigram_cells": np.zeros(0, dtype=np.uint32),
    "unigram_first": np.zeros(0, dtype=np.uint32),
    "unigram_scores": np.zeros(0, dtype=np.float64),
    "unigram_bytes": np.zeros(0, dtype=np.uint32),
}
"""The tables of a call without a Unigram."""


def _spelled(names: Sequence[str]) -> tuple[bytes, IntArray]:
    """Returns the pieces side by side with " " for U+2581, and where each ends. A piece with a
    space, which Metaspace leaves in no text, has no bytes."""
    spelled = [b"" if " " in name else name.replace(MARK, " ").encode() for name in names]
    ends = np.cumsum(np.fromiter(map(len, spelled), np.int64, len(spelled)), dtype=np.int64)
    return b"".join(spelled), ends
