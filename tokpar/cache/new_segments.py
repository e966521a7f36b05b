"""New segments to ids without the engine: by their pre-tokens (theorem 51), each from the table of
a cache or by the file's own merges (theorem 52); and what compares that with the engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, offsets_of
from tokpar.cache import compiled
from tokpar.cache.generation import Generation
from tokpar.cache.merges import GateError, Merges, token_table
from tokpar.cache.pretoken_machine import Machine, machine_for
from tokpar.cache.segments import EncodeMany, Fresh, Segments
from tokpar.cache.stored_tables import Source, forget, key_of, read, write
from tokpar.errors import MismatchError
from tokpar.types import Facts

SAMPLED = 4096
"""One in so many new pieces is encoded by the engine, too."""
COMPARED = 2000
"""Tokens, and as many drawn pieces, that are compared with the engine's when tables are made."""
LONGEST = 1 << 18
"""Bytes of a segment that is encoded here, with 72 bytes of room for each."""
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit)
_LEAST_OWN, _MOST_OWN = 1 << 8, 1 << 16

Tokenize = Callable[[bytes], IdArray | None]
"""The engine's model on one piece: its bytes to its ids; None once it is no more what it was."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The ids of some segments, `stops` -1 of those that are left to the engine; a table of what
    pieces were new; how many pieces there were, and how many were new."""

    fresh: Fresh
    table: Generation
    pieces: int
    new: int


class SolvesSegments(Protocol):
    """Encodes new segments by their pre-tokens."""

    def solve(
        self, new: Segments, generations: Sequence[Generation], encode_many: EncodeMany
    ) -> Solved:
        """`generations`: tables of pieces; `encode_many`: the engine's batch call."""


class Pieces:
    """Encodes segments in which no added token is. `tokenize` is asked for some of the new pieces:
    of all whose hash has none of the bits of `mask`."""

    def __init__(
        self,
        machine: Machine,
        merges: Merges,
        tokenize: Tokenize,
        seeds: NDArray[np.uint64],
        mask: int = SAMPLED - 1,
        functions: Any = compiled.PRETOKENS,
        key: str | None = None,
    ) -> None:
        self._machine, self._merges, self._seeds = machine, merges, seeds
        self._tokenize, self._mask, self._functions = tokenize, mask, functions
        self._key = key
        whole = merges.tokens if merges.whole.all() else merges.tokens.part(merges.whole)
        self._slots, self._keys = token_table(whole, seeds, functions)

    def solve(
        self,
        new: Segments,
        generations: Sequence[Generation],
        encode_many: EncodeMany | None = None,
    ) -> Solved:
        """Raises MismatchError where the engine has other ids for a piece that it encodes, too;
        its batch call is not needed."""
        size, count = int(new.lengths.sum()), len(new.lengths)
        longest = int(new.lengths.max(initial=0))
        own = self._own(size)
        room = longest + self._functions.BATCH + 1
        out = np.empty(size + 2, dtype=np.uint32)
        firsts, stops = np.zeros((2, count), dtype=np.int64)
        asked, counts = np.empty(4 * 64, dtype=np.int64), np.zeros(3, dtype=np.int64)
        if self._mask == 0:
            asked = np.empty(4 * size, dtype=np.int64)
        tables = [array for each in generations for array in each.arrays]
        written = self._functions.encode(
            new.data,
            new.starts,
            new.lengths,
            *self._machine.arrays,
            self._merges.table,
            self._merges.byte_ids,
            self._slots,
            self._keys,
            *tables,
            *own.arrays,
            own.used,
            self._seeds,
            np.empty(9 * room, dtype=np.uint64),
            out,
            firsts,
            stops,
            asked,
            self._mask,
            True,
            counts,
        )
        sampled, pieces, unknown = counts.tolist()
        for at, n, first, many in asked[: 4 * sampled].reshape(-1, 4).tolist():
            self._compare(new.data[at : at + n].tobytes(), out[first : first + many])
        return Solved(Fresh(out[:written], firsts, stops), own, pieces, unknown)

    def ids(self, pieces: Sequence[bytes]) -> list[IdArray]:
        """The ids of these pieces, each as it is, by the merges alone. Any bytes; none empty."""
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        data = np.frombuffer(b"".join(pieces) + bytes(16), dtype=np.uint8)
        out, stops = np.empty(len(data), dtype=np.uint32), np.empty_like(lengths)
        work = np.empty(7 * int(lengths.max(initial=1)), dtype=np.uint64)
        told = self._merges.table, self._merges.byte_ids, self._functions.SHORT
        starts = offsets_of(lengths)[:-1]
        self._functions.merge_pieces(data, starts, lengths, *told, work, out, stops)
        return np.split(out[: stops[-1]], stops[:-1]) if len(pieces) else []

    def difference(self, seed: int) -> bytes | None:
        """A piece of which the engine has other ids, or None: of the tokens, and of drawn pieces
        that are made of them."""
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
        """The engine's ids, or what it says if it fails: a panic is no Exception; None if it may
        not be asked."""
        try:
            ids = self._tokenize(piece)
            return None if ids is None else ids.tolist()
        except _PASSING:
            raise
        except BaseException as error:
            return f"{type(error).__name__}: {error}"

    def whole_ids(self, pieces: Sequence[bytes]) -> list[IdArray]:
        """The ids of these pieces, of tokens that are one id as whole pieces this one."""
        tokens = self._slots, self._keys, self._seeds
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
        """A table for what is new among so many bytes."""
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
    """What encodes new segments of a tokenizer, if that is possible. `source` and
    `size`, the number of its tokens, tell its model from all others; `make`: its
    merges, may raise GateError; `tokenize`: its model; `seeds`: of the table that is asked;
    `engine`: its name and version; `always`: it encodes each new piece, too."""
    if compiled.PRETOKENS is None or facts.model != "BPE":
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
