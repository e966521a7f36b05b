"""`overlap`: chunks that overlap, joined at the longest run of ids that two pieces share.

ParallelTokenizer's method. Ids repeat, and then the longest common run stands at two different
places of the text, so this is approximate, a baseline to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokpar.interfaces import Strategy, TokenizerAdapter, facts_of
from tokpar.kernels import has_surrogate
from tokpar.methods.acceptance import Licences
from tokpar.methods.cut import SURROGATE
from tokpar.methods.joining import Overlap, locate_of, overlap_of
from tokpar.methods.options import require_choice, require_count
from tokpar.methods.runs import longest_common_run
from tokpar.types import Chunk, Join, Piece, Seam, Split

MATCHES = ("longest", "window")


@dataclass(frozen=True)
class OverlapSplitter:
    """Chunks text[k * chunk_chars : (k + 1) * chunk_chars + overlap_chars], code points.

    One chunk: attempt 1 and later, and a text with lone surrogates, which must fail or not as in
    the serial call.
    """

    chunk_chars: int
    overlap_chars: int

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size, length = self.chunk_chars, len(text)
        if attempt > 0 or length <= size:
            return Split.whole(text, f"{length:,} code points fit one chunk")
        if has_surrogate(text):
            return Split.whole(text, SURROGATE)
        chunks = [
            Chunk(
                start,
                min(start + size + self.overlap_chars, length),
                start,
                min(start + size, length),
            )
            for start in range(0, length, size)
        ]
        share = f"{size:,} code points and {self.overlap_chars:,} of overlap"
        return Split(chunks, f"{len(chunks):,} chunks of {share}", "joined at common runs of ids")


@dataclass(frozen=True)
class RunMerger:
    """Left pieces end with the longest common run of ids, right pieces go on behind it.

    "longest" compares all ids of two pieces, "window" those that touch the overlap. A seam whose
    place is also a certified cut, of the text and of both chunks, says so; for "longest" only
    where tokens tile the text, since nothing else there needs to know where they lie.
    """

    match: Literal["longest", "window"]

    @property
    def matches_spans(self) -> bool:
        return self.match == "window"

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        facts = facts_of(tokenizer)
        licences, locate = Licences.of(text, tokenizer), locate_of(tokenizer)
        located = self.matches_spans or (facts.tiles and not licences.refused)
        joins: list[Join | None] = []
        first = 0
        for k in range(1, len(chunks)):
            pair, sides = (chunks[k - 1], chunks[k]), (pieces[k - 1], pieces[k])
            overlap = overlap_of(text, pair, sides, locate) if located else None
            if self.match == "window":
                assert overlap is not None
                join = _in_window(overlap)
            else:
                join = _as_published(chunks[k], sides)
            if overlap is not None:
                join = _certified(overlap, join, licences) or join
            # a run before the previous seam of the same piece leaves nothing of the piece
            joins.append(replace(join, left=max(first, join.left)))
            first = join.right
        return joins


def _in_window(overlap: Overlap) -> Join:
    """The join behind the longest run among the ids that touch the overlap."""
    i, j, length = longest_common_run(overlap.left_ids, overlap.right_ids)
    return _behind_run(overlap.right, overlap.left_first + i, j, length)


def _as_published(right: Chunk, sides: tuple[Piece, Piece]) -> Join:
    """The join behind the longest run among all ids of both pieces, as ParallelTokenizer makes it:
    where the run ends with the right piece, nothing of that piece is dropped (its slice begins at
    `(n - b) % n`), so a last chunk no longer than the overlap is there twice."""
    i, j, length = longest_common_run(sides[0].ids, sides[1].ids)
    join = _behind_run(right, i, j, length)
    return replace(join, right=0) if join.right == len(sides[1].ids) else join


def _behind_run(right: Chunk, i: int, j: int, length: int) -> Join:
    """No run: all ids of both sides are kept, where the published code warns and goes on."""
    seam = Seam(right.core_start, None, "", (("matched", length),))
    return Join(seam, i + length, j + length)


def _certified(overlap: Overlap, join: Join, licences: Licences) -> Join | None:
    """The same join with a rule, if it parts the tokens of both sides at a certified cut.

    Not at a space that would have to be left out (absorb rule), nor beyond the right chunk's own
    share, where the next seam may stand.
    """
    before = join.left - overlap.left_first
    if before < 1 or not join.right:
        return None
    position = int(overlap.positions(overlap.left_spans[before - 1 : before, 1])[0])
    if not overlap.start < position < overlap.right.core_stop:
        return None
    seam = _licence(overlap, position, licences)
    if seam is None or "absorbed" in dict(seam.witness):
        return None
    certified = overlap.join(seam, int(overlap.edges[position - overlap.start]))
    same = certified is not None and replace(certified, seam=join.seam) == join
    return certified if same else None


def _licence(overlap: Overlap, position: int, licences: Licences) -> Seam | None:
    """A certified cut of the text and of both chunks as texts of their own (window lemma); where
    the left chunk ends it need not be cut."""
    if position < overlap.stop or licences.refused:
        return licences.in_all(overlap, position)
    text, right = overlap.text, overlap.right
    beyond = licences.finder.certify(text[right.start : right.stop], position - right.start)
    return None if beyond is None else licences.finder.certify(text, position)


def build(
    *,
    chunk_chars: int = 40960,
    overlap_chars: int = 512,
    match: Literal["longest", "window"] = "longest",
) -> tuple[OverlapSplitter, RunMerger]:
    """`chunk_chars`: own share of a chunk, `overlap_chars`: what it shares with the next one, both
    in code points. `match`: compare all ids of two pieces, or those that touch the overlap."""
    require_count("chunk_chars", chunk_chars)
    require_count("overlap_chars", overlap_chars)
    require_choice("match", match, MATCHES)
    return OverlapSplitter(chunk_chars, overlap_chars), RunMerger(match)


STRATEGY = Strategy(
    name="overlap",
    lossless=False,
    source="ParallelTokenizer (OpenLMLab); match='window': as optimised in LoPT (arXiv 2511.04952)",
    conditions="approximate: repeated ids give wrong merges",
    build=build,
)
