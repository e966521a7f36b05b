"""Encodes new segments by the pieces between two separators of BERT (theorem 4.8).

The ids of a piece do not depend on the text around it, so the engine encodes each distinct piece
once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar import kernel_modules
from tokpar.arrays import IntArray
from tokpar.cache.generations import Generation, SolvedSegments
from tokpar.cache.machine_tables import DEAD, HIT, Machine
from tokpar.cache.pretoken_call import PretokenIds, encode_pretokens
from tokpar.cache.segments import EncodeMany, SegmentIds, Segments, Unbatcher, separator_of
from tokpar.foreign_errors import raise_foreign
from tokpar.patterns.known_pattern import pattern_of_classes
from tokpar.types import Facts

MOST_NEW = 0.7
"""If new pieces have a larger share of the bytes, the engine encodes whole segments instead."""


class EnginePieces:
    """Encodes segments without added tokens, which end where a text may be cut."""

    def __init__(
        self,
        machine: Machine,
        unbatcher: Unbatcher,
        seeds: NDArray[np.uint64],
        functions: Any = kernel_modules.PRETOKENS,
        tables: Any = kernel_modules.SEGMENTS,
    ) -> None:
        self._machine, self._unbatcher, self._seeds = machine, unbatcher, seeds
        self._functions, self._tables = functions, tables

    def solve(
        self, new: Segments, generations: Sequence[Generation], encode_many: EncodeMany
    ) -> SolvedSegments:
        """Returns the ids of `new`.

        If `encode_many` fails on the pieces, the engine encodes whole segments, and its error shows
        which text fails."""
        own = Generation.empty(16)
        found = self._look_up(new, generations, own, int(new.lengths.sum()))
        fresh, pieces = found.fresh, found.pretokens
        lacking = np.flatnonzero(fresh.stops == -2)
        if not len(lacking):
            return SolvedSegments(fresh, own, pieces, 0)
        unknown = self._different(new, found.samples)
        piece_ids = None
        if unknown.lengths.sum() <= MOST_NEW * new.lengths[lacking].sum():
            try:
                piece_ids = unknown.encode(self._unbatcher, encode_many, self._tables)
            except BaseException as error:  # a panic is no Exception
                raise_foreign(error)  # else the whole segments are asked for next
                piece_ids = None
        if piece_ids is None:
            fresh.stops[lacking] = -1
            return SolvedSegments(fresh, own, pieces, 0)
        own = self._table(unknown, piece_ids)
        rest = self._look_up(new.part(lacking), generations, own).fresh
        fresh.firsts[lacking] = rest.firsts + len(fresh.ids)
        # -2: a piece that is too long for a table
        fresh.stops[lacking] = np.where(rest.stops < 0, -1, rest.stops + len(fresh.ids))
        ids = np.concatenate([fresh.ids, rest.ids])
        return SolvedSegments(
            SegmentIds(ids, fresh.firsts, fresh.stops), own, pieces, len(unknown.lengths)
        )

    def _look_up(
        self,
        new: Segments,
        generations: Sequence[Generation],
        own: Generation,
        most_samples: int = 0,
    ) -> PretokenIds:
        """Returns the ids of segments. The new pieces are samples."""
        given = self._functions, new, self._machine, None, generations, own, self._seeds
        return encode_pretokens(*given, most_samples)

    def _different(self, new: Segments, places: IntArray) -> Segments:
        """Returns the distinct pieces of `places`: see `PretokenIds.samples`."""
        count = len(places)
        misses = np.ascontiguousarray(places[:, :3]).ravel()
        table = np.full(1 << (2 * count).bit_length(), -1, dtype=np.int64)
        which, firsts = np.empty((2, count), dtype=np.int64)
        kinds = np.empty(count, dtype=np.uint8)
        columns = new.data, misses, count, self._seeds, table, which, firsts, kinds
        found = self._tables.distinct(*columns)
        own = places[firsts[:found]]
        return Segments(new.data, own[:, 0].copy(), own[:, 1].copy(), kinds[:found])

    def _table(self, pieces: Segments, piece_ids: SegmentIds) -> Generation:
        """Returns a table of the pieces and their ids, without pieces that no table stores."""
        count = len(pieces.lengths)
        own = Generation(
            np.zeros(4 << max(8, (2 * count).bit_length()), dtype=np.uint64),
            np.zeros(int(pieces.lengths.sum()) + 16, dtype=np.uint8),
            np.zeros(len(piece_ids.ids) + 16, dtype=np.uint32),
            np.zeros(3, dtype=np.int64),
        )
        columns = pieces.data, pieces.starts, pieces.lengths
        rows = piece_ids.ids, piece_ids.firsts, piece_ids.stops
        self._functions.put_pieces(*columns, *rows, *own.arrays, own.used_counts, self._seeds)
        return own


def engine_pieces_for(facts: Facts, seeds: NDArray[np.uint64]) -> EnginePieces | None:
    """Returns the encoder of new segments for BERT's normalizer and pre-tokenizer, or None."""
    if kernel_modules.PRETOKENS is None or facts.scheme != "bert":
        return None
    machine = facts.derive(_make_separator_machine)
    return EnginePieces(machine, Unbatcher(separator=separator_of(facts.added_tokens)), seeds)


def _make_separator_machine(facts: Facts) -> Machine:
    """Returns a machine whose pieces are separators, and runs of other characters.

    The machine knows nothing of characters outside the frozen set."""
    table, width = pattern_of_classes("bert").table, 4
    # by the symbols of BERT's table (another, separator, space) and END: the start, behind a
    # separator, behind another
    alone, run = width, 2 * width
    rows = [
        [run, alone, alone, 0],
        [HIT | DEAD, HIT | DEAD, HIT | DEAD, HIT],
        [run, HIT | DEAD, HIT | DEAD, HIT],
    ]
    moves = np.array(rows, dtype=np.uint32).ravel()
    begins, idle = np.zeros(1, dtype=np.int64), np.zeros(256, dtype=np.uint8)
    return Machine(table.symbol_of, table.size, moves, begins, idle)
