"""The firm cuts that a search finds are all that a look at each place finds."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tokpar
from tests.support.paths import VOCAB
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.firm_cuts import FirmCuts, firm_cuts_for


@pytest.fixture(scope="module", name="firm")
def _firm() -> FirmCuts:
    return firm_cuts_for(facts_of(tokpar.load(VOCAB / "deepseek_part.json")))


def test_a_cut_is_found_at_each_place_that_leaves_the_reach_on_both_sides(firm: FirmCuts) -> None:
    """The only cut of a text is before its only space, which goes from one end to the other."""
    size, found = 3 * firm.reach, []
    for p in range(1, size):
        text = "a" * p + " " + "a" * (size - p - 1)
        places = [at for at in range(1, size) if firm.seam(text, at)]
        assert [seam.position for seam in firm.spread(text, 1)] == places
        found += places
    assert found == [*range(firm.reach, size - firm.reach + 1)]


def test_cuts_lie_as_far_apart_as_is_asked(firm: FirmCuts) -> None:
    text = "some words " * 400
    for size in (1, 50, 700):
        places = [seam.position for seam in firm.spread(text, size)]
        gaps = [after - before for before, after in pairwise(places)]
        assert min(gaps) >= size
        assert max(gaps) < size + 2 * firm.reach + 32
        assert all(firm.seam(text, place) for place in places)
