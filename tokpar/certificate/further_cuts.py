"""Find cuts that no seam names, so that the checker encodes each distinct piece of a text once.

Rule PAIR licenses all cuts between two certain characters at once (theorem 43)."""

from __future__ import annotations

import numpy as np

from tokpar.arrays import NO_INTS, IntArray
from tokpar.certificate.check_context import CheckContext
from tokpar.certificate.content_index import ContentIndex, occurring
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.pattern_proof import proved_pattern
from tokpar.certificate.tokenizer_probe import Mask, TokenizerProbe
from tokpar.results.seams import Seams
from tokpar.types import Facts, Rule


def further_cuts(cuts: IntArray, seams: Seams, facts: Facts, probe: TokenizerProbe) -> IntArray:
    """Returns the cuts of rule PAIR in the segments between `cuts`, UTF-8 bytes, ascending.

    `cuts`: those of all `seams`, which are licensed, ascending. No cut is returned in a segment in
    which an added token occurs, because the pattern does not get that segment as a whole, nor for a
    tokenizer that normalizes the text or puts a space before it. Raises RefusedError if the proof
    of the pairs that a seam names does not hold."""
    licences = [*seams.planned.licences]
    if seams.everywhere is not None:
        licence = seams.everywhere.licence
        licences.append((licence.rule, licence.theorem, licence.witness))
    named = next((witness[0] for rule, _, witness in licences if rule == Rule.PAIR), None)
    if named is None or facts.scheme != "regex" or facts.normalizers or facts.prefix_space:
        return NO_INTS
    ground = CheckContext(probe.text, facts, load_tables(), seams.proofs)
    shipped = ground.tables.pattern_of(facts.engine, facts.patterns)
    proved = proved_pattern(ground, shipped if named[0] == "pattern" else None, *named)
    found = probe.utf8.byte_offsets(proved.cuts(probe.text))
    found = np.setdiff1d(found, cuts, assume_unique=True)
    divided = ~_with_added_tokens(cuts, facts, probe)
    return found[divided[np.searchsorted(cuts, found)]]


def _with_added_tokens(cuts: IntArray, facts: Facts, probe: TokenizerProbe) -> Mask:
    """Returns in which segments a part of an added token occurs; bool, (cuts + 1,)."""
    contents = occurring((token.content for token in facts.added_tokens), probe.text)
    places = [
        (at, at + len(text) - 1) for at, text in ContentIndex(contents).occurrences(probe.text)
    ]
    ends = probe.utf8.byte_offsets(np.array(places, dtype=np.int64).reshape(-1))
    segments = np.searchsorted(cuts, ends, side="right").reshape(-1, 2)
    held: Mask = np.zeros(len(cuts) + 1, dtype=np.bool_)
    for first, last in segments.tolist():
        held[first : last + 1] = True
    return held
