"""Prove the ids of a text by the tokenizer's own call, once for each distinct segment.

First what post-processing inserted is taken away; and ids are looked at without any call: how many
lie before each seam, and whether one begins there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import NO_INTS, IdArray, IntArray
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.findings import Finding
from tokpar.certificate.further_cuts import further_cuts
from tokpar.certificate.segment_ids import SegmentIds, segment_ids
from tokpar.certificate.tokenizer_probe import TokenizerProbe
from tokpar.contract.adapter import own_call_of
from tokpar.contract.interfaces import Locates, PostProcesses, TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.results.seams import Columns, Seams
from tokpar.types import Facts, Rows, Theorem

if TYPE_CHECKING:
    from tokpar.certificate.own_names import OwnNamedText

PROBE = 2**31
"""Ids from here on stand for "id number k of the text itself" when post-processing is probed."""
# cuts that are checked together: new memory for all of them costs more than the checks
_BLOCK = 1 << 15
_HIDDEN = "padding, truncation or an unknown post-processor hides the text's own ids"


@dataclass(frozen=True, slots=True)
class Core:
    """The text's own ids within the post-processed ids, or a `note` why they are unknown."""

    ids: IdArray | None
    findings: tuple[Finding, ...] = ()
    note: str | None = None


def text_ids(ids: IdArray, text: str, tokenizer: TokenizerAdapter) -> Core:
    """Remove the ids that `postprocess` inserts, and compare them with the expected ids."""
    if not isinstance(tokenizer, PostProcesses):
        return Core(ids)

    def final_ids(some: int) -> IdArray:
        return tokenizer.postprocess(Rows.of([_probe(some)]), [text])[0]

    try:
        inserted = len(final_ids(0))
        grows = len(final_ids(1)) == inserted + 1
        count = len(ids) - inserted
        # One more id must show: at exactly the length that truncation keeps, more may be cut.
        final, more = final_ids(max(0, count)), final_ids(max(0, count) + 1)
    except LookupError:
        return Core(None, note=_HIDDEN)
    if grows and count < 0:
        message = f"expected at least the {inserted} ids that are inserted, got {len(ids)}"
        return Core(None, (Finding("inserted", message),))
    own = final >= PROBE
    first = int(np.argmax(own)) if own.any() else 0
    shown = grows and (len(final), len(more)) == (len(ids), len(ids) + 1)
    whole = np.count_nonzero(own) == count
    if not shown or not whole or not np.array_equal(final[first : first + count], _probe(count)):
        return Core(None, note=_HIDDEN)
    findings = tuple(
        Finding("inserted", f"id {k}: expected {final[k]} to be inserted, got {ids[k]}")
        for k in np.flatnonzero(~own & (final != ids))[:1].tolist()
    )
    return Core(ids[first : first + count], findings)


def _probe(count: int) -> IdArray:
    return np.arange(PROBE, PROBE + count, dtype=np.uint32)


def id_findings(
    core: Core, seams: Columns, cuts: IntArray, probe: TokenizerProbe, tiles: bool
) -> tuple[list[Finding], tuple[str, ...]]:
    """Returns what is wrong with ids although nothing is encoded again, and notes about ids that
    could not be looked at.

    `cuts`: the byte offsets of the seams of `everywhere`. `tiles`: tokens tile the text. An id must
    begin at each seam then."""
    findings = list(core.findings)
    if not well_formed(seams):
        return findings, ("limited: ids not looked at, the seams are no columns",)
    counts = list(token_counts(seams, None if core.ids is None else len(core.ids)))
    findings += counts
    if core.note is not None or core.ids is None:
        return findings, () if core.note is None else (f"limited: {core.note}",)
    outside: NDArray[np.bool_] = (seams.positions <= 0) | (seams.positions >= len(probe.text))
    if counts or outside.any():
        return findings, ("limited: ids not looked at, the seams do not lie in them",)
    if tiles and not probe.utf8.has_surrogates and isinstance(probe.tokenizer, Locates):
        findings += edge_findings(seams, cuts, probe)
    return findings, ()


def well_formed(columns: Columns) -> bool:
    """True if all columns have one length and every code has a licence."""
    lengths = {len(columns.positions), len(columns.tokens), len(columns.codes)}
    codes = columns.codes
    return len(lengths) == 1 and bool(((codes >= 0) & (codes < len(columns.licences))).all())


def token_counts(seams: Columns, count: int | None) -> Iterator[Finding]:
    """Check the number of ids before each seam: never falling, at most the number of ids."""
    least = np.maximum.accumulate(np.concatenate(([0], seams.tokens)))[:-1]
    wrong = seams.tokens < least
    if count is not None:
        wrong |= seams.tokens > count
    limit = "" if count is None else f" and {count}"
    for k in np.flatnonzero(wrong).tolist():
        message = f"expected between {least[k]}{limit} ids before it, got {seams.tokens[k]}"
        yield Finding("token", message, int(seams.positions[k]), k)


def edge_findings(seams: Columns, cuts: IntArray, probe: TokenizerProbe) -> Iterator[Finding]:
    """Yield a finding for each seam at which no id begins, or one for ids that do not tile the
    text. Assumes that the tokens of this tokenizer tile the text, and that it locates them."""
    utf8 = probe.utf8
    try:
        edges = probe.edges()
    except RefusedError as refusal:
        yield Finding("ids", f"expected ids that tile the text, got others: {refusal}")
        return
    expected = utf8.byte_offsets(seams.positions)
    for k in np.flatnonzero(edges[seams.tokens] != expected).tolist():
        message = (
            f"expected id {seams.tokens[k]} to begin at byte {expected[k]}, "
            f"got byte {edges[seams.tokens[k]]}"
        )
        yield Finding("token", message, int(seams.positions[k]), k)
    blocks = (cuts[k : k + _BLOCK] for k in range(0, len(cuts), _BLOCK))
    crossed = np.concatenate([NO_INTS, *(_cuts_without_id(edges, block) for block in blocks)])
    if len(crossed):
        message = (
            f"expected an id to begin at each of {len(cuts)} spaces, got none at "
            f"{len(crossed)} of them, the first at byte {crossed[0]}"
        )
        yield Finding("token", message, utf8.position(int(crossed[0])))


def _cuts_without_id(edges: IntArray, cuts: IntArray) -> IntArray:
    """Returns the cuts, ascending, at which no id begins."""
    least, most = int(cuts[0]), int(cuts[-1])
    first, last = np.searchsorted(edges, (least, most + 1))
    begins = np.zeros(most + 1 - least, dtype=np.bool_)
    begins[edges[first:last] - least] = True
    return cuts[~begins[cuts - least]]


def serial_ids(text: str, tokenizer: TokenizerAdapter) -> IdArray:
    """The ids of the tokenizer's own serial call, post-processed."""
    own_call = own_call_of(tokenizer)
    if own_call is not None:
        return own_call(text)
    return postprocess_ids(tokenizer.encode(text), text, tokenizer)


def postprocess_ids(ids: IdArray, text: str, tokenizer: TokenizerAdapter) -> IdArray:
    """The ids that the tokenizer's settings make of the ids of a text."""
    if not isinstance(tokenizer, PostProcesses):
        return ids
    return tokenizer.postprocess(Rows.of([ids]), [text])[0]


def id_difference(ids: IdArray, serial: IdArray, seams: Columns) -> Iterator[Finding]:
    """Yield the first difference to the ids of the serial call, with the nearest seam."""
    common = min(len(ids), len(serial))
    unequal = np.flatnonzero(ids[:common] != serial[:common])
    if not len(unequal) and len(ids) == len(serial):
        return
    first = int(unequal[0]) if len(unequal) else common
    near = int(np.argmin(np.abs(seams.tokens - first))) if len(seams) else None
    where = "there is no seam" if near is None else f"nearest is seam {near}"
    expected = f"expected {_id_at(serial, first)} of the serial encode"
    message = f"id {first}: {expected}, got {_id_at(ids, first)}; {where}"
    yield Finding("serial", message, None if near is None else int(seams.positions[near]), near)


def _id_at(ids: IdArray, place: int) -> str:
    return f"id {ids[place]}" if place < len(ids) else f"the end after {len(ids)} ids"


def prove_ids(
    ids: IdArray,
    seams: Seams,
    cuts: IntArray,
    probe: TokenizerProbe,
    facts: Facts,
    is_licensed: bool,
    names: OwnNamedText | None = None,
) -> tuple[tuple[Finding, ...], str]:
    """Compare `ids` with the ids of the tokenizer's own call (theorem 31).

    Returns what is wrong with them, and a sentence about what they were compared with.

    `names`: `probe` has a text with names, `ids` are those of the text without names.
    `is_licensed`: every seam of `seams` is licensed. `cuts`: the byte offsets of the seams of
    `seams.everywhere`. Without licensed cuts, or if the tokenizer fails on a segment, the text is
    encoded as a whole."""
    text, tokenizer, planned = probe.text, probe.tokenizer, seams.planned
    if is_licensed and (len(planned) or len(cuts)):
        try:
            every, left_out = _all_cuts(seams, cuts, probe, facts)
            found = segment_ids(every, left_out, probe)
        except RefusedError:
            found = None  # an engine may fail on a segment although it encodes the whole text
        if found is not None:
            own = found.ids()
            expected = postprocess_ids(own, text, tokenizer)
            findings = (
                *_id_findings(ids, expected, own, planned, names),
                *_wrong_counts(planned, found, every, probe),
            )
            many = f"{len(found.rows):,} distinct of {len(found.kinds):,} segments"
            return findings, f"{many} encoded by the tokenizer's own call (theorem 31)"
    try:
        serial = serial_ids(text, tokenizer)
        own = serial if names is None else probe.encode(text)
    except (EngineError, RefusedError, TypeError, ValueError) as error:
        return (Finding("tokenizer", f"it refuses the text: {error}"),), ""
    whole = "the whole text encoded by the tokenizer's own call"
    return tuple(_id_findings(ids, serial, own, planned, names)), whole


def _id_findings(
    ids: IdArray, expected_ids: IdArray, own: IdArray, seams: Columns, names: OwnNamedText | None
) -> Iterator[Finding]:
    if names is None:
        return id_difference(ids, expected_ids, seams)
    return names.id_findings(ids, expected_ids, own, seams)


def _all_cuts(
    seams: Seams, cuts: IntArray, probe: TokenizerProbe, facts: Facts
) -> tuple[IntArray, IntArray]:
    """Returns all cuts, also those that no seam names, and how many bytes are left out behind each;
    UTF-8 bytes."""
    planned, everywhere = seams.planned, seams.everywhere
    absorbs = np.array(
        [theorem == Theorem.ABSORBED_SPACE for _, theorem, _ in planned.licences], dtype=np.int64
    )
    own = probe.utf8.byte_offsets(planned.positions)
    absorbed = absorbs[planned.codes] if len(planned) else own
    dense = int(everywhere is not None and everywhere.licence.theorem == Theorem.ABSORBED_SPACE)
    more = further_cuts(np.sort(np.concatenate((own, cuts))), seams, facts, probe)
    every = np.concatenate((own, cuts, more))
    order = np.argsort(every, kind="stable")
    left_out = np.concatenate((absorbed, np.full(len(cuts), dense), np.zeros_like(more)))
    return every[order], left_out[order]


def _wrong_counts(
    planned_seams: Columns, segment_ids: SegmentIds, every_cut: IntArray, probe: TokenizerProbe
) -> Iterator[Finding]:
    """Yield a finding for each planned seam with a wrong number of ids before it."""
    own = probe.utf8.byte_offsets(planned_seams.positions)
    expected = segment_ids.ids_before[np.searchsorted(every_cut, own) + 1]
    for k in np.flatnonzero(planned_seams.tokens != expected).tolist():
        message = f"expected {expected[k]} ids before it, got {planned_seams.tokens[k]}"
        yield Finding("token", message, int(planned_seams.positions[k]), k)
