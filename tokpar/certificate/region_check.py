"""Check regions that are cut at every place of one licence, each region as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tokpar.arrays import IntArray
from tokpar.certificate.check_context import CheckContext, RefusedError, require
from tokpar.certificate.findings import Finding
from tokpar.certificate.pair_rule import at_spaces, looks_at_two
from tokpar.certificate.rule_checker import RuleChecker
from tokpar.certificate.stage_rule import Spaces
from tokpar.results.seams import Everywhere
from tokpar.types import Seam, Theorem


def everywhere_findings(
    everywhere: Everywhere, planned_positions: IntArray, certain: IntArray, ground: CheckContext
) -> Iterator[Finding]:
    """Yield the findings about regions. Each region is checked once, as a whole.

    `planned_positions`: the positions of the planned seams, ascending. `certain`: the positions of
    the licensed ones. Every seam inside a region is before a space after a character that is
    not a space. Theorem 6.1 holds at all of them if no dangerous added token overlaps or touches
    the region. An added token is dangerous if it contains such a seam, may strip the space after
    it, or is a `single_word` token that begins with a space. A token that strips white space across
    a seam in the region also strips it across an end of the region, which is a planned seam."""
    regions = everywhere.regions
    if not len(regions):
        return
    if regions.ndim != 2 or regions.shape[1] != 2 or regions.dtype.kind != "i":
        yield Finding("region", f"expected pairs of whole numbers, got shape {regions.shape}")
        return
    try:
        _require_licence(everywhere.licence, ground)
    except RefusedError as refusal:
        yield Finding(refusal.kind, f"a cut at every space: {refusal}", int(regions[0, 0]))
        return
    misplaced = list(_placement_findings(regions, planned_positions, certain, len(ground.text)))
    yield from misplaced
    if not misplaced:
        yield from _near_added_tokens(regions, ground)
        yield from _unlike(everywhere, ground)


def _unlike(everywhere: Everywhere, ground: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each region with a position where theorem 50 does not hold.

    Theorem 50 needs more than a space at the position."""
    if is_by(Theorem.ABSORBED_SPACE, everywhere.licence):
        yield from _absorbed_wrongly(everywhere, ground)
    if not is_by(Theorem.STAGES_AT_SPACE, everywhere.licence):
        return
    spaces = Spaces(ground)
    for k, (start, stop) in enumerate(everywhere.regions.tolist()):
        try:
            spaces.everywhere(everywhere.licence, start, stop)
        except RefusedError as refusal:
            yield Finding(refusal.kind, f"region {k}, [{start}, {stop}): {refusal}", start)


def _absorbed_wrongly(everywhere: Everywhere, ground: CheckContext) -> Iterator[Finding]:
    """Yield the findings of theorem 6.4 at all positions of a region.

    The region must be the whole text, without added tokens. The positions then differ only in the
    character before the space."""
    text = ground.text
    if everywhere.regions.tolist() != [[0, len(text)]]:
        yield Finding("region", "spaces are absorbed in a whole text, or at places one by one")
        return
    content = ground.raw.touching(text, 0, len(text))
    if content is not None:
        yield Finding("added token", f"added token {content!r} occurs where spaces are absorbed")
        return
    places = everywhere.positions(text).tolist()
    alike = {(text[p - 1], p + 1 == len(text)): p for p in reversed(places)}
    rules = RuleChecker(ground)
    for p in sorted(alike.values()):
        try:
            rules.require_licence(replace(everywhere.licence, position=p))
        except RefusedError as refusal:
            yield Finding(refusal.kind, f"a cut at every space: {refusal}", p)


def is_by(theorem: Theorem, licence: Seam) -> bool:
    """True if the licence is of this theorem, and of its rule."""
    return (licence.theorem, licence.rule) == (theorem, theorem.rule)


def _require_licence(licence: Seam, ground: CheckContext) -> None:
    """Refuse a licence that does not hold for whole regions.

    A licence for regions holds at every ASCII space if it holds at one, under normalizers that keep
    the space and the character before it. The licence of theorem 50 is also accepted here."""
    facts = ground.facts
    require(not facts.prefix_space, "prefix", "a space would be put before the text (6.3)")
    raw = not ground.normalized_tokens
    require(raw, "added token", "tokens searched in the normalized text: not judged")
    if is_by(Theorem.STAGES_AT_SPACE, licence):
        scheme = facts.scheme
        require(scheme == "spaces", "scheme", f"the rule goes by stages, the scheme is {scheme}")
        return  # `_unlike` checks the neighbours of each position
    if is_by(Theorem.ABSORBED_SPACE, licence):
        scheme = facts.scheme
        require(scheme == "dummy", "scheme", f"spaces are absorbed by a prefix, not by {scheme}")
        return  # as above
    known = licence.rule, licence.theorem, licence.witness
    # the rule alone is asked; `_near_added_tokens` looks for tokens, which may be "x " themselves
    probed = replace(facts, added_tokens=())
    rules = RuleChecker(CheckContext("x ", probed, ground.tables, ground.proofs))
    rules.require_licence(replace(licence, position=1))
    only_there = f"{licence.witness} does not hold at every space"
    require(at_spaces(known), "witness", only_there)
    kept = looks_at_two(known, facts)
    require(kept, "normalizer", "a stage may change a space, or what is before")


def _placement_findings(
    regions: IntArray, planned_positions: IntArray, certain: IntArray, length: int
) -> Iterator[Finding]:
    """Yield a finding for each misplaced region.

    Regions must be ascending and in the text. Each must reach from one seam to the next seam. Both
    seams must be certified cuts, or ends of the text."""
    starts, stops = regions[:, 0], regions[:, 1]
    before = np.concatenate(([0], np.maximum.accumulate(stops)[:-1]))
    ends = np.concatenate(([0], certain, [length]))
    first = np.searchsorted(planned_positions, starts, side="right")
    inside = np.searchsorted(planned_positions, stops) > first
    faults = (
        (starts >= stops, "expected a start below its stop"),
        (starts < before, "expected a start at or behind the stop of the region before"),
        (stops > length, f"expected a stop within the {length} characters of the text"),
        (inside, "expected no seam inside"),
        (~np.isin(starts, ends), "expected a start at a certified cut or the text's start"),
        (~np.isin(stops, ends), "expected a stop at a certified cut or the text's end"),
    )
    wrong = np.zeros(len(regions), dtype=bool)
    for fault, expected in faults:
        for k in np.flatnonzero(fault & ~wrong).tolist():
            start, stop = regions[k].tolist()
            yield Finding("region", f"region {k}, [{start}, {stop}): {expected}", start)
        wrong |= fault


def _near_added_tokens(regions: IntArray, ground: CheckContext) -> Iterator[Finding]:
    """Yield one finding for each dangerous added token and each region that it touches."""
    forbidding = ground.raw.forbidding
    for k, (start, stop) in enumerate(regions.tolist() if forbidding.longest else ()):
        low, high = start - forbidding.longest, stop + forbidding.longest
        touched: set[str] = set()
        for place, content in forbidding.occurrences(ground.text, low, high):
            touches = place <= stop and start <= place + len(content)
            if touches and content not in touched:
                touched.add(content)
                message = f"added token {content!r} at {place} touches region {k}"
                yield Finding("added token", f"{message}, [{start}, {stop})", place)
