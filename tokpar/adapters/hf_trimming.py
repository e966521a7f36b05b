"""Remove spaces from offsets as the post-processors of tokenizers below 1.0 do (`trim_offsets`).

The post-processors remove the spaces at the start and the end of each token, from the truncated
encoding as a whole (theorem 53)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.adapters.hf_postprocess import OTHER_IDS, parse_component
from tokpar.adapters.hf_token_names import TokenNames
from tokpar.arrays import SPACES, IdArray, IntArray, SpanArray, offsets_of, range_indices
from tokpar.formats.json_parts import stages
from tokpar.types import Facts, Rows

_BLANKS = SPACES + "\u0120"  # and the byte-level character for " "
_DEPENDS = (-1, -1)
_UNKNOWN = -2
_DENSE = 1 << 20
"""Ids below this bound are looked up in a table of all ids."""
_PREPENDING = frozenset({"BertProcessing", "RobertaProcessing"})
"""Stages that put a special token into the encoding of the text itself."""


@dataclass(frozen=True, slots=True)
class TrimStage:
    """One post-processing stage that trims.

    `spares_prefix`: the stage keeps one space at offset 0, which the tokenizer may have put there.
    `spares_first`: it also keeps one space of the first token of the text."""

    spares_prefix: bool
    spares_first: bool


@dataclass(frozen=True, eq=False)
class Trimming:
    """The stages of one post-processor that trim, in order. `blanks` is None if there is no such
    stage."""

    stages: tuple[TrimStage, ...]
    blanks: Blanks | None

    def trim(
        self,
        texts: Sequence[str],
        rows: Rows,
        spans: SpanArray,
        cut: tuple[IntArray, IntArray] | None,
    ) -> SpanArray:
        """Returns `spans` of the tokens of `rows`, in code points, after truncation and trimming.

        `cut`: the ids that truncation removes from the left and from the right of each text."""
        counts = None if self.blanks is None else self.blanks.counts(texts, rows, spans)
        starts, stops = rows.offsets[:-1], rows.offsets[1:]
        if cut is not None:
            starts, stops = starts + cut[0], stops - cut[1]
            lengths = np.maximum(stops - starts, 0)
            kept = range_indices(starts, lengths)
            spans = spans[kept]
            counts = None if counts is None else (counts[0][kept], counts[1][kept])
            starts, stops = (edges := offsets_of(lengths))[:-1], edges[1:]
        if counts is None:
            return spans
        is_first = np.zeros(len(spans), dtype=np.bool_)
        is_first[starts[stops > starts]] = True
        return _trim_spans(spans, *counts, is_first, self.stages)

    def trim_one(self, ids: IdArray, spans: SpanArray) -> SpanArray | None:
        """Returns what `trim` returns for one text without truncation; None if spaces of a token
        have not been counted before, or depend on the text."""
        if self.blanks is None or not len(ids):
            return spans
        counts = self.blanks.known_counts(ids)
        if counts is None:
            return None
        is_first = np.zeros(len(ids), dtype=np.bool_)
        is_first[0] = True
        return _trim_spans(spans, counts[:, 0], counts[:, 1], is_first, self.stages)


def trimming_of(
    post_processor: Any, names: TokenNames, facts: Facts, add_special_tokens: bool
) -> Trimming:
    """Returns the trimming of a post-processor, which may be None.

    `names`: those of a tokenizer with the same tokens. `facts`: its facts."""
    found: list[TrimStage] = []
    prepended = False
    for stage in stages(parse_component(post_processor), "post-processor", "processors"):
        if stage.get("trim_offsets"):
            spares = bool(stage["add_prefix_space"])
            found.append(TrimStage(spares, spares and not prepended))
        prepended |= add_special_tokens and stage["type"] in _PREPENDING
    exact = facts.byte_level and not facts.normalizers
    return Trimming(tuple(found), Blanks(names, exact) if found else None)


def _trim_spans(
    spans: SpanArray,
    leading: IntArray,
    trailing: IntArray,
    is_first: NDArray[np.bool_],
    stages: Sequence[TrimStage],
) -> SpanArray:
    """Returns spans without the spaces at the start and the end of tokens.

    [[0, 2], [2, 6]] for "Ġa", "Ġbcd" gives [[1, 2], [3, 6]]. `leading`, `trailing`: the number of
    spaces at the start and at the end of each token."""
    start, stop = spans[:, 0], spans[:, 1]
    for stage in stages:
        lead = leading
        if stage.spares_prefix:
            spared = start == 0
            if stage.spares_first:
                spared |= is_first
            lead = np.where(spared & (leading == 1), 0, leading)
        start = np.minimum(start + lead, stop)
        stop = np.where(stop >= trailing, np.maximum(stop - trailing, start), stop)
    return np.stack([start, stop], axis=1)


@dataclass(frozen=True, eq=False)
class Blanks:
    """Count the spaces at the start and at the end of tokens.

    Spaces are counted in the name that the engine gives a token: its name in the vocabulary, or for
    an added token the text in which it was found, such as " <mask>". `exact`: True if a token of
    the model is, byte by byte, the text that it stands for."""

    names: TokenNames
    exact: bool
    _tables: list[IntArray] = field(default_factory=lambda: [np.empty((0, 2), dtype=np.int64)])

    def counts(
        self, texts: Sequence[str], rows: Rows, spans: SpanArray
    ) -> tuple[IntArray, IntArray]:
        """Returns the number of spaces at the start and at the end of each token. `spans`: code
        points."""
        table, where = self._table_for(rows.ids)
        counts = table[where]
        unsure = np.flatnonzero(counts[:, 0] < 0)
        for k in np.unique(np.searchsorted(rows.offsets, unsure, side="right") - 1).tolist():
            own = slice(rows.offsets[k], rows.offsets[k + 1])
            counts[own] = self._in_text(texts[k], rows[k], spans[own], counts[own])
        return counts[:, 0], counts[:, 1]

    def known_counts(self, ids: IdArray) -> IntArray | None:
        """Returns what `counts` returns if no token has to be looked up."""
        table = self._tables[0]
        if int(ids.max()) >= len(table):
            return None
        counts: IntArray = table[ids]
        return None if counts.min() < 0 else counts

    def _table_for(self, ids: IdArray) -> tuple[IntArray, IdArray | IntArray]:
        """Returns a table of spaces before and behind, and the row of each id in the table.

        The row is (-1, -1) for an id whose spaces depend on the text."""
        most = int(ids.max(initial=0))
        if most >= _DENSE:
            unique, where = np.unique(ids, return_inverse=True)
            return np.array([*map(self._count_blanks, unique.tolist())], dtype=np.int64), where
        table = self._tables[0]
        if most >= len(table):
            wider = np.full((min(2 * most + 1, _DENSE), 2), _UNKNOWN, dtype=np.int64)
            wider[: len(table)] = table
            table = self._tables[0] = wider
        new = ids[table[ids, 0] == _UNKNOWN]
        for id_ in np.unique(new).tolist():
            table[id_] = self._count_blanks(id_)
        return table, ids

    def _count_blanks(self, id_: int) -> tuple[int, int]:
        """Returns the spaces of a token, or (-1, -1) if they depend on the text."""
        name = self.names[id_]
        return _DEPENDS if name is None else _blanks(name)

    def _in_text(self, text: str, ids: IdArray, spans: SpanArray, counts: IntArray) -> IntArray:
        """Returns `counts` of a text, with the counts that depend on the text filled in."""
        for k in np.flatnonzero(counts[:, 0] < 0).tolist():
            if not self._found_as_written(int(ids[k])):
                return self._count_by_engine(text, ids)
            counts[k] = _blanks(text[slice(*spans[k].tolist())])
        return counts

    def _found_as_written(self, id_: int) -> bool:
        """True if only an added token has this id, and the token was found in the text itself, not
        in normalized text."""
        token = self.names.added_tokens.get(id_)
        if token is None or id_ in self.names.shared_ids:
            return False
        if token.normalized and self.names.engine.normalizer is not None:
            return False
        return self.exact or self.names.engine.model.id_to_token(id_) is None

    def _count_by_engine(self, text: str, ids: IdArray) -> IntArray:
        encoding = self.names.engine.encode(text, add_special_tokens=False)
        if encoding.ids != ids.tolist():
            raise LookupError(OTHER_IDS)
        counted = [_blanks(token) for token in encoding.tokens]
        return np.array(counted, dtype=np.int64).reshape(-1, 2)


def _blanks(token: str) -> tuple[int, int]:
    return len(token) - len(token.lstrip(_BLANKS)), len(token) - len(token.rstrip(_BLANKS))
