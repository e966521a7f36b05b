"""How far an end that is cut off reaches (proofs/theorem-9.md), on drawn tables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.merge_tables import Table, boundaries, tables
from tests.support.texts import fibonacci_word, thue_morse_word

few_rules = tables("ab").filter(lambda table: len(table.merges) <= 4)
repeated = st.builds(lambda word, n: (word * n)[:n], st.text("ab", min_size=1), st.integers(20, 70))
long = (
    st.text("ab", min_size=20, max_size=70)
    | repeated
    | st.builds(fibonacci_word, st.just("a"), st.just("b"), st.integers(20, 70))
    | st.builds(thue_morse_word, st.just("a"), st.just("b"), st.integers(20, 70))
)


def reach(table: Table) -> int:
    """2 l D: l the longest token, D the number of priorities."""
    return 2 * max(map(len, table.tokens)) * len(table.merges)


@given(few_rules, long, st.data())
def test_theorem_9_boundaries_far_from_a_cut_end_are_final(
    table: Table, text: str, data: st.DataObject
) -> None:
    """Most of the texts are longer than the bound."""
    whole = boundaries(table, text)
    for b in {data.draw(st.integers(1, len(text))), len(text) - 1}:
        end = b - reach(table)
        assert {p for p in whole if p <= end} == {
            p for p in boundaries(table, text[:b]) if p <= end
        }


@given(few_rules, long)
def test_theorem_9_a_longer_text_adds_boundaries_at_its_end_only(table: Table, text: str) -> None:
    """For ever: the boundaries up to b - 2lD are those of all texts that begin with S[:b]."""
    half = text[: len(text) // 2 + 15]
    end = len(half) - reach(table)
    final = {p for p in boundaries(table, half) if p <= end}
    for more in (text, half + "a" * 9, half + "b" * 9, half + text):
        if more.startswith(half):
            assert {p for p in boundaries(table, more) if p <= end} == final
