"""`check_merger`: a merger joins pieces correctly or not at all.

The checks use chunks of many splitters; some of these splitters cut where nothing licenses it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tokpar.arrays import has_surrogate, offsets_of
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import Merger, Splitter, TokenizerAdapter, facts_of
from tokpar.contract.part_checks import fuse_chunks, mend_chunks, merge_pieces
from tokpar.cuts.finder import finder_for
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.methods.cut import CutSplitter
from tokpar.methods.lopt import LoptSplitter
from tokpar.pipeline.joining import sound_joins
from tokpar.pipeline.plan import Plan
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Seams
from tokpar.results.spans import postprocess_single
from tokpar.types import Chunk, Join, Joins, Piece, Report, Seam, Split
from tokpar_conformance.certificates import Certificates
from tokpar_conformance.checks import Check, Complaint, SetAsideError, Watch, check, require
from tokpar_conformance.compare import ids_differ, ids_of
from tokpar_conformance.pools import pools

MOST_ROUNDS = 8  # rounds; after each, chunks at open seams are fused and merged again


@dataclass(frozen=True)
class Anywhere:
    """A splitter that cuts every `size` code points, licensed or not, with `overlap` code points on
    both sides of each cut. `at_cuts`: it moves each place to the next certified cut."""

    size: int
    overlap: int = 0
    at_cuts: bool = False

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        places: Sequence[int] = range(self.size, len(text), self.size) if attempt == 0 else ()
        finder = finder_for(facts_of(tokenizer))
        refused = finder.refusal_for(text) is not None
        find = (lambda text, place: None) if refused else finder.certify
        if self.at_cuts and places and not refused:
            places = [seam.position for seam in finder.find_each(text, self.size)]
        seams = [_proposal(find(text, place), place) for place in places]
        sides = zip(pairwise([0, *places, len(text)]), [None, *seams], strict=True)
        wide = self.overlap
        return Split(
            [
                Chunk(max(0, start - wide), min(len(text), stop + wide), start, stop, cut=cut)
                for (start, stop), cut in sides
            ]
        )


def _proposal(seam: Seam | None, place: int) -> Seam:
    """The seam that the facts license at `place`, or a seam without a rule.

    A seam that absorbs a space counts as unlicensed: these chunks leave out no text."""
    if seam is None or "absorbed" in dict(seam.witness):
        return Seam(place, None, "")
    return seam


SPLITTERS: tuple[Splitter, ...] = (
    CutSplitter(3),
    CutSplitter(25),
    LoptSplitter(9, 12, plan_cuts=True),
    Anywhere(12, 5, at_cuts=True),
    Anywhere(1),
    Anywhere(7),
    Anywhere(5, 4),
    Anywhere(16, 40),
)


def check_merger(
    merger: Merger,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    splitter: Splitter | None = None,
    texts: Sequence[str] = (),
    examples: int | None = None,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError unless the merger's joins give the serial ids at seams that
    `tokpar.check` licenses, and None elsewhere. The error names each failed check with its
    smallest text.

    `splitter`: makes the chunks whose pieces the merger gets. None: several splitters, with and
    without overlap; some of them propose cuts that nothing licenses.
    `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`."""
    adapter = load(tokenizer)
    checks = merger_checks(merger, adapter, SPLITTERS if splitter is None else (splitter,))
    require(type(merger).__name__, checks, pools(adapter, texts, examples), watch, fail_fast)


def merger_checks(
    merger: Merger, tokenizer: TokenizerAdapter, splitters: Sequence[Splitter]
) -> Iterator[Check]:
    """All checks of a merger with one tokenizer."""
    certificates = Certificates(tokenizer)
    for splitter in splitters:
        yield merge.of(merger, certificates, splitter, name=f"merge: {splitter}")
    yield one_piece.of(merger, tokenizer)
    if hasattr(merger, "mend"):
        yield mend.of(merger, tokenizer)


def make_pieces(
    merger: Merger, tokenizer: TokenizerAdapter, chunks: Sequence[Chunk], text: str
) -> list[Piece]:
    """The piece of each chunk, as the pipeline gives them to a merger."""
    spans = Plan(tokenizer, SPLITTERS[0], SerialExecutor(), merger).spans
    texts = [text[chunk.start : chunk.stop] for chunk in chunks]
    rows = SerialExecutor().map(texts, tokenizer, spans)
    return [rows.piece(k) for k in range(len(rows))]


@check("merge")
def merge(
    merger: Merger, certificates: Certificates, splitter: Splitter, text: str
) -> Complaint | None:
    """a list of a Join or None for each neighbouring pair; the joins give the serial ids, at
    licensed seams where both chunks reach"""
    tokenizer = certificates.tokenizer
    _require_usual(tokenizer, text)  # below, open seams are fused as the pipeline does it
    chunks = list(splitter.split(text, tokenizer, 0).chunks)
    for _ in range(MOST_ROUNDS):
        pieces = make_pieces(merger, tokenizer, chunks, text)
        joins = merge_pieces(merger, text, chunks, pieces, tokenizer)
        wrong = joins_complaint(joins, chunks, pieces, text, tokenizer)
        if wrong is not None:
            return wrong
        joins = sound_joins(joins, chunks, pieces)
        sound = [join for join in joins if join is not None]
        if len(sound) == len(joins):
            return joined_complaint(sound, pieces, text, certificates)
        chunks = fuse_chunks(chunks, [i for i, join in enumerate(joins, start=1) if join is None])
    return None


def _require_usual(tokenizer: TokenizerAdapter, text: str) -> None:
    if has_surrogate(text):
        raise SetAsideError
    ids_of(tokenizer, text)


def joins_complaint(
    joins: Joins,
    chunks: Sequence[Chunk],
    pieces: Sequence[Piece],
    text: str,
    tokenizer: TokenizerAdapter,
) -> Complaint | None:
    """Return the complaint about a merger's joins before they are applied, or None.

    Checked are places, counts of ids, and licences."""
    for i, join in enumerate(joins, start=1):
        if join is None:
            continue
        left, right, place = chunks[i - 1], chunks[i], join.seam.position
        if not min(right.start, right.core_start) <= place <= left.stop:
            reach = f"from {min(right.start, right.core_start)} to {left.stop}"
            return Complaint(f"join {i:,} lies where not both chunks reach", reach, repr(join))
        sizes = (len(pieces[i - 1].ids), len(pieces[i].ids))
        if not (0 <= join.left <= sizes[0] and 0 <= join.right <= sizes[1]):
            return Complaint(f"join {i:,} counts ids that there are not", str(sizes), repr(join))
        if left.stop <= right.start and (join.left, join.right) != (sizes[0], 0):
            said = f"join {i:,} leaves out ids where nothing overlaps"
            return Complaint(said, f"left={sizes[0]}, right=0", repr(join))
    return _licence_complaint([join.seam for join in joins if join is not None], text, tokenizer)


def _licence_complaint(
    seams: Sequence[Seam], text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    """Return the complaint about the first seam that nothing licenses, or None."""
    if any(seam.rule is None for seam in seams):
        bare = next(seam for seam in seams if seam.rule is None)
        return Complaint("a join without a rule: None is for what nothing licenses", got=repr(bare))
    for finding in seam_findings(seams, text, facts_of(tokenizer)):
        got = "" if finding.seam is None else repr(seams[finding.seam])
        return Complaint(f"the seam is not licensed: {finding.message}", got=got)
    return None


def joined_complaint(
    joins: Sequence[Join], pieces: Sequence[Piece], text: str, certificates: Certificates
) -> Complaint | None:
    """Join all pieces and return the complaint about the ids or the certificate, or None."""
    tokenizer = certificates.tokenizer
    first = [0, *(join.right for join in joins)]
    last = [*(join.left for join in joins), len(pieces[-1].ids)]
    kept = [p.ids[a:b] for p, a, b in zip(pieces, first, last, strict=True)]
    ids = np.concatenate(kept)
    wrong = ids_differ(ids_of(tokenizer, text), ids, text, tokenizer)
    if wrong is not None:
        return wrong
    before = offsets_of(map(len, kept)).tolist()[1:-1]
    seams = [replace(j.seam, token=n) for j, n in zip(joins, before, strict=True)]
    encoding = Encoding.of(postprocess_single(tokenizer, ids, text), Seams.of(seams), Report("kit"))
    return certificates.complaint(encoding, text)


@check("merge: one piece")
def one_piece(merger: Merger, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """one chunk has no pair, and no join"""
    whole = [Chunk(0, len(text), 0, len(text))]
    merge_pieces(merger, text, whole, make_pieces(merger, tokenizer, whole, text), tokenizer)
    return None


@check("mend")
def mend(merger: Merger, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """mend chunks tile the text, are others, and no more of them than twice before"""
    _require_usual(tokenizer, text)
    for splitter in (Anywhere(5, 4), Anywhere(7), Anywhere(12, 5, at_cuts=True)):
        chunks = splitter.split(text, tokenizer, 0).chunks
        pieces = make_pieces(merger, tokenizer, chunks, text)
        joins = merge_pieces(merger, text, chunks, pieces, tokenizer)
        failed = [i for i, join in enumerate(joins, start=1) if join is None]
        if not failed:
            continue
        after = mend_chunks(merger, text, chunks, failed, tokenizer)
        if after is None:
            continue
        if len(after) > 2 * len(chunks):
            return Complaint("too many chunks", str(2 * len(chunks)), str(len(after)))
        if list(after) == list(chunks):
            return Complaint(
                "the same chunks again", "others, without the open seams", repr(failed)
            )
    return None
