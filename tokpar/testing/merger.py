"""`check_merger`: joined right, or not at all. Chunks of many splitters, some of them silly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from tokpar.cuts.finder import finder_for
from tokpar.executors.serial import SerialExecutor
from tokpar.interfaces import (
    Finishes,
    MatchesSpans,
    Merger,
    Repairs,
    Splitter,
    TokenizerAdapter,
    facts_of,
)
from tokpar.kernels import IdArray, SpanArray, has_surrogate
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.methods.auto import AutoSplitter
from tokpar.methods.blocks import BlocksSplitter
from tokpar.methods.cut import CutSplitter, chunks_between
from tokpar.methods.lopt import LoptSplitter
from tokpar.testing.checks import Check, Complaint, SetAsideError, Watch, require
from tokpar.testing.compare import array_complaint, ids_differ, ids_of
from tokpar.testing.cutting import certificate_complaint
from tokpar.testing.pools import pools
from tokpar.testing.splitter import chunks_complaint
from tokpar.types import Chunk, Encoding, Joined, Piece, Report, Seam, Unjoined


@dataclass(frozen=True)
class Anywhere:
    """Cuts every `size` code points, licensed or not, with this overlap on both sides."""

    size: int
    overlap: int = 0

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        places = range(self.size, len(text), self.size) if attempt == 0 else ()
        if not self.overlap:
            return chunks_between(text, [_seam(text, tokenizer, place) for place in places])
        edges = [0, *places, len(text)]
        return [
            Chunk(max(0, start - self.overlap), min(len(text), stop + self.overlap), start, stop)
            for start, stop in pairwise(edges)
        ]


def _seam(text: str, tokenizer: TokenizerAdapter, place: int) -> Seam:
    """A proposal; licensed where it happens to be, but for a space that would be left out."""
    finder = finder_for(facts_of(tokenizer))
    seam = None if finder.refusal_for(text) else finder.certify(text, place)
    if seam is None or "absorbed" in dict(seam.witness):
        return Seam(place, None, "")
    return seam


SPLITTERS: tuple[Splitter, ...] = (
    CutSplitter(3),
    CutSplitter(25),
    AutoSplitter(2),
    AutoSplitter(20),
    LoptSplitter(9, 12, plan_cuts=True),
    BlocksSplitter(12, 10, plan_cuts=True),
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
    """Raise ConformanceError, which names each failed check with its smallest text, unless the
    merger gives the serial ids and seams that `tokpar.check` licenses, or Unjoined.

    It is given pieces of chunks by `splitter`; None: by several, of which some propose cuts that
    nothing licenses, with and without overlap. `texts`, `examples`, `watch`: as in
    `check_tokenizer`.
    """
    adapter = load(tokenizer)
    checks = merger_checks(merger, adapter, SPLITTERS if splitter is None else (splitter,))
    require(type(merger).__name__, checks, pools(adapter, texts, examples), watch, fail_fast)


def merger_checks(
    merger: Merger, tokenizer: TokenizerAdapter, splitters: Sequence[Splitter]
) -> Iterator[Check]:
    """All checks of a merger with one tokenizer."""
    for splitter in splitters:
        yield Check(
            f"merge: {splitter}",
            "Joined holds the serial ids and licensed seams; Unjoined names seams that there are",
            partial(merged, merger, tokenizer, splitter),
        )
    yield Check(
        "merge: one piece",
        "one piece is joined as it is, without a seam",
        partial(one_piece, merger, tokenizer),
    )
    if isinstance(merger, Repairs):
        yield Check(
            "repaired",
            "chunks after a repair tile the text, and there are no more of them than twice before",
            partial(repaired, merger, tokenizer),
        )


def given(
    merger: Merger, tokenizer: TokenizerAdapter, splitter: Splitter, text: str
) -> tuple[list[Chunk], list[Piece]]:
    """Chunks and pieces as the pipeline would hand them over; run chunks are filled in."""
    if has_surrogate(text):
        raise SetAsideError
    ids_of(tokenizer, text)
    chunks = splitter.split(text, tokenizer, 0)
    wanted = isinstance(merger, MatchesSpans) and merger.matches_spans
    spans = wanted and not facts_of(tokenizer).tiles
    encoded = iter(
        SerialExecutor().map(text, [c for c in chunks if c.run is None], tokenizer, spans)
    )
    return chunks, [next(encoded) if c.run is None else _run(c.run) for c in chunks]


def _run(run: tuple[int, int]) -> Piece:
    token, times = run
    return Piece(np.full(times, token, dtype=np.uint32))


def merged(
    merger: Merger, tokenizer: TokenizerAdapter, splitter: Splitter, text: str
) -> Complaint | None:
    chunks, pieces = given(merger, tokenizer, splitter, text)
    found = merger.merge(text, chunks, pieces, tokenizer)
    if isinstance(found, Joined):
        return joined_complaint(found, text, tokenizer, len(chunks))
    if not isinstance(found, Unjoined):
        return Complaint("merge gave something else", "Joined or Unjoined", repr(found))
    failed = list(found.failed)
    if failed and failed == sorted(set(failed)) and failed[0] > 0 and failed[-1] < len(chunks):
        return None if found.why else Complaint("Unjoined does not say why")
    expected = f"ascending numbers from 1 to {len(chunks) - 1}, at least one"
    return Complaint("Unjoined names seams that there are not", expected, str(failed))


def joined_complaint(
    joined: Joined, text: str, tokenizer: TokenizerAdapter, chunks: int
) -> Complaint | None:
    """What is wrong with joined ids, and with the seams they were joined at."""
    expected: IdArray = ids_of(tokenizer, text)
    wrong = array_complaint(joined.ids, "Joined.ids")
    wrong = wrong or ids_differ(expected, joined.ids, text, tokenizer)
    if wrong is not None:
        return wrong
    if len(joined.seams) >= chunks:
        return Complaint("too many seams", f"at most {chunks - 1}", str(len(joined.seams)))
    final = tokenizer.finish(joined.ids, text) if isinstance(tokenizer, Finishes) else joined.ids
    encoding = Encoding(final, tuple(joined.seams), Report("kit"), _no_spans)
    return certificate_complaint(encoding, text, tokenizer)


def one_piece(merger: Merger, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    whole = [Chunk(0, len(text), 0, len(text))]
    found = merger.merge(text, whole, [Piece(ids_of(tokenizer, text))], tokenizer)
    if isinstance(found, Joined) and not found.seams:
        return ids_differ(ids_of(tokenizer, text), found.ids, text, tokenizer)
    return Complaint("one piece is not joined", "Joined without seams", repr(found))


def repaired(merger: Merger, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(merger, Repairs)
    for splitter in (Anywhere(5, 4), BlocksSplitter(12, 10, plan_cuts=True)):
        chunks, pieces = given(merger, tokenizer, splitter, text)
        found = merger.merge(text, chunks, pieces, tokenizer)
        if not isinstance(found, Unjoined) or found.restart:
            continue
        after = merger.repaired(text, chunks, found.failed, tokenizer)
        wrong = chunks_complaint(after, text)
        if wrong is not None or len(after) > 2 * len(chunks):
            return wrong or Complaint("too many chunks", str(2 * len(chunks)), str(len(after)))
    return None


def _no_spans() -> SpanArray:
    raise LookupError("not located")
