"""Encodes new segments by their pre-tokens, without the engine, and checks samples by the engine.

A segment has the ids of its pre-tokens (theorem 51). A pre-token's ids come from a cache table, or
from the merges of the tokenizer's file (theorem 52)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar import kernel_modules
from tokpar.arrays import IdArray, offsets_of
from tokpar.cache.generations import Generation, SolvedSegments
from tokpar.cache.machine_tables import Machine, machine_for
from tokpar.cache.merges import GateError, Merges, Source, token_table
from tokpar.cache.pretoken_call import MergeTables, encode_pretokens
from tokpar.cache.segments import EncodeMany, Segments
from tokpar.cache.stored_tables import forget, key_of, read, write
from tokpar.errors import MismatchError
from tokpar.foreign_errors import raise_foreign
from tokpar.types import Facts

SAMPLED = 4096
"""One in this many new pieces is also encoded by the engine, to compare the ids."""
COMPARED = 2000
"""How many tokens, and how many drawn pieces, are compared with the engine when tables are made."""
_LEAST_OWN, _MOST_OWN = 1 << 8, 1 << 16
_MOST_SAMPLES = 64

Tokenize = Callable[[bytes], IdArray | None]
"""The engine's model on the bytes of one piece: returns its ids, or None if the model changed."""


class Pieces:
    """Encodes segments without added tokens.

    The ids of a new piece are compared with `tokenize` if its hash has none of the bits of
    `mask`."""

    def __init__(
        self,
        machine: Machine,
        merges: Merges,
        tokenize: Tokenize,
        seeds: NDArray[np.uint64],
        mask: int = SAMPLED - 1,
        functions: Any = kernel_modules.PRETOKENS,
        key: str | None = None,
    ) -> None:
        self._machine, self._merges, self._seeds = machine, merges, seeds
        self._tokenize, self._mask, self._functions = tokenize, mask, functions
        self._key = key
        whole = merges.tokens if merges.whole.all() else merges.tokens.part(merges.whole)
        tokens = token_table(whole, seeds, functions)
        self._tables = MergeTables(merges.table, merges.byte_ids, *tokens)

    def solve(
        self,
        new: Segments,
        generations: Sequence[Generation],
        encode_many: EncodeMany | None = None,
    ) -> SolvedSegments:
        """Returns the ids of `new`. `encode_many` is not used.

        Raises MismatchError if the engine has other ids for a compared piece."""
        own = self._own(int(new.lengths.sum()))
        found = encode_pretokens(
            self._functions,
            new,
            self._machine,
            self._tables,
            generations,
            own,
            self._seeds,
            int(new.lengths.sum()) if self._mask == 0 else _MOST_SAMPLES,
            self._mask,
        )
        for at, n, first, many in found.samples.tolist():
            self._compare(new.data[at : at + n].tobytes(), found.fresh.ids[first : first + many])
        return SolvedSegments(found.fresh, own, found.pretokens, found.new)

    def ids(self, pieces: Sequence[bytes]) -> list[IdArray]:
        """Returns the ids of pieces by the merges only. A piece may be any bytes but not empty."""
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        data = np.frombuffer(b"".join(pieces) + bytes(16), dtype=np.uint8)
        out, stops = np.empty(len(data), dtype=np.uint32), np.empty_like(lengths)
        work = np.empty(7 * int(lengths.max(initial=1)), dtype=np.uint64)
        columns = self._merges.table, self._merges.byte_ids, self._functions.SHORT
        starts = offsets_of(lengths)[:-1]
        self._functions.merge_pieces(data, starts, lengths, *columns, work, out, stops)
        return np.split(out[: stops[-1]], stops[:-1]) if len(pieces) else []

    def difference(self, seed: int) -> bytes | None:
        """Returns a piece for which the engine has other ids, or None.

        Compares some tokens, and drawn pieces that are made of tokens."""
        draw, tokens = random.Random(seed), self._merges.tokens
        count = len(tokens.ids)
        numbers = draw.sample(range(count), min(COMPARED, count))
        some = tokens.bytes_of(numbers)
        expected = [*self.whole_ids(some)]
        drawn = [b"".join(draw.choices(some, k=draw.randrange(2, 5))) for _ in range(COMPARED)]
        expected += self.whole_ids(drawn)
        for piece, own in zip(some + drawn, expected, strict=True):
            if self._theirs(piece) != own.tolist():
                return piece
        return None

    def _theirs(self, piece: bytes) -> list[int] | str | None:
        """Returns the engine's ids of a piece, or its error in words, or None if the model changed.

        A panic of the engine is no Exception, so BaseException is caught."""
        try:
            ids = self._tokenize(piece)
            return None if ids is None else ids.tolist()
        except BaseException as error:
            raise_foreign(error)
            return f"{type(error).__name__}: {error}"

    def whole_ids(self, pieces: Sequence[bytes]) -> list[IdArray]:
        """Returns the ids of pieces. A piece that is one token has the id of this token."""
        tokens = self._tables.slots, self._tables.keys, self._seeds
        found = []
        for piece, row in zip(pieces, self.ids(pieces), strict=True):
            data = np.frombuffer(piece + bytes(16), dtype=np.uint8)
            one = self._functions.token_id(data, len(piece), *tokens)
            found.append(row if one < 0 else np.array([one], dtype=np.uint32))
        return found

    def _compare(self, piece: bytes, own: IdArray) -> None:
        theirs = self._theirs(piece)
        if theirs is not None and theirs != own.tolist():
            forget(self._key)
            raise MismatchError(
                f"the engine has ids {theirs[:200]!r} for the piece {piece[:200]!r}, where the "
                f"merges of its file give {own.tolist()[:200]}: tokpar does not use them for this "
                "tokenizer any more; please report this"
            )

    def _own(self, size: int) -> Generation:
        """Returns an empty table for the new pieces among `size` bytes."""
        slots = min(_MOST_OWN, max(_LEAST_OWN, 1 << (size // 2).bit_length()))
        return Generation.empty(slots)


def pieces_for(
    facts: Facts,
    source: Source,
    size: int,
    make: Callable[[], Merges],
    tokenize: Tokenize,
    seeds: NDArray[np.uint64],
    engine: str,
    always: bool = False,
) -> Pieces | None:
    """Returns the encoder of a tokenizer's new segments, or None if there can be none.

    `source`, `size` (the number of tokens): identify the model. `make`: makes the merges; may raise
    GateError. `tokenize`: runs the engine's model. `seeds`: the seeds of the cache table. `engine`:
    name and version. `always`: the engine also encodes every new piece, to compare the ids."""
    if kernel_modules.PRETOKENS is None or facts.model != "BPE":
        return None
    key, mask = key_of(facts, source, size, engine), 0 if always else SAMPLED - 1
    try:
        kept = read(key)
        if kept is not None:
            return Pieces(*kept, tokenize, seeds, mask, key=key)
        machine = machine_for(facts)
        if isinstance(machine, str):
            return None
        merges = make()
        pieces = Pieces(machine, merges, tokenize, seeds, mask, key=key)
    except GateError:
        return None
    if pieces.difference(len(merges.tokens.ids)) is not None:
        return None
    write(key, machine, merges)
    return pieces
