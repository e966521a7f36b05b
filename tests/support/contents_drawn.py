"""Contents of added tokens that overlap, and texts in which they occur."""

from __future__ import annotations

from hypothesis import strategies as st

ALPHABETS = "ab", "<a>", "aé", "aé中😀\ud800", "<|>0123", "a\n ", "_a-"


@st.composite
def contents_and_text(draw: st.DrawFn) -> tuple[list[str], str]:
    """Contents that are prefixes, suffixes and parts of each other, and reach into each other."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    longest = draw(st.sampled_from([2, 4, 8]))
    contents = draw(st.lists(st.text(alphabet, min_size=1, max_size=longest), max_size=24))
    pieces = st.sampled_from([*contents, *alphabet, "x"])
    return sorted({*contents}), "".join(draw(st.lists(pieces, max_size=24)))
