"""The seams and the report of a text that the compiled call encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.pipeline.call_result import BY_CALL, divided_report
from tokpar.pipeline.chunks_at_cuts import licence_for
from tokpar.pipeline.joining import seams_of_cuts, seams_of_wholes
from tokpar.results.adding_up import parts_between, place_seams
from tokpar.results.encoding import KnownRow
from tokpar.results.seams import NO_SEAMS
from tokpar.results.spans import Origin
from tokpar.types import Report, Seam

if TYPE_CHECKING:
    from tokpar.compiled.compiled_call import CompiledCall

SEAM_CHARS = 1 << 12
"""Code points between two seams of a text that is not divided at every space."""


def compiled_row(
    text: str,
    ids: IdArray,
    tokenizer: TokenizerAdapter,
    call: CompiledCall,
    report: Report,
    seams: Sequence[Seam],
) -> KnownRow:
    """Returns the row of a long text with these `ids`, without special tokens.

    Its seams are at every sure space, where a licence for whole texts holds; else the first
    certified cut at `SEAM_CHARS` or more after the one before. `seams`: where threads cut it."""
    origin = Origin(text, tokenizer, ids)
    licence = licence_for(tokenizer, text)
    if licence is not None:
        everywhere = seams_of_wholes(tokenizer, licence)(text, len(ids))
        return KnownRow(everywhere, divided_report(report), origin)
    report = replace(report, why=BY_CALL)
    placed = _placed_seams(text, ids, tokenizer, call) or seams
    if not placed:
        return KnownRow(NO_SEAMS, report, origin)
    return KnownRow(
        seams_of_cuts(tokenizer, placed), replace(report, chunks=len(placed) + 1), origin
    )


def _placed_seams(
    text: str, ids: IdArray, tokenizer: TokenizerAdapter, call: CompiledCall
) -> Sequence[Seam]:
    """Returns seams with the number of ids before each; none if the call, asked for the parts of
    the text, gives other ids."""
    finder = finder_for(facts_of(tokenizer))
    cuts = [] if finder.refusal_for(text) else finder.find_each(text, SEAM_CHARS)
    if not cuts:
        return ()
    parts = [part.slice_of(text) for part in parts_between(cuts, len(text))]
    rows, is_answered = call.rows(parts, 1)
    is_same = all(is_answered) and np.array_equal(rows.ids, ids)
    return [*place_seams(cuts, rows.offsets)] if is_same else ()
