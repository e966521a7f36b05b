"""Regions that are cut at every place one licence allows: each is judged once, as a whole.

Strictly inside a region every place looks alike: before it a character that is no white space,
behind it an ASCII space. What theorem 6.1 asks for holds at all of them if no added token shares
a character with the region or touches it: one that swallows white space across a place inside
swallows it across an end of the region too, and that is a seam of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tokpar.certificate.ground import Ground, RefusedError, require, witness_values
from tokpar.certificate.report import Finding
from tokpar.certificate.rules import Judge, looks_at_two
from tokpar.kernels import IntArray
from tokpar.seams import Everywhere
from tokpar.types import Seam

_SIDES: dict[object, tuple[str, str]] = {
    ("K1", "20"): ("non-space", "space"),
    ("K3", "4.8"): ("any", "space"),
}


def everywhere_findings(
    everywhere: Everywhere, planned: IntArray, certain: IntArray, ground: Ground
) -> Iterator[Finding]:
    """What is wrong with regions. `planned`: where the seams made one by one are, ascending;
    `certain`: those that are certified cuts."""
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
    misplaced = list(_misplaced(regions, planned, certain, len(ground.text)))
    yield from misplaced
    if not misplaced:
        yield from _near_added_tokens(regions, ground)


def _require_licence(licence: Seam, ground: Ground) -> None:
    """It is one of the two that hold at every ASCII space if they do at one, in a text of nothing
    else, under normalizers that keep the space and what is before it."""
    facts, key = ground.facts, (licence.rule, licence.theorem)
    require(not facts.prefix_space, "prefix", "a space would be put before the text (6.3)")
    raw = not ground.normalized
    require(raw, "added token", "tokens searched in the normalized text: not judged")
    rule = f"{key[0]} by theorem {key[1]}"
    require(key in _SIDES, "theorem", f"{rule} does not hold at every space")
    judge = Judge(Ground("x ", facts, ground.tables))
    judge.require_characters(replace(licence, position=1))
    sides = witness_values(licence, "family", "left", "right")[1:]
    require(sides == _SIDES[key], "witness", f"expected {_SIDES[key]}, got {sides}")
    kept = looks_at_two((*key, licence.witness), facts)
    require(kept, "normalizer", "a stage may change a space, or what is before")


def _misplaced(
    regions: IntArray, planned: IntArray, certain: IntArray, length: int
) -> Iterator[Finding]:
    """Regions ascend, lie in the text, and are all of what lies between two neighbouring seams that
    are certified cuts, or the text's ends."""
    starts, stops = regions[:, 0], regions[:, 1]
    before = np.concatenate(([0], np.maximum.accumulate(stops)[:-1]))
    ends = np.concatenate(([0], certain, [length]))
    first = np.searchsorted(planned, starts, side="right")
    inside = np.searchsorted(planned, stops) > first
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


def _near_added_tokens(regions: IntArray, ground: Ground) -> Iterator[Finding]:
    """One finding for each token and each region that holds or touches it."""
    for content in ground.raw.contents:
        size = len(content)
        for k, (start, stop) in enumerate(regions.tolist()):
            found = ground.text.find(content, max(0, start - size), stop + size)
            if found >= 0:
                message = f"added token {content!r} at {found} touches region {k}"
                yield Finding("added token", f"{message}, [{start}, {stop})", found)
