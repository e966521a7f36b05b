"""How the checker finds added tokens, held to a search for each content at each place."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.support.contents_drawn import contents_and_text
from tokpar.certificate.added_token_rule import Occurrences
from tokpar.certificate.content_index import ContentIndex, occurring
from tokpar.types import AddedToken

MARGINS = st.tuples(st.integers(0, 4), st.integers(0, 4))
OTHERS = [f"{a}{b}{c}" for a in "xy<" for b in "x<>a" for c in "xy<>ab"]
"""More contents than are searched one by one, with more heads than are searched at once."""


@given(drawn=contents_and_text(), margins=MARGINS, others=st.booleans())
def test_occurrences_are_those_of_a_search_for_each_content(
    drawn: tuple[list[str], str], margins: tuple[int, int], others: bool
) -> None:
    contents, text = [*drawn[0], *(OTHERS if others else [])], drawn[1]
    lo, hi = min(margins[0], len(text)), max(margins[0], len(text) - margins[1])
    index = ContentIndex(contents)
    expected = sorted(
        (place, content)
        for content in {*contents}
        for place in range(lo, hi)
        if text.startswith(content, place, hi)
    )
    assert sorted(index.occurrences(text, lo, hi)) == expected
    assert occurring(contents, text) == sorted({c for c in contents if c in text})
    longest = sorted({*contents}, key=len, reverse=True)
    found = re.finditer("|".join(map(re.escape, longest)), text) if longest else ()
    assert [*index.matches(text)] == [(match.start(), match[0]) for match in found]


@given(drawn=contents_and_text(), margins=MARGINS)
def test_a_content_touches_a_part_if_it_has_a_character_in_it(
    drawn: tuple[list[str], str], margins: tuple[int, int]
) -> None:
    contents, text = drawn
    start, stop = min(margins[0], len(text)), max(margins[0], len(text) - margins[1])
    tokens = Occurrences(AddedToken(content, k) for k, content in enumerate(contents))
    touches = any(
        text.startswith(content, place) and place < stop and start < place + len(content)
        for content in contents
        for place in range(len(text))
    )
    assert (tokens.touching(text, start, stop) is not None) == touches
