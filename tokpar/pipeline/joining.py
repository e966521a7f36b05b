"""Joins the pieces of one cut text, repairs seams that no rule licenses, or gives the text up.

A tokenizer that fails on a slice fails on the whole text only if the slice ends at certified cuts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tokpar.arrays import NO_INTS, IntArray, offsets_of, spaces_behind_text
from tokpar.contract.interfaces import EncodesMany, TokenizerAdapter, facts_of
from tokpar.contract.part_checks import merge_pieces, split_text
from tokpar.errors import EngineError, MismatchError, WorkerError
from tokpar.pipeline.chunks_at_cuts import are_certified
from tokpar.pipeline.plan import Plan
from tokpar.results.encoding import Clock, Encoding
from tokpar.results.seams import NO_SEAMS, Columns, Everywhere, Licence, Seams, sides_of
from tokpar.types import Chunk, Join, Piece, Report, Rows, Rule, Seam, Split

_APPROXIMATE = "approximate strategy"
# Rounds of local repair before the whole text is encoded serially. Each round at least halves the
# number of open seams, so more rounds would only repeat work.
MOST_REPAIR_ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class JoinedText:
    """The encoding of one text before post-processing, with its chunks and pieces.

    The text has the ids [first[k], last[k]) of piece k. `first`, `last`: int64, (chunks,)."""

    encoding: Encoding
    chunks: Sequence[Chunk]
    pieces: Sequence[Piece]
    first: IntArray
    last: IntArray


Watch = Callable[[JoinedText], None]  # called with each cut text after its pieces are joined


@dataclass
class Work:
    """The chunks and pieces of one text while they are joined and repaired."""

    text: str
    plan: Plan
    split: Split
    clock: Clock
    pieces: dict[tuple[int, int], Piece] = field(default_factory=dict)
    retries: int = 0
    repairs: int = 0
    encoded_chars: int = 0
    why: str = ""

    def open_chunks(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Returns the chunks that are not encoded yet."""
        return [chunk for chunk in chunks if _slice(chunk) not in self.pieces]

    def take(self, chunks: Sequence[Chunk], rows: Rows) -> None:
        """Store the ids of `chunks`."""
        for k, chunk in enumerate(chunks):
            self.pieces[_slice(chunk)] = rows.piece(k)
        self.encoded_chars += sum(chunk.stop - chunk.start + chunk.absorbed for chunk in chunks)

    def join(self) -> JoinedText | None:
        """Encode the open chunks and join all pieces. None if they cannot be joined; see `why`.

        Seams that no rule licenses are repaired. If the merger returns no repair, the splitter's
        next attempt starts over."""
        chunks, merger, tokenizer = self.split.chunks, self.plan.merger, self.plan.tokenizer
        rounds = 0
        while rounds < MOST_REPAIR_ROUNDS and self._encode(chunks):
            pieces = [self.pieces[_slice(chunk)] for chunk in chunks]
            joins = merge_pieces(merger, self.text, chunks, pieces, tokenizer)
            self.clock.lap("merge")
            joins = sound_joins(joins, chunks, pieces)
            made = [join for join in joins if join is not None]
            if len(made) == len(joins):
                return self._build(chunks, pieces, made)
            failed = [i for i, join in enumerate(joins, start=1) if join is None]
            self.why = f"no rule licenses {len(failed)} of {len(joins)} seams"
            repaired: Sequence[Chunk] | None = self.plan.mend(self.text, chunks, failed)
            if repaired is None:
                self.retries += 1
                self.split = split_text(self.plan.splitter, self.text, tokenizer, self.retries)
                self.pieces, repaired = {}, self.split.chunks
                self.clock.lap("split")
            else:
                rounds += 1
                self.repairs += len(failed)
            chunks = repaired
            if len(chunks) == 1:
                break
        return None

    def _encode(self, chunks: Sequence[Chunk]) -> bool:
        """Encode the open chunks. False if the text must be encoded whole; see `why`.

        The text must be encoded whole if the tokenizer cannot locate its tokens, or fails on a
        slice but may accept the whole text. Raises EngineError where every slice ends at certified
        cuts, because then the whole text fails too."""
        fresh = self.open_chunks(chunks)
        texts = [self.text[chunk.start : chunk.stop] for chunk in fresh]
        spans = self.plan.spans
        try:
            rows = self.plan.run(texts, spans)
        except LookupError as error:
            if not spans:
                raise
            self.why = f"{self.plan.tokenizer.name} cannot tell where its tokens lie: {error}"
            return False
        except EngineError as error:
            certified = are_certified(chunks) and not spans
            if isinstance(error, (MismatchError, WorkerError)) or certified:
                raise place_in_text(error, fresh) from error.__cause__ or error
            self.why = str(place_in_text(error, fresh))
            return False
        finally:
            self.clock.lap("tokenize")
        self.take(fresh, rows)
        return True

    def _build(
        self, chunks: Sequence[Chunk], pieces: Sequence[Piece], joins: Sequence[Join]
    ) -> JoinedText:
        from tokpar.results.adding_up import add_up, place_seams  # importing tokpar does without it

        first = np.array([0, *(join.right for join in joins)], dtype=np.int64)
        last = np.array([*(join.left for join in joins), len(pieces[-1].ids)], dtype=np.int64)
        kept = zip(pieces, first.tolist(), last.tolist(), strict=True)
        ids, ids_before = add_up(piece.ids[start:stop] for piece, start, stop in kept)
        placed_seams = place_seams((join.seam for join in joins), ids_before)
        columns = Columns.of(placed_seams)
        seams = Seams(columns, proofs=proofs_named(self.plan.tokenizer, columns.licences))
        report = self._report(chunks)
        if self.plan.approximate:
            report = replace(report, why=f"{_APPROXIMATE}; {_in_words(seams)}")
        encoding = Encoding.of(ids, seams, report)
        return JoinedText(encoding, chunks, pieces, first, last)

    def _report(self, chunks: Sequence[Chunk]) -> Report:
        return Report(
            strategy=self.plan.name,
            plan=self.split.plan or f"{len(chunks):,} chunks",
            why=self.split.why,
            executor=self.plan.executor_name,
            chunks=len(chunks),
            retries=self.retries,
            repairs=self.repairs,
            redundant=self.encoded_chars - len(self.text),
            serial_regions=self.split.serial_regions,
            agreement=self.plan.traits.agreement,
        )


TOGETHER = 1 << 16
"""The most segments that are Python strings at the same time while their ids are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Recount:
    """Finds the cuts in divided regions, and how many ids lie before each cut.

    A segment between two cuts has the same ids in the text and on its own (theorem 14), so each
    distinct segment is encoded once. `counts`: how many ids of the text lie before the start and
    before the end of each region, int64, (regions, 2)."""

    text: str
    tokenizer: TokenizerAdapter
    everywhere: Everywhere
    counts: IntArray

    def count(self) -> int:
        """Returns the number of cuts."""
        return self.everywhere.count(self.text)

    def positions(self) -> IntArray:
        """Returns the positions of the cuts, code points, ascending."""
        return self.everywhere.positions(self.text)

    def tokens(self) -> IntArray:
        """Returns how many ids lie before each cut.

        Raises EngineError if a region now has another number of ids than in `counts`."""
        ids_before, lengths = [NO_INTS], dict[str, int]()
        sides = sides_of(self.everywhere.licence)
        absorbed = self.everywhere.licence.absorbed
        ends = zip(self.everywhere.regions.tolist(), self.counts.tolist(), strict=True)
        for (start, stop), (first, last) in ends:
            edges = np.concatenate(
                ([start], spaces_behind_text(self.text, start, stop, sides), [stop])
            )
            # The first segment of a region keeps its first space: where spaces are absorbed, a
            # region is a whole text.
            starts = edges[:-1] + absorbed
            starts[0] = start
            sizes = np.empty(len(starts), dtype=np.int64)
            for k in range(0, len(starts), TOGETHER):
                part = slice(k, k + TOGETHER)
                pairs = zip(starts[part].tolist(), edges[1:][part].tolist(), strict=True)
                sizes[part] = self._lengths([self.text[a:b] for a, b in pairs], lengths)
            offsets = first + offsets_of(sizes)
            if offsets[-1] != last:
                raise EngineError(
                    f"{self.tokenizer.name} gave {last - first} ids for the code points from "
                    f"{start} to {stop}, and now gives {offsets[-1] - first}",
                    start,
                    stop,
                )
            ids_before.append(offsets[1:-1])
        return np.concatenate(ids_before)

    def _lengths(self, texts: Sequence[str], counts_by_text: dict[str, int]) -> list[int]:
        """Returns how many ids each text has. `counts_by_text` keeps counts of earlier texts."""
        new = list({text for text in texts if text not in counts_by_text})
        if isinstance(self.tokenizer, EncodesMany) and new:
            counts = np.diff(self.tokenizer.encode_many(new, False).offsets).tolist()
        else:
            counts = [len(self.tokenizer.encode(text)) for text in new]
        counts_by_text.update(zip(new, counts, strict=True))
        return [counts_by_text[text] for text in texts]


def proofs_named(tokenizer: TokenizerAdapter, licences: Sequence[Licence]) -> dict[str, str]:
    """Returns the proofs of patterns that the witnesses of PAIR licences name, by sha256."""
    proofs = facts_of(tokenizer).proofs
    named = {str(dict(witness).get("proof")) for rule, _, witness in licences if rule == Rule.PAIR}
    return {digest: proofs[digest] for digest in sorted(named & proofs.keys())}


def seams_of_cuts(tokenizer: TokenizerAdapter, cuts: Iterable[Seam]) -> Seams:
    """Returns seams that are known one by one, with the proofs that they name."""
    planned = Columns.of(cuts)
    return Seams(planned, proofs=proofs_named(tokenizer, planned.licences))


def seams_of_wholes(tokenizer: TokenizerAdapter, licence: Seam) -> Callable[[str, int], Seams]:
    """Returns a function that makes the seams of a divided text from the text and its id count."""
    proofs = proofs_named(tokenizer, [(licence.rule, "", licence.witness)])

    def seams(text: str, count: int) -> Seams:
        sizes = np.array(((0, len(text)), (0, count)), dtype=np.int64)
        everywhere = Everywhere(licence, sizes[:1])
        recount = Recount(text, tokenizer, everywhere, sizes[1:])
        return Seams(NO_SEAMS.planned, everywhere, recount, proofs)

    return seams


def sound_joins(
    joins: Sequence[Join | None], chunks: Sequence[Chunk], pieces: Sequence[Piece]
) -> list[Join | None]:
    """Returns `joins` with None for each join that cannot be right.

    A join is wrong if it keeps or drops a negative number of ids, or more ids than there are, or
    drops ids where the chunks do not overlap."""
    first = 0
    kept: list[Join | None] = []
    for k, join in enumerate(joins):
        kept.append(join if join and _is_sound(join, first, chunks, pieces, k) else None)
        first = join.right if join is not None else 0
    return kept


def _is_sound(
    join: Join, first: int, chunks: Sequence[Chunk], pieces: Sequence[Piece], k: int
) -> bool:
    """True if there are the ids that the join after piece k keeps and drops. `first`: how many ids
    of the piece the join before it drops."""
    size, next_size = len(pieces[k].ids), len(pieces[k + 1].ids)
    if chunks[k].stop <= chunks[k + 1].start:
        return first <= size and (join.left, join.right) == (size, 0)
    return first <= join.left <= size and 0 <= join.right <= next_size


def place_in_text(error: EngineError, chunks: Sequence[Chunk]) -> EngineError:
    """Returns the executor's error about one chunk with positions of the whole text."""
    chunk = chunks[min(error.row, len(chunks) - 1)]
    start, stop = chunk.start + error.start, chunk.start + error.stop
    where = f"(in the chunk [{chunk.start}, {chunk.stop}))"
    return type(error)(f"{error} {where}", start, stop)


def _slice(chunk: Chunk) -> tuple[int, int]:
    return chunk.start, chunk.stop


def _in_words(seams: Seams) -> str:
    """Returns how many seams a rule licenses: "each seam of this text is certified"."""
    if seams.lossless:
        return "each seam of this text is certified"
    licensed = np.array([rule is not None for rule, _, _ in seams.planned.licences])
    count = int(licensed[seams.planned.codes].sum())
    return f"{count:,} of {len(seams.planned):,} seams of this text are certified"
