"""Prove the ids of a text by the tokenizer's own call, once for each distinct segment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IdArray, IntArray
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.findings import Finding
from tokpar.certificate.id_checks import id_difference, postprocess_ids, serial_ids
from tokpar.certificate.segment_ids import SegmentIds, Segments, segment_ids
from tokpar.certificate.segment_pretokens import PretokenGate
from tokpar.certificate.tokenizer_probe import TokenizerProbe
from tokpar.errors import EngineError
from tokpar.seams import Columns, Seams
from tokpar.types import Facts, Theorem


@dataclass(frozen=True, slots=True)
class IdProof:
    """What is wrong with the ids, and a sentence about what they were compared with."""

    findings: tuple[Finding, ...]
    claim: str


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
    if is_licensed and (len(planned) or len(cuts)):
        try:
            segments = _segments(seams, cuts, probe)
            found = segment_ids(segments, probe, PretokenGate.of(facts, probe))
        except RefusedError:
            found = None  # an engine may fail on a segment although it encodes the whole text
        if found is not None:
            expected = postprocess_ids(found.ids(), text, tokenizer)
            findings = (
                *id_difference(ids, expected, planned),
                *_wrong_counts(planned, found, cuts, probe),
            )
            many = f"{len(found.rows):,} distinct of {len(found.kinds):,} segments"
            return IdProof(findings, f"{many} encoded by the tokenizer's own call (theorem 31)")
    try:
        serial = serial_ids(text, tokenizer)
    except (EngineError, TypeError, ValueError) as error:
        return IdProof((Finding("tokenizer", f"it refuses the text: {error}"),), "")
    whole = "the whole text encoded by the tokenizer's own call"
    return IdProof(tuple(id_difference(ids, serial, planned)), whole)


def _segments(seams: Seams, cuts: IntArray, probe: TokenizerProbe) -> Segments:
    planned, everywhere = seams.planned, seams.everywhere
    absorbs = np.array(
        [theorem == Theorem.ABSORBED_SPACE for _, theorem, _ in planned.licences], dtype=np.int64
    )
    own = probe.utf8.byte_offsets(planned.positions)
    absorbed = absorbs[planned.codes] if len(planned) else own
    dense = int(everywhere is not None and everywhere.licence.theorem == Theorem.ABSORBED_SPACE)
    every = np.concatenate((own, cuts))
    order = np.argsort(every, kind="stable")
    left_out = np.concatenate((absorbed, np.full(len(cuts), dense)))
    return Segments.from_cuts(every[order], left_out[order], len(probe.utf8.codes))


def _wrong_counts(
    planned_seams: Columns, segment_ids: SegmentIds, cuts: IntArray, probe: TokenizerProbe
) -> Iterator[Finding]:
    """Yield a finding for each planned seam with a wrong number of ids before it."""
    own = probe.utf8.byte_offsets(planned_seams.positions)
    segments = np.arange(1, len(own) + 1) + np.searchsorted(cuts, own)
    expected = segment_ids.ids_before[segments]
    for k in np.flatnonzero(planned_seams.tokens != expected).tolist():
        message = f"expected {expected[k]} ids before it, got {planned_seams.tokens[k]}"
        yield Finding("token", message, int(planned_seams.positions[k]), k)
