"""Prove the ids of a text by the tokenizer's own call, once for each distinct segment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import NO_INTS, IdArray, IntArray
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.findings import Finding
from tokpar.certificate.id_checks import id_difference, postprocessed, serial_ids
from tokpar.certificate.segment_ids import SegmentIds, Segments, segment_ids
from tokpar.certificate.segment_pretokens import PretokenGate
from tokpar.certificate.tokenizer_probe import TokenizerProbe
from tokpar.errors import EngineError
from tokpar.seams import Columns, Seams
from tokpar.types import CERTIFIED_CUTS, Facts, Theorem


@dataclass(frozen=True, slots=True)
class IdProof:
    """What is wrong with the ids, and a sentence about what they were compared with."""

    findings: tuple[Finding, ...]
    proved: str


def certain(planned: Columns) -> IntArray:
    """The indices of the planned seams that are certified cuts.

    The other seams may lie inside a pre-token. They are dropped: the segment around such a seam is
    encoded as a whole."""
    rules = np.array([rule in CERTIFIED_CUTS for rule, _, _ in planned.licences], dtype=np.bool_)
    return np.flatnonzero(rules[planned.codes]) if len(planned) else planned.codes


def prove_ids(
    ids: IdArray,
    seams: Seams,
    cuts: IntArray,
    answers: TokenizerProbe,
    facts: Facts,
    licensed: bool,
) -> IdProof:
    """Compare `ids` with the ids of the tokenizer's own call (theorem 31).

    `licensed`: every seam of `seams` is licensed. `cuts`: the byte offsets of the seams of
    `seams.everywhere`. Without licensed cuts, or if the tokenizer fails on a segment, the text is
    encoded as a whole."""
    text, tokenizer, planned = answers.text, answers.tokenizer, seams.planned
    chosen = certain(planned) if licensed else NO_INTS
    if len(chosen) or len(cuts):
        try:
            segments = _segments(seams, chosen, cuts, answers)
            found = segment_ids(segments, answers, PretokenGate.of(facts, answers))
        except RefusedError:
            found = None  # an engine may fail on a segment although it encodes the whole text
        if found is not None:
            expected = postprocessed(found.ids(), text, tokenizer)
            findings = (
                *id_difference(ids, expected, planned),
                *_wrong_counts(planned, chosen, found, cuts, answers),
            )
            many = f"{len(found.rows):,} distinct of {len(found.kinds):,} segments"
            return IdProof(findings, f"{many} encoded by the tokenizer's own call (theorem 31)")
    try:
        serial = serial_ids(text, tokenizer)
    except (EngineError, TypeError, ValueError) as error:
        return IdProof((Finding("tokenizer", f"it refuses the text: {error}"),), "")
    whole = "the whole text encoded by the tokenizer's own call"
    return IdProof(tuple(id_difference(ids, serial, planned)), whole)


def _segments(seams: Seams, chosen: IntArray, cuts: IntArray, answers: TokenizerProbe) -> Segments:
    planned, everywhere = seams.planned, seams.everywhere
    absorbs = np.array(
        [theorem == Theorem.ABSORBED_SPACE for _, theorem, _ in planned.licences], dtype=np.int64
    )
    own = answers.written.at(planned.positions[chosen])
    absorbed = absorbs[planned.codes[chosen]] if len(chosen) else own
    dense = int(everywhere is not None and everywhere.licence.theorem == Theorem.ABSORBED_SPACE)
    every = np.concatenate((own, cuts))
    order = np.argsort(every, kind="stable")
    left_out = np.concatenate((absorbed, np.full(len(cuts), dense)))
    return Segments.between(every[order], left_out[order], len(answers.written.codes))


def _wrong_counts(
    planned: Columns, chosen: IntArray, found: SegmentIds, cuts: IntArray, answers: TokenizerProbe
) -> Iterator[Finding]:
    """Yield a finding for each certified cut with a wrong number of ids before it."""
    own = answers.written.at(planned.positions[chosen])
    segments = np.arange(1, len(own) + 1) + np.searchsorted(cuts, own)
    expected = found.before[segments]
    for k in np.flatnonzero(planned.tokens[chosen] != expected).tolist():
        seam = int(chosen[k])
        message = f"expected {expected[k]} ids before it, got {planned.tokens[seam]}"
        yield Finding("token", message, int(planned.positions[seam]), seam)
