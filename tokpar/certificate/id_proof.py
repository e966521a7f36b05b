"""Prove the ids of a text by the tokenizer's own call, once for each distinct segment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import NO_INTS, IdArray, IntArray
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.findings import Finding
from tokpar.certificate.id_checks import id_difference, postprocess_ids, serial_ids
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
    claim: str


def certain(planned_seams: Columns) -> IntArray:
    """The indices of the planned seams that are certified cuts.

    The other seams may lie inside a pre-token. They are dropped: the segment around such a seam is
    encoded as a whole."""
    rules = np.array(
        [rule in CERTIFIED_CUTS for rule, _, _ in planned_seams.licences], dtype=np.bool_
    )
    return np.flatnonzero(rules[planned_seams.codes]) if len(planned_seams) else planned_seams.codes


def prove_ids(
    ids: IdArray,
    seams: Seams,
    cuts: IntArray,
    probe: TokenizerProbe,
    facts: Facts,
    is_licensed: bool,
) -> IdProof:
    """Compare `ids` with the ids of the tokenizer's own call (theorem 31).

    `is_licensed`: every seam of `seams` is licensed. `cuts`: the byte offsets of the seams of
    `seams.everywhere`. Without licensed cuts, or if the tokenizer fails on a segment, the text is
    encoded as a whole."""
    text, tokenizer, planned = probe.text, probe.tokenizer, seams.planned
    chosen = certain(planned) if is_licensed else NO_INTS
    if len(chosen) or len(cuts):
        try:
            segments = _segments(seams, chosen, cuts, probe)
            found = segment_ids(segments, probe, PretokenGate.of(facts, probe))
        except RefusedError:
            found = None  # an engine may fail on a segment although it encodes the whole text
        if found is not None:
            expected = postprocess_ids(found.ids(), text, tokenizer)
            findings = (
                *id_difference(ids, expected, planned),
                *_wrong_counts(planned, chosen, found, cuts, probe),
            )
            many = f"{len(found.rows):,} distinct of {len(found.kinds):,} segments"
            return IdProof(findings, f"{many} encoded by the tokenizer's own call (theorem 31)")
    try:
        serial = serial_ids(text, tokenizer)
    except (EngineError, TypeError, ValueError) as error:
        return IdProof((Finding("tokenizer", f"it refuses the text: {error}"),), "")
    whole = "the whole text encoded by the tokenizer's own call"
    return IdProof(tuple(id_difference(ids, serial, planned)), whole)


def _segments(
    seams: Seams, chosen_seams: IntArray, cuts: IntArray, probe: TokenizerProbe
) -> Segments:
    planned, everywhere = seams.planned, seams.everywhere
    absorbs = np.array(
        [theorem == Theorem.ABSORBED_SPACE for _, theorem, _ in planned.licences], dtype=np.int64
    )
    own = probe.utf8.byte_offsets(planned.positions[chosen_seams])
    absorbed = absorbs[planned.codes[chosen_seams]] if len(chosen_seams) else own
    dense = int(everywhere is not None and everywhere.licence.theorem == Theorem.ABSORBED_SPACE)
    every = np.concatenate((own, cuts))
    order = np.argsort(every, kind="stable")
    left_out = np.concatenate((absorbed, np.full(len(cuts), dense)))
    return Segments.from_cuts(every[order], left_out[order], len(probe.utf8.codes))


def _wrong_counts(
    planned_seams: Columns,
    chosen_seams: IntArray,
    segment_ids: SegmentIds,
    cuts: IntArray,
    probe: TokenizerProbe,
) -> Iterator[Finding]:
    """Yield a finding for each certified cut with a wrong number of ids before it."""
    own = probe.utf8.byte_offsets(planned_seams.positions[chosen_seams])
    segments = np.arange(1, len(own) + 1) + np.searchsorted(cuts, own)
    expected = segment_ids.ids_before[segments]
    for k in np.flatnonzero(planned_seams.tokens[chosen_seams] != expected).tolist():
        seam = int(chosen_seams[k])
        message = f"expected {expected[k]} ids before it, got {planned_seams.tokens[seam]}"
        yield Finding("token", message, int(planned_seams.positions[seam]), seam)
